/*
 * The value of an expression: a number, an array, or a tuple of these.
 *
 * A conditional access (in `and`, `or`, a conditional expression or a chained comparison) makes the expression an `If`
 * around it.
 */
import { aliasDimensions, aliasExtent, aliasSize } from "./aliases.js";
import { ElementParser } from "./elements.js";
import { quotedText } from "./faults.js";
import { MISSING, encodedObject, intObject, isBuiltin, isTable, tableKind, typeNameOf } from "./objects.js";
import { assignNode, binaryNode, callNode, chooseNode, compareNode, constNode, ifNode, isAlias } from "./scope.js";
import { roleOf, unaryNode, varNode } from "./scope.js";
import { constantIndex, rootOf } from "./source.js";
import { TABLES } from "./table.js";
import { remedyFor, valueOfWord, withArticle, wordFor } from "./words.js";
import { writtenNode, writtenObject } from "./written.js";

/** The target of each of several values, if the text gives them. */
export function targetsFor(target, count) {
  if (target !== null && target.kind === "Tuple" && target.elts.length === count) return target.elts;
  return Array.from({ length: count }, () => null);
}

/** The values of one function's expressions. */
export class ExpressionParser extends ElementParser {
  /** The value of an expression, also a tuple or an array; `target` is its assigned target. */
  value(node, target = null) {
    if (target?.kind === "Subscript" && !this.isVector(target)) return this.expression(node);
    if (target?.kind === "Name") {
      const role = this.role(target.id);
      if (role !== null && role.shape === null) return this.alias(node, role);
    }
    const { kind } = node;
    if (kind === "Tuple") {
      return this.nested(node, () => this.tupleOf(node.elts, targetsFor(target, node.elts.length)));
    }
    if (kind === "Name") return this.named(node);
    if (kind === "Subscript") return this.subscript(node);
    if (kind === "Call") return this.call(node);
    if (kind === "IfExp" && (this.isArray(node.body) || this.isArray(node.orelse))) {
      if (target?.kind === "Name") this.learn(target.id, roleOf(this.place(target)));
      return this.alias(node, roleOf(this.place(node)));
    }
    if (kind === "Attribute") {
      const whole = this.whole(node, target);
      if (whole !== null) return whole;
    }
    return this.expression(node);
  }

  /** The values of a tuple, from left to right; `targets` are their assigned targets. */
  tupleOf(nodes, targets) {
    let values = [];
    nodes.forEach((part, at) => {
      const [value, statements] = this.aside(() => this.value(part, targets[at]));
      if (this.writesRegisters(statements)) {
        values = values.map((earlier) => this.spillAll(earlier, this.place(part)));
      }
      this.block.push(...statements);
      values.push(value);
    });
    return values;
  }

  /** A captured table, or a.shape as a tuple, with as many values as targets; null for anything else. */
  whole(node, target) {
    const table = this.captured(node);
    if (isTable(table)) return this.table(node, table);
    if (node.attr !== "shape") return null;
    const array = this.array(node.value);
    if (array === null) return this.shapeOfTable(node.value);
    const place = this.place(node);
    const rank = target?.kind === "Tuple" ? target.elts.length : this.axes(array);
    if (rank === null) return null;
    return Array.from({ length: rank }, (_, axis) => aliasExtent(array, axis, rank, place));
  }

  /** The extents of a captured array. */
  shapeOfTable(node) {
    const table = this.captured(node);
    return table.is === "array" ? table.shape.map(constNode) : null;
  }

  /** The value of a name. */
  named(node) {
    const found = this.entity(node.id);
    if (found.entity === "Tuple") return this.variablesOf(found, node);
    if (found.entity === "Captured" && isTable(found.value)) return this.table(node, found.value);
    const isArray = found.entity === "Alias" || (found.entity === "Parameter" && found.use === "array");
    return isArray ? this.array(node) : this.expression(node);
  }

  /** The value of x[i]: an element of an array, an extent, a value of a tuple or a table. */
  subscript(node) {
    const shape = this.shapePart(node);
    if (shape !== null) return shape;
    const owner = rootOf(node);
    if (this.vectorWord(owner) !== null) return this.readVector(node);
    if (this.array(owner) === null && this.hasValues(owner)) {
      const whole = this.value(owner);
      if (Array.isArray(whole)) return this.chosenItem(node, owner, whole);
      if (!isAlias(whole)) {
        throw this.refuse(owner, `${quotedText(writtenNode(owner))} is not an array`, "it is one number");
      }
    }
    const [array, index] = this.element(node);
    return this.load(array, index, this.place(node));
  }

