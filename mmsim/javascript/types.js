import { TABLES, rowOf } from "./table.js";
import { MMSimFault, quotedText, shownValue } from "./faults.js";
import { commonType, isInt, isWhole, kindOf, limitsOf, resultType, typeOfNumber, wideType } from "./dtypes.js";
import { blocksOf, expressionsOf, isOf, memoOf, statementsOf, storedOf, targetsOf } from "./walk.js";

/*
 * The types of every variable, expression and local array, for given arguments: Python's rules, with NumPy's for
 * requested types (see `mmsim/ir/types.py`). A value's type is {type, strong}: `strong` says that it was requested, and
 * isn't a number of Python's. There is one such object for each, so === compares; null stands for nothing known yet.
 */

const WEAK_TYPES = {}, STRONG_TYPES = {};

/** The type of a value, and whether it is strong. */
const valueType = (type, strong = false) => ((strong ? STRONG_TYPES : WEAK_TYPES)[type] ??= { type, strong });

/** The operations that depend on the bits of a float. */
const BITWISE = ["nextafter", "as_integer"];

/** Two requested types have no common one. */
class TypeClash extends Error {}

/** The type in which values compute if the type of at least one was requested. */
const promotedType = (held) => {
  const strong = held.filter((one) => one.strong).map((one) => one.type);
  const common = commonType(strong);
  if (kindOf(common) === "f" && strong.every(isInt)) {
    throw new TypeClash(
      `no integer type holds both ${strong[0]} and ${strong[1]}; convert one of them, as in mm.${strong[0]}(...)`
    );
  }
  const kinds = held.map((one) => kindOf(one.type));
  if (kinds.includes("c") && kindOf(common) !== "c") return common === "float32" ? "complex64" : "complex128";
  if (kinds.includes("f") && !"fc".includes(kindOf(common))) return "float64";
  return common;
};

/** A value that comes from an array of that type, or a number of it. */
const elementType = (type) => valueType(type, type === "uint64");

/** The type that holds both. */
const joinTypes = (first, second) => {
  if (first === null || second === null || first === second) return first ?? second;
  if (first.strong || second.strong) return valueType(promotedType([first, second]), true);
  const kinds = kindOf(first.type) + kindOf(second.type);
  return valueType(kinds.includes("c") ? "complex128" : kinds.includes("f") ? "float64" : "int64");
};

/** The type that holds both in the lowered form, whose operands have one type; uint64 if one of them is. */
const joinLowered = (first, second) => (first?.type === "uint64" || second === null ? first : second);

/**
 * The type of an expression as far as it is known, from the types of names; `of` gives those of parts. The rules are
 * those of a language: {element, join, computed}.
 */
export const typeOfExpression = (value, { variables, arrays, numbers }, of, { element, join, computed }) => {
  switch (value.node) {
    case "Const": return element(typeOfNumber(value.value));
    case "Var": return variables[value.name] ?? null;
    case "Number": return numbers[value.name];
    case "ThreadField": case "Extent": return valueType("int64");
    case "RegisterRead": return arrays[value.array] ?? null;
    case "Lookup": return value.values.map((one) => element(typeOfNumber(one))).reduce(join, null);
    case "Logic": return join(of(value.left), of(value.right));
    case "Choose": return join(of(value.then), of(value.other));
    case "Compare": return valueType("bool");
    default: {
      // An operand that isn't known yet is ignored.
      const held = expressionsOf(value).map((one) => of(one)).filter((one) => one !== null);
      return computed(value, held);
    }
  }
};

/** The rules of the lowered form: no type is requested, and all operands have that in which they compute. */
export const LOWERED_RULES = {
  element: (type) => valueType(type),
  join: joinLowered,
  computed: (value, held) => valueType(resultType(rowOf(value), held[0].type)),
};

/** The type that a cast gives; null if a value is no cast. */
const castType = (value) => {
  const { gives, requested } = rowOf(value);
  return gives === null ? null : valueType(gives, Boolean(requested));
};

/**
 * The type in which an operation computes, and whether its result is of that type. Functions of floats compute in
 * double, or in float32 if this was requested. `complex` makes a number of Python's, as `float` does.
 */
const computingType = (value, row, held) => {
  const strong = row.result !== "complex" && held.some((one) => one.strong);
  let common;
  if (strong) {
    common = promotedType(held);
  } else {
    const joined = held.reduce(joinTypes, null).type;
    const areBools = value.node === "Binary" && row.kind === "bits" && joined === "bool";
    common = row.kind === "extreme" || areBools ? joined : wideType(joined);
  }
  if (row.takes === "float" && (isInt(common) || !strong)) common = "float64";
  return { common, strong: strong && row.result !== "bool" && row.result !== "count" };
};

/**
 * The arithmetic of an operation on operands of these types: {operands, result, ieee}. Its operands are converted to
 * `operands` before. An operation of float16 is computed in float32 and rounded, fma in double: this rounds as once. If
 * it is `ieee`, an operation of floats has a value for all operands; Python's refuses some, as a division by zero.
 */
