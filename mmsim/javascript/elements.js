/* Elements: of arrays, under whatever name an array is accessed, of tuples and of constant tables; vectors. */
import { MergedName, aliasExtent, keysOfAlias } from "./aliases.js";
import { quotedText } from "./faults.js";
import { encodedObject, isTable, listsOf, tableKind } from "./objects.js";
import { FunctionBase } from "./parsing.js";
import { RETURNED, accessNode, assignNode, constNode, elementOfView, ifNode } from "./scope.js";
import { isAlias, leavesOf, restrictedAlias, roleOf, statementNode, varNode } from "./scope.js";
import { sliceOf } from "./slices.js";
import { constantIndex, indicesOf, languageError, rootOf } from "./source.js";
import { TABLES } from "./table.js";
import { OWN_ARRAY, argumentsOf, withArticle, wordFor } from "./words.js";
import { writtenNode } from "./written.js";

/** Thrown for a table of more numbers than a program may capture. */
const TOO_MANY = { name: "TooMany" };
const INT64_END = 2n ** 63n;

/** A table as the tuple of its numbers; null if it holds something else. */
function valuesOfTable(table) {
  const most = TABLES.vocabulary.limits.captured;
  if (table.is === "array" && table.shape.length) {
    if (table.items.length > most) throw TOO_MANY;
    return valuesOfTable(listsOf(table));
  }
  if (table.is === "tuple" || table.is === "list") {
    if (table.items.length > most) throw TOO_MANY;
    const items = table.items.map(valuesOfTable).filter((value) => value !== null);
    if (leavesOf(items).length > most) throw TOO_MANY;
    return items.length === table.items.length ? items : null;
  }
  const object = table.is === "member" && table.isNumber ? table.value : table.is === "array" ? table.items[0] : table;
  const known = encodedObject(object);
  if (known === null || (object.is === "int" && (object.value < -INT64_END || object.value >= INT64_END))) return null;
  return constNode(known);
}

/** The shape of a tuple of constants; null for different shapes, or for variables. */
function regularShape(value) {
  if (!Array.isArray(value)) return value.node === "Const" ? [] : null;
  const shapes = value.map(regularShape);
  const texts = new Set(shapes.map((shape) => JSON.stringify(shape)));
  return texts.size === 1 && shapes[0] !== null ? [value.length, ...shapes[0]] : null;
}

/** The value of a regular table at an index: a number, or a tuple if axes are left. */
function lookedUpAt(name, numbers, shape, index, place) {
  if (index.length < shape.length) {
    return Array.from({ length: shape[index.length] }, (_, position) =>
      lookedUpAt(name, numbers, shape, [...index, constNode(position)], place));
  }
  return { node: "Lookup", table: name, values: numbers, shape, index, place };
}

/** The value of a constant that is an integer, as a BigInt; null for anything else. */
export function wholeConstant(value) {
  if (value.node !== "Const") return null;
  if (typeof value.value === "number") return BigInt(value.value);
  return typeof value.value === "object" && value.value.int !== undefined ? BigInt(value.value.int) : null;
}

/** The elements of arrays, tuples and tables in one function. */
export class ElementParser extends FunctionBase {
  /** The array and the index of a[i], a[i, j] or a[i][j]. */
  element(node) {
    const [indices, owner] = [indicesOf(node), rootOf(node)];
    const array = this.array(owner);
    if (array === null) throw this.noArray(owner);
    if (!indices.length) {
      throw this.refuse(node, "an element needs an index", "write a number for each axis");
    }
    return [array, this.index(indices)];
  }

  /** The numbers of an index. */
  index(indices) {
    for (const index of indices) {
      if (index.kind === "Slice") throw this.refuseKind(index);
      const isOdd = index.kind === "Constant" && ["none", "ellipsis"].includes(index.value.is);
      if (isOdd) throw this.refuse(index, `${quotedText(writtenNode(index))} is not an index`, "write a number");
    }
    return this.operands(...indices);
  }

