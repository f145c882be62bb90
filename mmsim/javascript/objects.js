/*
 * Python's objects at the top level of a text: what a program can capture.
 *
 * An object says in `is` what it is. Numbers: `int` with a BigInt, `float`, `complex` with `re` and `im`, `bool`.
 * Tables: `tuple`, `list` and `array`. Others: `module`, `type`, `builtin` (of a module, without a text), `word` (of
 * mmsim), `function`, `program`, `class`, `enum`, `member`, `str`, `none`. An `other` has only the name of its type.
 */
import { decodedNumber } from "./numbers.js";
import { TABLES } from "./table.js";

/** Stands for no object. */
export const MISSING = { is: "missing" };
export const NONE = { is: "none" };
const DTYPES_OF_PYTHON = { bool: "bool", int: "int64", float: "float64", complex: "complex128" };
const SAFE_INTEGER = 2n ** 53n - 1n;

export const intObject = (value) => ({ is: "int", value: BigInt(value) });
export const floatObject = (value) => ({ is: "float", value });
export const boolObject = (value) => ({ is: "bool", value });
export const complexObject = (re, im) => ({ is: "complex", re, im });

const encodedFloat = (x) => {
  if (Number.isFinite(x)) return x;
  return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
};

/** An integer as the representation writes it. */
export function encodedInteger(value) {
  return value <= SAFE_INTEGER && value >= -SAFE_INTEGER ? Number(value) : { int: value.toString() };
}

/** An object as a number of the representation; null for anything else. */
export function encodedObject(object) {
  const { is, value } = object;
  if (is === "bool") return value;
  if (is === "int") return encodedInteger(value);
  if (is === "float") return { float: encodedFloat(value) };
  if (is === "complex") return { complex: [encodedFloat(object.re), encodedFloat(object.im)] };
  return is === "member" && object.isNumber ? encodedObject(value) : null;
}

/** The object of an encoded number. */
export function objectOf(number) {
  if (typeof number === "boolean") return boolObject(number);
  if (typeof number === "number") return intObject(number);
  if (number.int !== undefined) return intObject(number.int);
  const found = decodedNumber(number);
  return number.float !== undefined ? floatObject(found) : complexObject(found.re, found.im);
}

/** The name of an object's type, as in messages. */
export function typeNameOf(object) {
  const names = { none: "NoneType", builtin: "builtin_function_or_method", program: "Program", array: "ndarray" };
  if (object.is === "member") return object.owner.name;
  if (object.is === "enum") return "EnumType";
  if (object.is === "class") return "type";
  return object.type ?? names[object.is] ?? object.is;
}

/** Whether an object is a tuple, a list or an array with axes. */
export function isTable(object) {
  return ["tuple", "list"].includes(object.is) || (object.is === "array" && object.shape.length > 0);
}

/** The name of a table's kind in messages. */
export const tableKind = (table) => (table.is === "array" ? "array" : table.is);

/** The numbers of an array, by lists. */
export function listsOf(array, axis = 0, from = 0) {
  if (axis === array.shape.length) return array.items[from];
  const size = array.shape.slice(axis + 1).reduce((x, y) => x * y, 1);
  const items = Array.from({ length: array.shape[axis] }, (_, k) => listsOf(array, axis + 1, from + k * size));
  return { is: "list", items };
}

// Modules

const MODULES_BY_NAME = new Map();

/** A module by its name, null for one that the page doesn't know. */
export function moduleNamed(name) {
  const known = {
    mmsim: "mmsim", math: "math", numpy: "numpy", cmath: "cmath", enum: "enum", typing: "typing", builtins: "builtins",
    "numpy.typing": "numpy.typing", "mmsim.atomic": "mmsim.frontend.thread.atomic",
    "mmsim.warp": "mmsim.frontend.thread.warp", "collections.abc": "collections.abc", __future__: "__future__",
  };
  if (name.startsWith("mmsim.frontend.thread.") && TABLES.vocabulary.modules[name]) known[name] = name;
  if (!Object.hasOwn(known, name)) return null;
  return madeModule(known[name]);
}