const arithmeticOf = (value, held) => {
  const types = held.map((one) => one.type), made = castType(value);
  if (made !== null) return { operands: types, result: made, ieee: true };
  if (value.node === "Compare" && types.every(isWhole)) { // whatever the types are
    const exact = types.map((one) => (one === "uint64" ? one : "int64"));
    return { operands: exact, result: valueType("bool"), ieee: true };
  }
  const row = rowOf(value), found = computingType(value, row, held);
  const result = valueType(resultType(row, found.common), found.strong);
  let { common } = found;
  if (common === "float16" && !BITWISE.includes(value.op)) common = value.op === "fma" ? "float64" : "float32";
  return { operands: held.map(() => common), result, ieee: found.strong };
};

const PYTHONS_RULES = {
  element: elementType,
  join: joinTypes,
  computed: (value, held) => (held.length ? arithmeticOf(value, held).result : castType(value)),
};

/** Whether a node is an integer of the text. */
const isInteger = (value) =>
  value.node === "Const" && (typeof value.value === "number" || value.value.int !== undefined);

/** The fault of a number in the program that doesn't fit the others' type. */
const faultOfNumber = (value, wanted) => {
  if (!isInteger(value) || !isInt(wanted)) return null;
  const [low, high] = limitsOf(wanted), number = BigInt(value.value.int ?? value.value);
  if (low <= number && number <= high) return null;
  const shown = shownValue(number);
  const remedy = `write mm.${wanted}(${shown}) to wrap it around`;
  return `the number ${shown} doesn't fit ${wanted}, from ${low} to ${high}; ${remedy}`;
};

/** The fault of operands that an operation doesn't take, by their kinds. */
const faultOfOperands = (value, kinds) => {
  const { op } = value, row = rowOf(value);
  if (row.takes === "bits" && (kinds.includes("f") || kinds.includes("c"))) {
    return `${op} takes ${value.node === "Binary" ? "integers" : "an integer"}`;
  }
  if (!kinds.includes("c")) return null;
  if (row.gives !== null && !"cb".includes(kindOf(row.gives))) {
    const name = row.requested ? `mm.${op}` : op;
    return `${name}(...) takes a real number, and this one is complex; write ${name}(z.real)`;
  }
  if (row.takes === "float") {
    return `${op} takes real numbers, and this one is complex; give it abs(z), z.real or z.imag`;
  }
  return typeof row.complex === "string" && row.complex ? `complex numbers have no ${op}; ${row.complex}` : null;
};

/** The reason why an atomic operation doesn't take an array. */
const refusalOfAtomic = (op, array, held) => {
  const name = quotedText(array);
  if (held.startsWith("complex")) {
    return `atomic ${op} takes no complex numbers, as CUDA's atomics take none, and ${name} holds ${held}; ` +
      "keep the parts in two arrays";
  }
  if (op === "sub" && held.startsWith("float") && TABLES.atomics.add.includes(held)) {
    return `atomic sub takes no floats, and ${name} holds ${held}; add the negative value`;
  }
  return `atomic ${op} takes arrays of ${TABLES.atomics[op].join(", ")}, and ${name} holds ${held}`;
};

/** All statements, each before those inside it, but a loop's test behind its prelude. */
const asChecked = (block, found = []) => {
  for (const statement of block) {
    let blocks = blocksOf(statement);
    if (statement.node === "While") {
      asChecked(blocks[0], found);
      blocks = blocks.slice(1);
    }
    found.push(statement);
    for (const inner of blocks) asChecked(inner, found);
  }
  return found;
};

/** The same names with other values; no name has a meaning of its own, as "constructor" has in other objects. */
export const eachOf = (names, change) => {
  const changed = Object.create(null);
  for (const [name, held] of Object.entries(names)) changed[name] = change(held);
  return changed;
};

/**
 * The types of one program for one set of argument types. `arrays` and `numbers` map the names of parameters to types.
 * Gives {variables, arrays, numbers} from names to value types; `of(node)`, an expression's type; `settingType`, that
 * of the values that a statement gives its targets; and `operation(node)`, the arithmetic of an operation.
 */
