/* Assignments: to names, to several of them, to elements of arrays; arrays that a program makes. */
import { ExpressionParser } from "./expressions.js";
import { quotedText } from "./faults.js";
import { dtypeNameOf } from "./objects.js";
import { aliasOf, assignNode, binaryNode, hasArrays, isAlias, leavesOf, roleOf, sameShape } from "./scope.js";
import { shapeOfValue, varNode, viewOf } from "./scope.js";
import { isNoneNode, languageError } from "./source.js";
import { TABLES } from "./table.js";
import { givenTo, wordFor } from "./words.js";
import { writtenNode } from "./written.js";

const OWN_NAMES = "give numbers, arrays and tuples of each size names of their own";

/** Whether a hoisted statement may change a value that an earlier expression reads. */
const mayChange = (statement) => !["Load", "VectorLoad", "Assign"].includes(statement.node);

/** The assignments of one function, and the arrays that it makes. */
export class AssignmentParser extends ExpressionParser {
  /** x = y = value, x, y = values and a[i] = value. */
  assignment(node) {
    const [first] = node.targets;
    const isAlone = node.targets.length === 1;
    if (isAlone && first.kind === "Name" && this.declaredArray(first, node.value)) return;
    for (const target of node.targets) {
      if (target.kind === "List") {
        throw this.refuse(target, "a list can't be assigned", "write the names without []");
      }
    }
    let value = this.value(node.value, first);
    if (!isAlone || leavesOf(value).length > 1) value = this.spillAll(value, this.place(node));
    for (const target of node.targets) this.assign(target, value, node);
  }

  /** Assign the value of `node` for one of its targets. */
  assign(target, value, node) {
    if (target.kind === "Tuple") this.assignSeveral(target, value, node);
    else if (target.kind === "Name") this.assignName(target, value, node);
    else if (target.kind === "Subscript" && this.isVector(target)) {
      const count = this.vectorLength(target);
      const what = `a vector of ${count} elements`;
      const advice = "write as many values as it has elements, as in x, y, z, w";
      const vector = this.several(value, count, what, node, `${what} takes a tuple`, advice);
      this.writeVector(target, vector.map((one) => this.single(one, target)));
    } else if (target.kind === "Subscript") {
      let number = this.single(value, target);
      const place = this.place(node);
      const [[array, index], before] = this.aside(() => this.element(target));
      if (before.some(mayChange)) number = this.spill(number, place);
      this.block.push(...before);
      this.storeElement(array, index, number, this.place(target));
    } else if (target.kind === "Attribute") {
      throw this.refuse(target, `${quotedText(writtenNode(target))} can't be assigned`);
    } else throw this.refuseKind(target);
  }

  assignSeveral({ elts }, value, node) {
    const odd = elts.find((part) => part.kind === "Starred" || part.kind === "List");
    if (odd) throw this.refuseKind(odd);
    const message = "only a tuple of values or a.shape can be assigned to several names";
    const advice = "write as many values as there are names";
    const own = this.several(value, elts.length, `${elts.length} names`, node, message, advice);
    elts.forEach((part, at) => this.assign(part, own[at], node));
  }

  /** The values of a tuple of `count` values for `what`; `message` and `advice` refuse others. */
  several(value, count, what, node, message, advice) {
    const source = node.kind === "Assign" ? node.value : node;
    if (!Array.isArray(value)) throw this.refuse(source, message, advice);
    if (value.length !== count) throw this.refuse(source, `${value.length} values for ${what}`);
    return value;
  }

  /** Bind a name to a value: a variable to its number, or to an array, or to a tuple. */
  assignName(target, value, node) {
    const [place, role] = [this.place(node), this.role(target.id)];
    if (Array.isArray(value)) return this.assignTuple(target, value, role, place);
    if (isAlias(value)) {
      if (role === null) {
        this.variable(target); // refuses names that can't be assigned
        this.learn(target.id, roleOf(this.place(target)));
      }
      if (role.shape !== null) throw this.twoKinds(target, role);
      this.bound.set(target.id, value);
      return undefined;
    }
    if (role !== null) {
      const wrong = this.twoKinds(target, role);
      if (role.shape !== null) throw wrong;
      if (value.node === "Number") this.learnArray(value.name, wrong);
      // the number may come from a parameter that a later line shows to be an array
      this.unit.doubtful ??= wrong;
      return undefined;
    }
    const name = this.variable(target);
    const known = this.launchConstant(value);
    if (known !== null && this.depth === 0 && this.counts.get(target.id) === 1) this.unit.constants.set(name, known);
    return this.emit(assignNode(name, value, place));
  }