  /** The error for an element of a value without elements, or with fixed ones. */
  noArray(owner) {
    const [text, outside] = [quotedText(writtenNode(owner)), this.captured(owner)];
    if (isTable(outside)) {
      const message = `${text} is ${withArticle(tableKind(outside))} from outside the program`;
      return this.refuse(owner, message, "it is constant; make it a parameter and pass it to run");
    }
    if (owner.kind === "Name" && this.entity(owner.id).entity === "Tuple") {
      const message = `${text} is a tuple, whose values stay as they are`;
      return this.refuse(owner, message, `assign a new tuple, or use ${OWN_ARRAY}`);
    }
    this.refuseNoArray(owner);
    return this.refuse(owner, `${text} is not an array`, "only arrays have elements");
  }

  /** An element of an array, read by a statement in front. */
  load(array, index, place) {
    const [first, ...others] = array.parts;
    if (!others.length && this.unit.isRegisters(first.array)) {
      return { node: "RegisterRead", array: first.array, index: elementOfView(first, index), place };
    }
    const target = this.temporary();
    this.touch(array, index, place, target);
    return varNode(target, place);
  }

  /** Read an element into a variable, or drop it. */
  touch(array, index, place, target = null) {
    const read = (part, given) => {
      const whole = elementOfView(part, given);
      if (target !== null && this.unit.isRegisters(part.array)) {
        return assignNode(target, { node: "RegisterRead", array: part.array, index: whole, place }, place);
      }
      return accessNode("Load", { target, array: part.array, index: whole, place });
    };
    this.emitFor(array, index, read, place);
  }

  /** Write an element of an array. */
  storeElement(array, index, value, place) {
    const write = (part, given) => {
      const fields = { array: part.array, index: elementOfView(part, given.slice(0, -1)), value: given.at(-1), place };
      return this.unit.isRegisters(part.array) ? statementNode("RegisterWrite", fields) : accessNode("Store", fields);
    };
    this.emitFor(array, [...index, value], write, place);
  }

  /** The number of axes of an array, null if it isn't known. */
  axes(array) {
    const known = new Map(this.unit.locals.map((local) => [local.name, local.shape.length]));
    const found = array.parts.map((one) => (known.has(one.array) ? known.get(one.array) - one.index.length : null));
    return new Set(found).size === 1 ? found[0] : null;
  }

  /** An extent of an array. */
  extent(array, axis, node, place) {
    if (axis < -1 && array.parts.some((part) => part.index.length)) {
      throw this.refuse(node, "the axes of a part of an array are counted from 0 here", "or write -1");
    }
    return aliasExtent(array, axis, null, place);
  }

  /** The axes of a.shape[:2] and of a.shape[-2:], if their number is known. */
  slicedAxes(node, owner) {
    const [first, last, step] = [node.lower, node.upper, node.step].map(constantIndex);
    const start = first ?? 0n;
    const range = (from, to) => {
      const count = to > from ? Number(to - from) : 0;
      if (count > 1e6) throw new RangeError();
      return Array.from({ length: count }, (_, at) => Number(from) + at);
    };
    if (start !== "varying" && (step === null || step === 1n)) {
      if (typeof last === "bigint" && start >= 0n && last >= 0n) return range(start, last);
      if (last === null && start < 0n) return range(start, 0n);
    }
    const text = writtenNode(owner);
    const advice = `write ${text}[:2], ${text}[-2:] or one axis at a time`;
    throw this.refuse(node, "how many axes this takes is not known", advice);
  }

  // Names of arrays

  /** The array that an expression stands for, if its target names arrays. */
  alias(node, role) {
    const place = this.place(node);
    if (node.kind === "Name") {
      const array = this.array(node);
      if (array !== null) return array;
    } else if (node.kind === "Subscript" && this.array(rootOf(node)) !== null) {
      const [array, index] = this.element(node);
      return restrictedAlias(array, index.map((part) => this.spill(part, place)));
    } else if (node.kind === "IfExp") return this.eitherAlias(node, role, place);
    else if (node.kind === "Call") {
      const value = this.call(node);
      if (isAlias(value)) return value;
      const helper = this.helperOf(this.captured(node.func));
      if (helper !== null && this.unit.role(helper, RETURNED) === null) this.learn(RETURNED, role, helper);
    }
    const text = quotedText([...role.place.text].slice(role.place.column, role.place.end_column).join(""));
    if (role.declared) {
      const message = `two arrays or variables of one name: ${text}`;
      throw languageError(message, role.place, "give every array a name of its own");
    }
    const message = `${text} is not an array: line ${place.line} assigns something else to it`;
    const advice = "only arrays have elements; give arrays and numbers names of their own";
    throw languageError(message, role.place, advice);
  }