export const typingOf = (code, arrayTypes, numberTypes) => {
  const variables = eachOf({}), arrays = eachOf(arrayTypes, elementType), numbers = eachOf(numberTypes, elementType);
  const fixed = new Set(Object.keys(arrays)), known = { variables, arrays, numbers };
  let find = (value) => typeOfExpression(value, known, find, PYTHONS_RULES);
  let isWider = true;

  /** Refuse a node of the program. */
  const refuse = (message, node) => {
    if (message === null) return;
    throw new MMSimFault("TypeFault", message, { program: code.name, place: node.place, array: node.array });
  };

  /** Look at statements; types that clash are an error there. */
  const each = (block, look) => {
    for (const statement of block) {
      try {
        look(statement);
      } catch (clash) {
        if (!(clash instanceof TypeClash)) throw clash;
        throw new MMSimFault("TypeFault", clash.message, { program: code.name, place: statement.place });
      }
    }
  };

  const widen = (types, name, held) => {
    const joined = joinTypes(types[name] ?? null, held);
    if (joined === null || joined === types[name]) return;
    types[name] = joined;
    isWider = true;
  };

  const settingType = (statement) => {
    switch (statement.node) {
      case "Assign": return find(statement.value);
      case "For": return valueType("int64");
      case "Exchange":
        if (statement.op.startsWith("shuffle")) return find(statement.operands[0]);
        return valueType(statement.op === "any" || statement.op === "all" ? "bool" : "int64");
      case "Barrier": return valueType(statement.op === "count" ? "int64" : "bool");
      default: return arrays[statement.array] ?? null;
    }
  };

  const widenBy = (statement) => {
    if (statement.array !== undefined && !fixed.has(statement.array)) {
      for (const value of storedOf(statement)) widen(arrays, statement.array, find(value));
    }
    if (isOf(statement, "Setting")) {
      for (const name of targetsOf(statement)) widen(variables, name, settingType(statement));
    }
  };

  /** Widen until nothing changes. Types only grow, so this ends. */
  const infer = () => {
    const all = statementsOf(code.body);
    for (isWider = true; isWider;) {
      isWider = false;
      each(all, widenBy);
    }
  };

  for (const { name, dtype } of code.locals) {
    if (dtype === null) continue;
    arrays[name] = elementType(Array.isArray(dtype) ? arrayTypes[dtype[0]] : dtype);
    fixed.add(name);
  }
  infer();
  for (const { name } of code.locals) arrays[name] ??= valueType("float64"); // never written
  infer(); // the types of reads from those
  const memo = memoOf((value) => typeOfExpression(value, known, memo, PYTHONS_RULES));
  find = memo; // from now on nothing changes

  const of = (value) => find(value).type;
  const operation = (value) => arithmeticOf(value, expressionsOf(value).map((one) => find(one)));

  // Errors of types

  /** The fault of a value that doesn't fit the array's type. */
  const faultOfStore = (array, value) => {
    const held = arrays[array].type, own = of(value);
    let what, remedy;
    if (kindOf(own) === "c" && kindOf(held) !== "c") {
      [what, remedy] = ["complex number", "store its .real, or give the array a complex type"];
    } else if (kindOf(own) === "f" && isWhole(held)) {
      [what, remedy] = ["float", "write int(...), or give the array a float type"];
    } else if (held === "bool" && own !== "bool") {
      [what, remedy] = ["number", "write bool(...) or compare"];
    } else {
      return null;
    }
    return `a ${what} is stored in ${quotedText(array)}, which holds ${held}; ${remedy}`;
  };

  const faultOfExchange = ({ op, operands }) => {
    const kinds = operands.map((part) => kindOf(of(part)));
    if (op.startsWith("match") && kinds[0] === "c") {
      return `${op} takes a real number, and this one is complex; match z.real and z.imag`;
    }
    if (op.startsWith("shuffle") && "fc".includes(kinds[1])) {
      const what = op === "shuffle" ? "lane" : "distance";
      return `the ${what} of ${op} is a whole number; write int(${kinds[1] === "f" ? "..." : "z.real"})`;
    }
    return null;
  };

  /** The fault of a statement, apart from its expressions; null without one. */
  const faultOf = (statement) => {
    switch (statement.node) {
      case "Assign": return faultOfNumber(statement.value, variables[statement.target].type);
      case "Exchange": return faultOfExchange(statement);
      case "For": {
        const part = expressionsOf(statement).find((one) => !isWhole(of(one)));
        if (part === undefined) return null;
        return `range takes integers; write int(${kindOf(of(part)) === "f" ? "..." : "z.real"})`;
      }
      default:
    }
    for (const value of storedOf(statement)) {
      const message = faultOfStore(statement.array, value);
      if (message !== null) return message;
    }
    if (statement.node !== "Atomic") return null;
    const { op, array } = statement, held = arrays[array].type;
    return TABLES.atomics[op].includes(held) ? null : refusalOfAtomic(op, array, held);
  };

  const checkExpression = memoOf((value) => {
    const inside = expressionsOf(value);
    for (const part of inside) checkExpression(part);
    const kinds = inside.map((part) => kindOf(of(part)));
    if (value.node === "Var" && !(value.name in variables)) {
      refuse(`the variable ${quotedText(value.name)} is never assigned`, value);
    }
    if (isOf(value, "Operating")) refuse(faultOfOperands(value, kinds), value);
    if (value.node === "Binary" || value.node === "Call") {
      const wanted = operation(value).operands;
      inside.forEach((operand, k) => refuse(faultOfNumber(operand, wanted[k]), value));
    }
    if (value.node === "Lookup") {
      const faults = [["c", "complex one; write int(z.real)"], ["f", "float; write // or int(...)"]];
      for (const [kind, text] of faults) {
        const message = `an index of ${quotedText(value.table)} is a whole number, not a ${text}`;
        if (kinds.includes(kind)) refuse(message, value);
      }
    }
    return true;
  });

  each(asChecked(code.body), (statement) => {
    for (const value of expressionsOf(statement)) checkExpression(value);
    refuse(faultOf(statement), statement);
  });
  return { ...known, of, settingType, operation };
};