  /** Keep a tuple of numbers in a variable for each of them. */
  assignTuple(target, value, role, place) {
    if (hasArrays(value)) {
      throw this.refuse(target, "a tuple of arrays has no name here", "give each array a name, as in x, y = y, x");
    }
    const shape = shapeOfValue(value);
    if (role === null) this.variable(target); // refuses names that can't be assigned
    if (role === null || (role.shape === null && !role.declared)) this.learn(target.id, roleOf(place, shape));
    if (!sameShape(role.shape, shape)) throw this.twoKinds(target, role);
    const name = this.bound.get(target.id);
    if (name?.entity !== "Tuple") {
      throw this.refuse(target, `${quotedText(target.id)} is a number already`, OWN_NAMES);
    }
    this.setAll(this.variablesOf(name, target), value, place);
  }

  /** The error for a name with a value of another kind than its role. */
  twoKinds(target, role) {
    const kind = role.shape === null ? "arrays" : `tuples of ${role.shape.length}`;
    const message = `${quotedText(target.id)} is given something else here than ${kind}, as in line ${role.place.line}`;
    return this.refuse(target, message, OWN_NAMES);
  }

  /** x: int = value. */
  annotated(node) {
    if (node.value === null) return;
    const { row, column, endRow, endColumn, target, value } = node;
    this.assignment({ kind: "Assign", row, column, endRow, endColumn, targets: [target], value });
  }

  /** x += value and a[i] += value. */
  augmented(node) {
    const op = TABLES.vocabulary.operators[node.op];
    const { target } = node;
    const place = this.place(node);
    if (op === undefined) throw this.refuse(node, "the matrix product isn't in the language", "write loops");
    if (target.kind === "Name") {
      this.augmentedName(node, target, op, place);
      return;
    }
    if (this.isVector(target)) {
      const advice = "read them, as in x, y = mm.vector(a, 2)[i], and write them by an assignment";
      throw this.refuse(node, "the elements of a vector are not changed in one assignment", advice);
    }
    if (target.kind !== "Subscript") {
      throw this.refuse(target, `${quotedText(writtenNode(target))} can't be assigned`);
    }
    const [array, given] = this.element(target);
    const index = given.map((part) => this.spill(part, place));
    const at = this.place(target);
    let old = this.load(array, index, at);
    if (old.node === "RegisterRead") old = this.spill(old, place);
    const value = this.expression(node.value);
    this.storeElement(array, index, binaryNode(op, old, value, place), at);
  }

  augmentedName(node, target, op, place) {
    if (this.role(target.id) !== null) {
      const advice = "change an array element by element, and a tuple by assigning a new one";
      throw this.refuse(target, `${quotedText(target.id)} is not a number`, advice);
    }
    const name = this.variable(target);
    const old = varNode(name, this.place(target));
    const value = this.expression(node.value);
    this.emit(assignNode(name, binaryNode(op, old, value, place), place));
  }

  /** `value` without variables, null if it may differ between threads. */
  launchConstant(value) {
    if (Array.isArray(value)) return null;
    if (value.node === "Var") return this.unit.constants.get(value.name) ?? null;
    if (value.node === "Unary") {
      const operand = this.launchConstant(value.operand);
      return operand === null ? null : { ...value, operand };
    }
    if (value.node === "Binary") {
      const [left, right] = [this.launchConstant(value.left), this.launchConstant(value.right)];
      return left === null || right === null ? null : { ...value, left, right };
    }
    if (value.node === "ThreadField") return TABLES.fields.uniform.includes(value.field) ? value : null;
    return ["Const", "Number", "Extent"].includes(value.node) ? value : null;
  }