function madeModule(name) {
  if (!MODULES_BY_NAME.has(name)) MODULES_BY_NAME.set(name, { is: "module", name, members: membersOf(name) });
  return MODULES_BY_NAME.get(name);
}

const CONSTANTS_OF_MATH = {
  pi: Math.PI, e: Math.E, tau: 2 * Math.PI, inf: Infinity, nan: NaN, euler_gamma: 0.5772156649015329,
};
const TYPES_BY_NAME = new Map();

/** A type, one object for each name. */
function typeNamed(name, module) {
  const key = `${module}.${name}`;
  if (!TYPES_BY_NAME.has(key)) TYPES_BY_NAME.set(key, { is: "type", type: "type", name, module });
  return TYPES_BY_NAME.get(key);
}

function membersOf(module) {
  const { modules, types } = TABLES.vocabulary;
  const members = new Map();
  if (module === "enum") for (const name of ["Enum", "IntEnum"]) members.set(name, typeNamed(name, "enum"));
  if (module === "typing" || module === "collections.abc" || module === "numpy.typing") return null; // any name
  for (const [kind, names] of Object.entries(modules[module] ?? {})) {
    for (const name of names) {
      /** @type {{ is: string, [fact: string]: any }} */
      let found = { is: "other", type: kind, name, module };
      if (kind === "float") found = floatObject(CONSTANTS_OF_MATH[name]);
      else if (kind === "bool") found = boolObject(name === "True_" || name === "little_endian");
      else if (kind === "complex") found = complexObject(0, name === "infj" ? Infinity : NaN);
      else if (kind === "NoneType") found = NONE;
      else if (kind === "module") found = innerModule(module, name);
      else if (kind === "builtin_function_or_method") found = { is: "builtin", type: kind, name, module };
      else if (kind === "function") found = { is: "word", type: kind, name, module };
      else if (kind === "type") {
        const isOfNumpy = module === "numpy" || (module === "mmsim" && Object.hasOwn(types, name));
        found = isOfNumpy ? typeNamed(types[name], "numpy") : typeNamed(name, module);
      }
      members.set(name, found);
    }
  }
  return members;
}

function innerModule(module, name) {
  if (module === "mmsim" && ["atomic", "warp"].includes(name)) return madeModule(`mmsim.frontend.thread.${name}`);
  return { is: "module", name: `${module}.${name}`, members: new Map() };
}

/** What Python calls `name` without an import. */
export function builtinNamed(name) {
  if (name === "Ellipsis") return { is: "ellipsis" };
  if (name === "NotImplemented") return { is: "other", type: "NotImplementedType", name };
  if (name === "__debug__") return boolObject(true);
  return madeModule("builtins").members.get(name) ?? MISSING;
}

/** owner.name of a module, a class or a member of an enumeration. */
export function memberOf(owner, name) {
  if (owner.is === "module") return owner.members?.get(name) ?? MISSING;
  if (owner.is === "member") return name === "value" ? owner.value : MISSING;
  if (owner.is === "class" || owner.is === "enum") return owner.members.get(name) ?? MISSING;
  return MISSING;
}

/** owner["name"] of an enumeration. */
export function memberCalled(owner, key) {
  return owner.is === "enum" && key.is === "str" ? owner.members.get(key.value) ?? MISSING : MISSING;
}

/** The element type that an object stands for, "" for none. */
export function dtypeNameOf(object) {
  if (object.is === "str") return TABLES.vocabulary.dtypes[object.value] ?? "";
  if (object.is === "dtype") return object.name;
  if (object.is !== "type") return "";
  if (object.module === "builtins") return castNamed(object) ? DTYPES_OF_PYTHON[object.name] : "";
  const isOne = object.module === "numpy" && Object.hasOwn(TABLES.types, object.name);
  return isOne ? object.name : "";
}

/** The cast that a type is in a program, as "int" or "float32"; null for none. */
export function castNamed(object) {
  if (object.is !== "type") return null;
  if (object.module === "builtins") return Object.hasOwn(DTYPES_OF_PYTHON, object.name) ? object.name : null;
  return dtypeNameOf(object) || null;
}

/** Whether an object is a function of Python's, as `range`. */
export const isBuiltin = (object, name) => object.module === "builtins" && object.name === name;