  /** a.shape[axis], a tuple for a.shape[:2], null for any other subscript. */
  shapePart(node) {
    const owner = node.value;
    if (owner.kind !== "Attribute" || owner.attr !== "shape") return null;
    const array = this.array(owner.value);
    const place = this.place(node);
    if (array === null) {
      const whole = this.shapeOfTable(owner.value);
      return whole === null ? null : this.chosenItem(node, owner, whole);
    }
    if (node.slice.kind === "Slice") {
      return this.slicedAxes(node.slice, owner).map((axis) => this.extent(array, axis, node.slice, place));
    }
    const axis = constantIndex(node.slice);
    if (typeof axis !== "bigint") {
      const advice = `write ${writtenNode(owner)}[0]`;
      throw this.refuse(node.slice, "an axis of a shape must be a constant", advice);
    }
    this.constantOf(intObject(axis), 0, node.slice);
    return this.extent(array, axis, node.slice, place);
  }

  /** A number in the text. */
  literal(node) {
    const encoded = encodedObject(node.value);
    if (encoded === null) {
      const message = `${writtenObject(node.value)} is not a number`;
      throw this.refuse(node, message, "programs compute with int, float, complex and bool");
    }
    return this.constantOf(node.value, encoded, node);
  }

  /** A name: of a variable, a parameter, a number outside. */
  name(node) {
    const found = this.entity(node.id);
    if (found.entity === "Variable") return varNode(found.name, this.place(node));
    if (found.entity === "Parameter") {
      this.use(found, "number", node);
      return { node: "Number", name: found.name };
    }
    if (found.entity === "Alias" || found.entity === "NoArray") {
      const message = `the array ${quotedText(node.id)} stands where a number must`;
      throw this.refuse(node, message, "read an element of it");
    }
    if (found.entity === "Tuple") return this.variablesOf(found, node);
    const own = valueOfWord(wordFor(node, this), node, this);
    if (own !== null) return own;
    if (found.entity !== "Captured") {
      const advice = "assign it first, make it a parameter, or define it above the program";
      throw this.refuse(node, `the name ${quotedText(node.id)} means nothing here`, remedyFor(node, this) || advice);
    }
    return this.capturedNumber(node, found.value);
  }

  /** The number for an object from outside. */
  capturedNumber(node, object) {
    const encoded = encodedObject(object);
    if (encoded !== null) return this.constantOf(object.is === "member" ? object.value : object, encoded, node);
    const text = writtenNode(node);
    let [kind, advice] = [typeNameOf(object), remedyFor(node, this)];
    if (isTable(object)) {
      kind = tableKind(object);
      advice = `read an element of it, as ${text}[i], or pass it to run as a parameter`;
    } else if (object.is === "member") advice = `write ${text}.value`;
    const message = `${quotedText(text)} is ${withArticle(kind)} from outside the program`;
    advice ||= "numbers, tables of numbers and functions of the language can be captured";
    throw this.refuse(node, message, advice);
  }

  /** A field of the thread, a.size, or a number of a module or a class. */
  attribute(node) {
    const own = valueOfWord(wordFor(node, this), node, this);
    if (own !== null) return own;
    const isPart = node.attr === "real" || node.attr === "imag";
    if (node.value.kind === "Name") {
      const { entity } = this.entity(node.value.id);
      if (entity === "Parameter" && isPart) return this.part(node);
      const isOfArray = ["size", "ndim", "shape", "dtype"].includes(node.attr);
      if (["Parameter", "Alias", "NoArray"].includes(entity) || (entity === "Variable" && isOfArray)) {
        return this.ofArray(node, node.value);
      }
    }
    const object = this.captured(node);
    if (object !== MISSING) return this.capturedNumber(node, object);
    if (isPart) return this.part(node);
    const table = this.captured(node.value);
    if (table.is === "array" && node.attr === "size") return constNode(table.items.length);
    if (table.is === "array" && node.attr === "ndim") return constNode(table.shape.length);
    const message = `${quotedText(writtenNode(node))} means nothing in a program`;
    throw this.refuse(node, message, remedyFor(node, this) || "");
  }

  /** z.real and z.imag. */
  part(node) {
    const operand = this.expression(node.value);
    return callNode(node.attr, [operand], this.place(node));
  }

  /** a.size and a.ndim. */
  ofArray(node, owner) {
    const array = this.array(owner);
    const place = this.place(node);
    if (node.attr === "size") return aliasSize(array, place);
    if (node.attr === "ndim") return aliasDimensions(array, place);
    let advice = "programs know its shape, its size, its ndim, len() and its elements";
    if (node.attr === "shape") advice = `write ${owner.id}.shape[0], or rows, columns = ${owner.id}.shape`;
    throw this.refuse(node, `${quotedText(writtenNode(node))} is not a number`, advice);
  }

  /** -x, +x, ~x and not x. */
  unary(node) {
    const { op, operand } = node;
    if (op === "USub" && operand.kind === "Constant") {
      const { is, value, re, im } = operand.value;
      let negative = null;
      if (is === "int" || is === "float") negative = { is, value: -value };
      if (is === "complex") negative = { is, re: -re, im: -im };
      if (negative) return this.constantOf(negative, encodedObject(negative), node);
    }
    return unaryNode(TABLES.vocabulary.operators[op], this.expression(operand), this.place(node));
  }