  /** Declare the array if an assigned value makes one; return whether it does. */
  declaredArray(target, node) {
    if (node.kind !== "Call") return false;
    const maker = wordFor(node.func, this);
    if (maker?.word !== "Maker") return false;
    this.checkPosition(node, maker);
    this.checkName(target);
    const { unit } = this;
    const given = givenTo(node, [maker.shape, "dtype"]);
    if (given === null || !given.has(maker.shape)) {
      throw this.refuse(node, `${maker.called} takes a ${maker.shape} and a dtype`);
    }
    const shape = given.get(maker.shape);
    const sizes = shape.kind === "Tuple" || shape.kind === "List" ? shape.elts : [shape];
    if (!sizes.length) throw this.refuse(shape, "an array needs at least one dimension", "give its size");
    const extents = sizes.map((size) => this.arrayExtent(size, maker));
    let reserved = this.bound.get(target.id);
    if (reserved?.entity !== "Variable") reserved = unit.variable(target.id, this.owner.name);
    const { name } = reserved;
    const dtype = this.arrayDtype(given.get("dtype") ?? null);
    const place = this.place(node);
    const made = { node: "LocalArray", name, kind: maker.kind, shape: extents, dtype, place };
    unit.locals.push(made);
    this.declared.set(target.id, made);
    this.bound.set(target.id, aliasOf([viewOf(name)]));
    return true;
  }

  /** Refuse an array that is made repeatedly. */
  checkPosition(node, maker) {
    if (this.depth > 0) {
      const advice = "declare arrays at the top level of the function";
      throw this.refuse(node, `${maker.called} inside a loop or a branch`, advice);
    }
    if (maker.kind === "shared" && this.looping) {
      const advice = "declare the array in the program and pass it to the function";
      throw this.refuse(node, `${maker.called} in a function that is called in a loop`, advice);
    }
  }

  /** Refuse a second array of a name; learn whether other arrays get the name, too. */
  checkName(target) {
    const role = this.role(target.id);
    if (this.text.parameters.includes(target.id) || this.declared.has(target.id)) {
      const message = `two arrays or variables of one name: ${quotedText(target.id)}`;
      const place = role === null ? this.place(target) : role.place;
      throw languageError(message, place, "give every array a name of its own");
    }
    if (this.counts.get(target.id) > 1 && !role?.declared) {
      this.learn(target.id, roleOf(this.place(target), null, true));
    }
  }

  /** The size of an axis, which is known before the launch. */
  arrayExtent(node, maker) {
    const [value, before] = this.apart(node);
    const constant = before.every((one) => this.isKnown(one)) ? this.launchConstant(value) : null;
    if (constant === null) {
      const message = `the size of ${maker.array} must be the same for all threads and known before the launch`;
      const advice = "make it of numbers, parameters, shapes, T.count, T.block_size, T.blockDim.x and the like, by "
        + "arithmetic and by calls of functions without a branch or a loop";
      throw this.refuse(node, message, advice);
    }
    return constant;
  }

  /** Keep a known value that a statement before a size assigns; return whether it does. */
  isKnown(statement) {
    if (statement.node === "Forget") return true; // a call in a loop begins with it
    if (statement.node !== "Assign") return false;
    const known = this.launchConstant(statement.value);
    if (known !== null) this.unit.constants.set(statement.target, known);
    return known !== null;
  }

  /** The element type of an array, null if it depends on the stored values. */
  arrayDtype(node) {
    if (isNoneNode(node)) return null;
    if (node.kind === "Attribute" && node.attr === "dtype") {
      const array = this.array(node.value);
      if (array !== null && array.parts.length === 1) return this.dtypeOf(array.parts[0].array, node);
    }
    const name = dtypeNameOf(node.kind === "Constant" ? node.value : this.captured(node));
    const { supported } = TABLES.vocabulary;
    if (!Object.hasOwn(TABLES.types, name)) {
      throw this.refuse(node, `${quotedText(writtenNode(node))} is not an element type`, `use one of ${supported}`);
    }
    return name;
  }

  /** The dtype of another array: a parameter's, or the given one of a local array. */
  dtypeOf(array, node) {
    const local = this.unit.locals.find((one) => one.name === array);
    if (!local) return [array];
    if (local.dtype === null) {
      const message = `${quotedText(writtenNode(node))} follows from what the program stores`;
      throw this.refuse(node, message, `give both arrays a dtype: one of ${TABLES.vocabulary.supported}`);
    }
    return local.dtype;
  }
}