  /** The array in memory that a function takes, or a row of it. */
  inMemory(node, called, why, advice) {
    let array = this.array(node);
    const text = () => quotedText(writtenNode(node));
    if (array === null && !["Subscript", "IfExp", "Call"].includes(node.kind)) {
      throw this.refuse(node, `${text()} is not an array`, `the first argument of ${called} is one`);
    }
    array ??= this.alias(node, roleOf(this.place(node)));
    if (array.parts.some((part) => this.unit.isRegisters(part.array))) {
      throw this.refuse(node, `${text()} is ${OWN_ARRAY}, ${why}`, advice);
    }
    return array;
  }

  /** The array that a conditional expression stands for. */
  eitherAlias({ test, body, orelse }, role, place) {
    const chosen = this.expression(test);
    const [then, beforeThen] = this.aside(() => this.alias(body, role));
    const [other, beforeOther] = this.aside(() => this.alias(orelse, role));
    const either = this.met([beforeThen, then], [beforeOther, other], place);
    this.emit(ifNode(chosen, beforeThen, beforeOther, place));
    return either;
  }

  /** The array where two ways meet; each ends by setting variables that identify its array. */
  met(one, other, place) {
    const keys = [one, other].flatMap(([, alias]) => keysOfAlias(alias));
    const merged = new MergedName(keys, place, this.unit);
    for (const [block, alias] of [one, other]) block.push(...merged.settings(alias, place, true));
    return merged.alias;
  }

  // Vectors

  /** Whether an expression is an element of `mm.vector(...)`. */
  isVector(node) {
    const owner = rootOf(node);
    return owner !== node && this.vectorWord(owner) !== null;
  }

  /** The word of a call of `mm.vector`, null for anything else. */
  vectorWord(node) {
    if (node.kind !== "Call") return null;
    const word = wordFor(node.func, this);
    return word?.word === "Vectors" ? word : null;
  }

  /** The values of a vector, read by a statement in front. */
  readVector(node) {
    const [array, index] = this.vectorElement(node);
    const place = this.place(node);
    const targets = Array.from({ length: this.vectorLength(node) }, () => this.temporary());
    const load = (part, given) =>
      accessNode("VectorLoad", { targets, array: part.array, index: elementOfView(part, given), place });
    this.emitFor(array, index, load, place);
    return targets.map((target) => varNode(target, place));
  }

  writeVector(node, values) {
    const [array, index] = this.vectorElement(node);
    const place = this.place(node);
    const store = (part, given) =>
      accessNode("VectorStore", { array: part.array, index: elementOfView(part, given), values, place });
    this.emitFor(array, index, store, place);
  }

  /** The array, the length and the name of the function in `mm.vector(array, length)[...]`. */
  ofVector(node) {
    const call = rootOf(node);
    const { called } = this.vectorWord(call);
    return [...argumentsOf(call, called, ["array", "count"], this), called];
  }

  /** The number of elements of a subscript's vector. */
  vectorLength(node) {
    const [, given, called] = this.ofVector(node);
    const count = given.kind === "Constant" ? given.value : this.captured(given);
    if (count.is !== "int" || !TABLES.vocabulary.vectors.includes(Number(count.value))) {
      const message = "a vector has 2, 4, 8 or 16 elements, a number that is known before the launch";
      throw this.refuse(given, message, `write ${called}(a, 4)[i]`);
    }
    return Number(count.value);
  }

  /** The array and the index of mm.vector(a, 4)[i] or mm.vector(a, 4)[i, j]. */
  vectorElement(node) {
    if (node.value.kind === "Subscript") {
      const text = writtenNode(node.value);
      const message = `${quotedText(text)} is a vector, whose values have no index here`;
      throw this.refuse(node, message, `give it a name, as in v = ${text}, and write v[0]`);
    }
    const [owner, , called] = this.ofVector(node);
    const array = this.inMemory(owner, called, "whose accesses are free", "access its elements one by one");
    return [array, this.index(indicesOf(node))];
  }