  /** x + y and the like. */
  binary(node) {
    const chain = [node]; // a long sum is a deep tree: walk down its left side in a loop
    while (chain.at(-1).left.kind === "BinOp") chain.push(chain.at(-1).left);
    let value = this.expression(chain.at(-1).left);
    chain.reverse().forEach((part, at) => {
      const place = this.place(part);
      const op = TABLES.vocabulary.operators[part.op];
      if (op === undefined) throw this.refuse(part, "the matrix product isn't in the language", "write loops");
      const [left, right] = this.followed([value], part.right);
      value = this.link(binaryNode(op, left, right, place), at + 1, place);
    });
    return value;
  }

  /** x and y, x or y: y only for the lanes that need it. */
  boolOp(node) {
    const op = node.op === "And" ? "and" : "or";
    const place = this.place(node);
    const [first, ...others] = node.values;
    let value = this.expression(first);
    others.forEach((other, at) => {
      value = this.link(this.logic(op, value, ...this.apart(other), place), at + 1, place);
    });
    return value;
  }

  /** left op right, with `statements` before right, for the lanes that need it. */
  logic(op, left, right, statements, place) {
    if (!statements.length) return { node: "Logic", op, left, right };
    const name = this.temporary();
    this.emit(assignNode(name, left, place));
    const needed = [...statements, assignNode(name, right, place)];
    const [then, orelse] = op === "and" ? [needed, []] : [[], needed];
    this.emit(ifNode(varNode(name, place), then, orelse, place));
    return varNode(name, place);
  }

  /** x < y < z and x in (2, 3): z only for the lanes that need it. */
  comparison(node) {
    const place = this.place(node);
    const { ops, comparators } = node;
    if (ops.length === 1 && (ops[0] === "In" || ops[0] === "NotIn")) {
      const found = this.membership(node.left, comparators[0], place);
      return ops[0] === "In" ? found : unaryNode("not", found, place);
    }
    this.checkOperators(node);
    const { operators } = TABLES.vocabulary;
    let [left, right] = this.operands(node.left, comparators[0]);
    if (ops.length > 1) right = this.spill(right, place);
    let value = compareNode(operators[ops[0]], left, right, place);
    for (let position = 1; position < ops.length; position += 1) {
      left = right;
      let statements;
      [right, statements] = this.apart(comparators[position]);
      if (position < ops.length - 1 && right.node !== "Const" && right.node !== "Number") {
        const name = this.temporary();
        statements.push(assignNode(name, right, place));
        right = varNode(name, place);
      }
      const next = compareNode(operators[ops[position]], left, right, place);
      value = this.link(this.logic("and", value, next, statements, place), position, place);
    }
    return value;
  }

  /** Refuse a comparison of anything but numbers. */
  checkOperators(node) {
    for (const operator of node.ops) {
      if (operator === "In" || operator === "NotIn") {
        const message = "'in' stands alone in the language of programs, not in a chain";
        throw this.refuse(node, message, "compare in two steps, joined by and");
      }
      if (!Object.hasOwn(TABLES.vocabulary.operators, operator)) {
        throw this.refuse(node, "'is' isn't in the language of programs", "compare numbers by ==");
      }
    }
  }

  /** x in (2, 3): whether x equals a value of a tuple. */
  membership(left, right, place) {
    let value = this.expression(left);
    const isRange = right.kind === "Call" && isBuiltin(this.captured(right.func), "range");
    const [inside, statements] = this.aside(() => (this.givesTuple(right) && !isRange ? this.value(right) : null));
    if (!Array.isArray(inside) || inside.some((one) => Array.isArray(one) || isAlias(one))) {
      const advice = isRange ? "write start <= x < stop" : "write x in (2, 3)";
      throw this.refuse(right, "'in' takes a tuple of numbers here", advice);
    }
    [value] = this.kept([value], statements, right);
    if (statements.length || inside.length > 1) value = this.spill(value, place);
    this.block.push(...statements);
    let found = constNode(false);
    inside.forEach((item, position) => {
      const equal = compareNode("==", value, this.single(item, right), place);
      const either = { node: "Logic", op: "or", left: found, right: equal };
      found = position === 0 ? equal : this.link(either, position, place);
    });
    return found;
  }

  /** x if test else y, each side for its own lanes. */
  choice(node) {
    const place = this.place(node);
    const test = this.expression(node.test);
    const [then, beforeThen] = this.apart(node.body);
    const [other, beforeOther] = this.apart(node.orelse);
    if (!beforeThen.length && !beforeOther.length) return chooseNode(test, then, other);
    const name = this.temporary();
    const set = (before, value) => [...before, assignNode(name, value, place)];
    this.emit(ifNode(test, set(beforeThen, then), set(beforeOther, other), place));
    return varNode(name, place);
  }
}