  // Tuples and tables

  /** A constant table from outside. */
  table(node, table) {
    const text = quotedText(writtenNode(node));
    let value = null;
    try {
      value = valuesOfTable(table);
    } catch (error) {
      if (error !== TOO_MANY) throw error;
      const message = `${text} has more than ${TABLES.vocabulary.limits.captured} numbers`;
      throw this.refuse(node, message, "make it a parameter and pass it to run");
    }
    if (value === null) {
      const message = `${text} from outside the program holds something other than numbers of 64 bits`;
      throw this.refuse(node, message, "capture tuples, lists and NumPy arrays of integers, floats and bools");
    }
    return value;
  }

  /** The variable of a number, or those of a tuple. */
  variablesOf(name, node) {
    if (name.entity === "Variable") return varNode(name.name, this.place(node));
    return name.items.map((item) => this.variablesOf(item, node));
  }

  /** Whether an expression may give a tuple or a table. */
  hasValues(owner) {
    if (owner.kind === "Name") {
      const found = this.entity(owner.id);
      return found.entity === "Captured" ? isTable(found.value) : found.entity === "Tuple";
    }
    if (owner.kind === "Attribute") return isTable(this.captured(owner));
    return owner.kind === "Tuple" || owner.kind === "Call";
  }

  /** Whether an expression may be a tuple, so that it can be taken as one. */
  givesTuple(node) {
    return this.hasValues(node.kind === "Subscript" ? rootOf(node) : node);
  }

  /** The result of one or several indices in a tuple, counted as in Python. */
  chosenItem(node, owner, values) {
    let [item, text] = [values, writtenNode(owner)];
    const indices = indicesOf(node);
    for (const [axis, index] of indices.entries()) {
      if (index.kind === "Slice") {
        item = this.sliced(index, item);
        continue;
      }
      if (!Array.isArray(item)) {
        throw this.refuse(node, `${quotedText(text)} has fewer axes`, "leave some out");
      }
      const value = this.expression(index);
      const position = wholeConstant(value);
      if (position === null) return this.lookedUp(node, text, item, value, indices.slice(axis));
      const count = BigInt(item.length);
      if (position < -count || position >= count) {
        const message = `${quotedText(text)} has ${item.length} values, none at ${position}`;
        throw this.refuse(index, message, "the first is at 0, the last at -1");
      }
      item = item.at(Number(position));
      text += `[${position}]`;
    }
    return item;
  }

  /** The value of a table of constants at indices, of which `first` is evaluated already. */
  lookedUp(node, text, table, first, indices) {
    const shape = regularShape(table);
    if (shape === null) {
      const advice = `write its index as a number, or use ${OWN_ARRAY}`;
      throw this.refuse(indices[0], `${quotedText(text)} is not a regular table of constants`, advice);
    }
    if (indices.length > shape.length) {
      throw this.refuse(node, `${quotedText(text)} has fewer axes`, "leave some out");
    }
    let values = [first];
    for (const index of indices.slice(1)) {
      if (index.kind === "Slice") throw this.refuseKind(index);
      values = this.followed(values, index);
    }
    const place = this.place(node);
    if (values.length < shape.length) values = values.map((value) => this.spill(value, place));
    const numbers = leavesOf(table).map((one) => one.value);
    return lookedUpAt(text, numbers, shape, values, place);
  }

  /** A part of a tuple, whose bounds are constants. */
  sliced(node, item) {
    const bounds = [node.lower, node.upper, node.step].map(constantIndex);
    if (Array.isArray(item) && !bounds.includes("varying") && bounds[2] !== 0n) return sliceOf(item, ...bounds);
    throw this.refuseKind(node);
  }

  /** Set variables to the numbers of a value. */
  setAll(variables, value, place) {
    const numbers = leavesOf(value);
    leavesOf(variables).forEach((variable, at) => this.emit(assignNode(variable.name, numbers[at], place)));
  }
}
