import { holdsAll, isInt, limitsOf, noIndex } from "./dtypes.js";
import { MMSimFault, quotedText } from "./faults.js";
import { countOf, firstOf, gathered, partedBy } from "./frame.js";
import { asWritten } from "./lower.js";
import { REFUSED, decodedNumber, textOf } from "./numbers.js";
import { compiledText, computingOf, literalText, mayRefuse, operationText, refusalOf, truthText } from "./operators.js";
import { expressionsOf, isOf } from "./walk.js";

/* The meaning of expressions: their values at the active lanes, without access to memory; also the elements that an
   index names, and the words that a store brings.

   The expressions of a statement become one loop over the lanes, written as JavaScript. It gives up as soon as
   something has no value at a lane, or a variable may be unassigned there. Then the expressions are evaluated again,
   operation by operation, each at all its lanes: the first one without a value is the mistake, at its first lane.
   Values here have an entry for each active lane, or are one for all. */

const MOST_LEAVES = 50; // the leaves of one loop: which of them are arrays is kept in a number

/** A number of dimensions, in words. */
const dimensionsText = (count) => `${count} dimension${count === 1 ? "" : "s"}`;

/** The shape of an array as Python shows a tuple. */
const shapeOfText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** The reason why an array of this shape has no vectors of this size, and the remedy. */
const unevenText = (shape, vector) => {
  const rows = shape.length > 1;
  return `vectors of ${vector} elements need ${rows ? "rows of" : "an array of"} a multiple of ${vector} elements, not `
    + `${shape[shape.length - 1]}; make ${rows ? "them" : "it"} longer, or access the elements one by one`;
};

/** The indices of an element along the axes of a shape. */
export const unravelled = (element, shape) => {
  const found = [];
  let rest = element;
  for (const extent of shape.toReversed()) {
    found.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return found;
};

/**
 * Turns the expressions of a lowered program, for one launch, into plans and loops. `locals` are the shapes of shared
 * and register arrays, `slots` the numbers of the variables, `fields` the used fields of T.
 */
export class Evaluator {
  constructor(lowered, { numbers, shapes, grid, maxAccesses }) {
    this.lowered = lowered;
    this.code = lowered.code;
    this.of = lowered.of;
    this.numbers = numbers;
    this.maxAccesses = maxAccesses;
    this.width = grid.width;
    this.uniform = grid.uniform;
    this.fields = new Set();
    this.slots = {};
    this.slotCount = 0;
    this.known = new Map();
    this.locals = {};
    this.shapes = { ...shapes };
    for (const local of this.code.locals) { // the size of one may be that of one before
      this.locals[local.name] = this.shapes[local.name] = this.localShape(local);
    }
  }

  /** The number of a variable. */
  slot(name) {
    if (!Object.hasOwn(this.slots, name)) this.slots[name] = this.slotCount++;
    return this.slots[name];
  }

  // Errors

  /** Report a failure of the program at a lane. */
  fault(kind, message, place, frame = null, lane = null, facts = {}) {
    const thread = frame === null || lane === null ? null : frame.thread(lane);
    throw new MMSimFault(kind, message, { program: this.code.name, place, thread, ...facts });
  }

  /** Count an access or a loop iteration, and refuse a program that seems to run forever. */
  step(frame, mask, place) {
    frame.steps += 1;
    if (frame.steps <= this.maxAccesses) return;
    const message = `no end after max_accesses=${this.maxAccesses} accesses and loop iterations; if the program is `
      + "meant to run longer, give run a larger max_accesses";
    this.fault("EndlessError", message, place, frame, firstOf(mask));
  }

  // Constants

  /** The value of an expression that is known before the launch, else null. */
  constant(value) {
    let found = this.known.get(value);
    if (found === undefined) this.known.set(value, (found = this.findConstant(value)));
    return found;
  }

  findConstant(value) {
    switch (value.node) {
      case "Const": return decodedNumber(value.value);
      case "Number": return this.numbers[value.name];
      case "Extent": return this.extent(value);
      case "ThreadField": return this.uniform[value.field] ?? null;
      default:
    }
    if (!isOf(value, "Operating")) return null;
    const parts = expressionsOf(value), held = parts.map((part) => this.constant(part));
    if (held.includes(null)) return null;
    try {
      return computingOf(value, this.of(parts[0]), this.of(value), true)(...held);
    } catch (error) {
      if (error !== REFUSED) throw error;
      return null; // it is an error only if a thread gets there
    }
  }

  // Arrays

  localShape(local) {
    return local.shape.map((part) => {
      const value = this.constant(part);
      if (isInt(this.of(part)) && value !== null && value >= 1) return Number(value);
      const size = value === null ? "an extent without a value" : `an extent of ${textOf(value, this.of(part))}`;
      const message = `${quotedText(local.name)} can't have ${size}; extents are whole numbers from 1 on`;
      return this.fault("TypeFault", message, local.place, null, null, { array: local.name });
    });
  }

  /** A size of an array, or an error if the array has no such axis. */
  extent({ array, axis: encoded, rank, place }) {
    const shape = this.shapes[array], axis = decodedNumber(encoded);
    let message = null;
    if (rank !== null && rank !== shape.length) message = this.wrongRank(array, rank);
    else if (axis !== null && axis !== "ndim" && !(axis >= -shape.length && axis < shape.length)) {
      message = `${quotedText(array)} has ${dimensionsText(shape.length)}, no axis ${axis}`;
    }
    if (message !== null) this.fault("AddressError", message, place, null, null, { array });
    if (axis === null) return shape.reduce((size, extent) => size * extent, 1);
    return axis === "ndim" ? shape.length : shape.at(axis);
  }

  wrongRank(array, rank) {
    const shape = this.shapes[array];
    const [held, given] = [dimensionsText(shape.length), shapeOfText(shape)];
    return `${quotedText(array)} has ${held} (shape ${given}) but is used with ${rank}`;
  }

  // Plans: what an expression consists of, for the launch

  /** The plan of an expression. */
  plan(value) {
    const type = this.of(value), known = this.constant(value);
    if (known !== null) return { kind: "known", type, value: known };
    switch (value.node) {
      case "ThreadField":
        this.fields.add(value.field);
        return { kind: "field", type, field: value.field };
      case "Var":
        return { kind: "variable", type, slot: this.slot(value.name), place: value.place };
      case "Logic": {
        const [left, right] = [this.plan(value.left), this.plan(value.right)];
        return { kind: "logic", type, isAnd: value.op === "and", left, right };
      }
      case "Choose": {
        const [test, then, other] = [this.plan(value.test), this.plan(value.then), this.plan(value.other)];
        return { kind: "choose", type, test, then, other };
      }
      case "RegisterRead":
        return { kind: "register", type, array: value.array, elements: this.elements(value) };
      case "Lookup":
        return {
          kind: "lookup", type, table: value.values.map(decodedNumber), node: value,
          parts: value.index.map((part) => this.plan(part)),
          written: value.index.map((part) => this.plan(asWritten(part))),
        };
      default: {
        if (!isOf(value, "Operating")) throw new Error(`the interpreter has no case for the node ${value.node}`);
        const parts = expressionsOf(value), held = this.of(parts[0]);
        return {
          kind: "operation", type, held, node: value, parts: parts.map((part) => this.plan(part)),
          refuses: mayRefuse(value, this.of),
        };
      }
    }
  }

  /**
   * The plan of the element that an access names; for vectors of several elements, of the number of the vector. `fault`
   * is that of an index that no array has.
   */
  elements(access, vector = 1) {
    const { array, index } = access, shape = this.shapes[array];
    let kind = "AddressError", fault = noIndex(index.map((part) => this.of(part)));
    if (index.length !== shape.length) fault = this.wrongRank(array, index.length);
    else if (fault === null && shape.at(-1) % vector) [fault, kind] = [unevenText(shape, vector), "VectorError"];
    if (fault !== null) {
      const parts = index.map((part) => this.plan(asWritten(part)));
      return { access, fault: `: ${fault}`, kind, parts, type: "int64" };
    }
    const extents = [...shape.slice(0, -1), shape.at(-1) / vector];
    const parts = index.map((part) => this.plan(part));
    return { access, fault: null, extents, vector, parts, type: "int64" };
  }

  /** The plan of a word that an access brings to an array; integers that don't fit are refused. */
  word(array, value, place) {
    const plan = this.plan(value), type = this.lowered.arrays[array];
    const fits = type === plan.type || !isInt(type) || !isInt(plan.type) || holdsAll(type, plan.type);
    return { plan, array, place, type, limits: fits ? null : limitsOf(type).map((limit) => `${limit}n`) };
  }

  // Values, operation by operation

  /** The value of a plan at the active lanes, or the fault of the first operation without one. */
  exact(plan, frame, mask) {
    switch (plan.kind) {
      case "known": return plan.value;
      case "field": return gathered(frame.fields[plan.field], mask);
      case "variable": return this.exactVariable(plan, frame, mask);
      case "operation": return this.exactOperation(plan, frame, mask);
      case "logic": return this.exactLogic(plan, frame, mask);
      case "choose": return this.exactChoice(plan, frame, mask);
      case "register": {
        const elements = this.exactElements(plan.elements, frame, mask), rows = frame.registers[plan.array];
        return elements.map((element, k) => rows[element][mask === true ? k : mask[k]]);
      }
      default: return this.exactLookup(plan, frame, mask);
    }
  }

  exactVariable({ slot, place }, frame, mask) {
    if (frame.covers(slot, mask)) return gathered(frame.variables[slot], mask);
    const known = frame.variables[slot] === null ? [] : frame.partial[slot];
    const count = countOf(mask, frame.lanes);
    let lane = firstOf(mask);
    for (let k = 0, at = 0; k < count; k += 1) {
      lane = mask === true ? k : mask[k];
      while (at < known.length && known[at] < lane) at += 1;
      if (known[at] !== lane) break;
    }
    const text = [...place.text].slice(place.column, place.end_column).join(""); // a helper's names have numbers
    let message = `the variable ${quotedText(text)} is read before this thread has assigned it`;
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(text)) {
      const why = text.endsWith(")") ? "its function returned without one" : "it has none yet";
      message = `${quotedText(text)} gives this thread no value: ${why}`;
    }
    return this.fault("UnassignedError", message, place, frame, lane);
  }

  exactOperation({ node, held, type, parts, refuses }, frame, mask) {
    const values = parts.map((part) => this.exact(part, frame, mask));
    const refuse = (lane) => this.fault("ArithmeticFault", refusalOf(node), node.place, frame, lane);
    const areUniform = !values.some(Array.isArray);
    const compute = computingOf(node, held, type, areUniform);
    const at = (k) => {
      const [x, y, z] = values.map((value) => (Array.isArray(value) ? value[k] : value));
      if (!refuses) return compute(x, y, z);
      try {
        return compute(x, y, z);
      } catch (error) {
        if (error !== REFUSED) throw error;
        return refuse(mask === true ? k : mask[k]);
      }
    };
    if (areUniform) return at(0);
    return Array.from({ length: countOf(mask, frame.lanes) }, (_, k) => at(k));
  }

  /** Whether a value of a type is true, for each lane or for all. */
  truth(value, type) {
    const test = compiledText(`(x) => ${truthText(type, "x")}`);
    return Array.isArray(value) ? value.map((one) => test(one)) : test(value);
  }

  exactLogic({ isAnd, left, right }, frame, mask) {
    const first = this.exact(left, frame, mask), test = this.truth(first, left.type);
    if (!Array.isArray(test)) return test === isAnd ? this.exact(right, frame, mask) : first;
    const isOpen = test.map((one) => one === isAnd), [needed] = partedBy(mask, isOpen);
    if (needed === false) return first;
    return merged(isOpen, this.exact(right, frame, needed), first);
  }

  exactChoice({ test, then, other }, frame, mask) {
    const chosen = this.exact(test, frame, mask), [yes, no] = partedBy(mask, chosen);
    if (no === false) return this.exact(then, frame, mask);
    if (yes === false) return this.exact(other, frame, mask);
    const first = this.exact(then, frame, yes), second = this.exact(other, frame, no);
    let k = 0;
    const spread = chosen.map((one) => (one ? null : Array.isArray(second) ? second[k++] : second));
    return merged(chosen, first, spread);
  }

  exactLookup({ table, node, parts, written }, frame, mask) {
    const count = countOf(mask, frame.lanes);
    /** @type {any} */
    let number = 0;
    node.shape.forEach((extent, axis) => {
      const at = this.exact(parts[axis], frame, mask);
      const isOutside = (one) => one < 0 || one >= extent;
      const bad = Array.isArray(at) ? at.findIndex(isOutside) : isOutside(at) ? 0 : -1;
      if (bad >= 0) {
        const found = entryOf(this.exact(written[axis], frame, mask), bad);
        const message = `index ${found} of the table ${quotedText(node.table)} is out of range: it has ${extent} `
          + `values along this axis, from ${-extent} to ${extent - 1}`;
        const lane = mask === true ? bad : mask[bad];
        this.fault("AddressError", message, node.place, frame, lane, { index: [jsonNumber(found)] });
      }
      const own = (value, k) => entryOf(value, k) * extent + entryOf(at, k);
      if (!Array.isArray(number) && !Array.isArray(at)) number = own(number, 0);
      else number = Array.from({ length: count }, ((before) => (_, k) => own(before, k))(number));
    });
    return Array.isArray(number) ? number.map((one) => table[one]) : table[number];
  }

  /** The element of each active lane, all in range. */
  exactElements(elements, frame, mask) {
    const { access, fault, kind, parts, extents } = elements, count = countOf(mask, frame.lanes);
    if (fault !== null) {
      const values = parts.map((part) => this.exact(part, frame, mask));
      this.refuseIndex(access, values, fault, frame, mask, 0, kind);
    }
    /** @type {any} */
    let number = 0;
    parts.forEach((part, axis) => {
      const at = this.exact(part, frame, mask), extent = extents[axis];
      const isOutside = (one) => !(one >= 0 && one < extent);
      if (Array.isArray(at) ? at.some(isOutside) : isOutside(at)) this.refuseRange(elements, frame, mask);
      const before = number;
      number = Array.from({ length: count }, (_, k) => entryOf(before, k) * extent + entryOf(at, k));
    });
    return number;
  }

  /** Report the index that the active lane with number k has. */
  refuseIndex({ array, index, place }, values, message, frame, mask, k, kind = "AddressError") {
    const at = values.map((value) => entryOf(value, k));
    const text = at.map((one, axis) => textOf(one, this.of(asWritten(index[axis])))).join(", ");
    const lane = mask === true ? k : mask[k];
    const facts = { array, index: at.map(jsonNumber) };
    this.fault(kind, `index [${text}] of ${quotedText(array)}${message}`, place, frame, lane, facts);
  }

  /** Report the first lane with a number of its index outside its axis. */
  refuseRange({ access, extents, vector }, frame, mask) {
    const { index } = access;
    const values = index.map((part) => this.exact(this.plan(asWritten(part)), frame, mask));
    const lows = index.map((part, axis) => (part === asWritten(part) ? 0 : -extents[axis]));
    const isOutside = (axis, k) => {
      const value = entryOf(values[axis], k);
      return value < lows[axis] || value >= extents[axis];
    };
    for (let k = 0; k < countOf(mask, frame.lanes); k += 1) {
      const wrong = extents.findIndex((_, axis) => isOutside(axis, k));
      if (wrong < 0) continue;
      const [low, extent] = [lows[wrong], extents[wrong]];
      let reason = "the array is empty";
      if (extent !== 0) {
        const isVector = vector > 1 && wrong === index.length - 1;
        const of = isVector ? `vectors of ${vector} elements` : "elements";
        reason = `${index.length > 1 ? `axis ${wrong}` : "the array"} has ${extent} ${of}`;
        if (low === 0 && entryOf(values[wrong], k) < 0) reason = "an address is not negative, and indices don't wrap";
        reason += `; indices run from ${low} to ${extent - 1}`;
      }
      this.refuseIndex(access, values, ` is out of range: ${reason}`, frame, mask, k);
    }
  }

  /** The words that the active lanes bring to these elements of an array. */
  exactWords({ plan, array, place, type, limits }, frame, mask, elements) {
    const value = this.exact(plan, frame, mask);
    const words = elements.map((_, k) => entryOf(value, k));
    if (limits === null) return words;
    const [low, high] = limitsOf(type), k = words.findIndex((word) => word < low || word > high);
    if (k < 0) return words;
    const at = unravelled(elements[k], this.shapes[array]);
    const message = `${words[k]} doesn't fit ${array}[${at.join(", ")}]: ${quotedText(array)} holds ${type}, from `
      + `${low} to ${high}`;
    return this.fault("TypeFault", message, place, frame, mask === true ? k : mask[k], { array, index: at });
  }

  // Values, by a loop

  /** A function that gives the value of an expression at the active lanes. */
  evaluate(value) {
    return this.evaluatePlan(this.plan(value));
  }

  evaluatePlan(plan) {
    if (plan.kind === "known") return () => plan.value;
    if (plan.kind === "field") return (frame, mask) => gathered(frame.fields[plan.field], mask);
    const exact = (frame, mask) => this.exact(plan, frame, mask);
    if (plan.kind === "variable") {
      const { slot } = plan;
      return (frame, mask) => {
        if (frame.covers(slot, mask)) return gathered(frame.variables[slot], mask);
        return exact(frame, mask);
      };
    }
    const loop = new Loop([{ plan }], true);
    return (frame, mask) => {
      const found = loop.run(frame, mask) ?? exact(frame, mask);
      // Each computed NaN is another one, as in Python; an array is, and a NaN of JavaScript is not.
      return Number.isNaN(found) ? new Array(countOf(mask, frame.lanes)).fill(found) : found;
    };
  }

  /**
   * A function that gives the elements that active lanes name, and the words that they bring: [elements, words, ...].
   * `check` is called with the elements before there are words.
   *
   * @param {(frame: any, mask: any, elements: any[]) => void} check
   */
  evaluateAccess(elements, words, check = () => {}) {
    const exact = (frame, mask) => {
      const found = [this.exactElements(elements, frame, mask)];
      check(frame, mask, found[0]);
      const first = elements.vector > 1 ? found[0].map((one) => one * elements.vector) : found[0];
      words.forEach((word, at) => {
        const own = elements.vector > 1 ? first.map((one) => one + at) : first;
        found.push(this.exactWords(word, frame, mask, own));
      });
      return found;
    };
    if (elements.fault !== null) return exact;
    const loop = new Loop([{ elements }, ...words.map((word) => ({ plan: word.plan, limits: word.limits }))], false);
    return (frame, mask) => {
      const found = loop.run(frame, mask);
      if (found === undefined) return exact(frame, mask);
      check(frame, mask, found[0]);
      return found;
    };
  }
}

/** A number that JSON can hold. */
const jsonNumber = (number) => (typeof number === "bigint" ? Number(number) : number);

/** The entry of a value for the active lane with number k. */
const entryOf = (value, k) => (Array.isArray(value) ? value[k] : value);

/** `then` for each lane where a test holds, with an entry for each of these, and `other` elsewhere. */
const merged = (test, then, other) => {
  let at = 0;
  return test.map((one, k) => (one ? (Array.isArray(then) ? then[at++] : then) : entryOf(other, k)));
};

/**
 * The loop of some expressions: `outputs` are plans, with the `limits` of a word, or the `elements` of an access. With
 * `isValue` the only output is a value that may be one for all lanes, else each has an entry for each active lane.
 */
class Loop {
  constructor(outputs, isValue) {
    this.outputs = outputs;
    this.isValue = isValue;
    this.leaves = [];
    this.numbers = new Map(); // of leaves, by what they are
    this.variants = new Map();
    this.isHard = false;
    for (const { plan, elements } of outputs) this.find(plan ?? elements);
    this.isHard ||= this.leaves.length > MOST_LEAVES;
  }

  /** Number the leaves of a plan. */
  find(plan) {
    if (plan.kind === "variable") this.leaf(`variable ${plan.slot}`, { kind: plan.kind, slot: plan.slot });
    else if (plan.kind === "field") this.leaf(`field ${plan.field}`, { kind: plan.kind, field: plan.field });
    else if (plan.kind === "register") {
      this.leaf(`register ${plan.array}`, { kind: plan.kind, array: plan.array });
      this.find(plan.elements);
      this.isHard ||= plan.elements.fault !== null;
    } else if (plan.kind === "lookup") this.leaf(plan, { kind: "constant", value: plan.table });
    else if (plan.kind === "known" && literalText(plan.value) === null) {
      this.leaf(plan, { kind: "constant", value: plan.value });
    }
    for (const part of plan.parts ?? []) this.find(part);
    for (const name of ["left", "right", "test", "then", "other"]) if (plan[name]) this.find(plan[name]);
  }

  leaf(key, leaf) {
    if (this.numbers.has(key)) return;
    this.numbers.set(key, this.leaves.length);
    this.leaves.push(leaf);
  }

  /** The values of the outputs at the active lanes; undefined if they are to be found operation by operation. */
  run(frame, mask) {
    if (this.isHard) return undefined;
    const { leaves } = this, given = new Array(leaves.length);
    let variant = mask === true ? 1 : 0; // one bit for each leaf: whether it is an array
    for (let k = 0; k < leaves.length; k += 1) {
      const leaf = leaves[k];
      let value, varies = 0;
      if (leaf.kind === "variable") {
        if (!frame.covers(leaf.slot, mask)) return undefined;
        value = frame.variables[leaf.slot];
        varies = Array.isArray(value) ? 1 : 0;
      } else if (leaf.kind === "field") {
        value = frame.fields[leaf.field];
        varies = Array.isArray(value) ? 1 : 0;
      } else value = leaf.kind === "register" ? frame.registers[leaf.array] : leaf.value;
      given[k] = value;
      variant = 2 * variant + varies;
    }
    let made = this.variants.get(variant);
    if (made === undefined) this.variants.set(variant, (made = new LoopText(this, given, mask === true).made()));
    try {
      return made(countOf(mask, frame.lanes), mask, given);
    } catch (error) {
      if (error !== REFUSED) throw error;
      return undefined;
    }
  }
}

/** The text of a loop, for leaves of which these are arrays. */
class LoopText {
  constructor(loop, given, isWhole) {
    this.loop = loop;
    this.isWhole = isWhole;
    this.varies = given.map((value, k) => ["variable", "field"].includes(loop.leaves[k].kind) && Array.isArray(value));
    this.before = loop.leaves.map((_, k) => `const v${k} = given[${k}];`);
    this.temporaries = 0;
    this.isBranch = false; // within a part that only some lanes need
  }

  temporary() {
    return `t${this.temporaries++}`;
  }

  /** The text of a value that is needed once, before the loop if all lanes agree. */
  once(part) {
    if (!part.isUniform || this.isBranch || /^\(?-?[\w.]+\)?$/.test(part.text)) return part.text;
    const name = `u${this.before.length}`;
    this.before.push(`const ${name} = ${part.text};`);
    return name;
  }

  /** The text of a plan's value at a lane, and whether all lanes agree. */
  value(plan) {
    const { numbers } = this.loop;
    switch (plan.kind) {
      case "known":
        return { text: literalText(plan.value) ?? `v${numbers.get(plan)}`, isUniform: true };
      case "variable": case "field": {
        const k = numbers.get(`${plan.kind} ${plan.kind === "field" ? plan.field : plan.slot}`);
        return this.varies[k] ? { text: `v${k}[i]`, isUniform: false } : { text: `v${k}`, isUniform: true };
      }
      case "operation": return this.operation(plan);
      case "logic": {
        const left = this.value(plan.left), right = this.branch(() => this.value(plan.right));
        const isUniform = left.isUniform && right.isUniform;
        const sign = plan.isAnd ? "&&" : "||";
        if (plan.type === "bool") return { text: `(${left.text} ${sign} ${right.text})`, isUniform };
        const name = this.temporary(), test = truthText(plan.left.type, `(${name} = ${left.text})`);
        const [yes, no] = plan.isAnd ? [right.text, name] : [name, right.text];
        return { text: `(${test} ? ${yes} : ${no})`, isUniform };
      }
      case "choose": {
        const test = this.value(plan.test);
        const [then, other] = this.branch(() => [this.value(plan.then), this.value(plan.other)]);
        const isUniform = test.isUniform && then.isUniform && other.isUniform;
        return { text: `(${this.once(test)} ? ${then.text} : ${other.text})`, isUniform };
      }
      case "register": {
        const row = this.elements(plan.elements);
        return { text: `v${numbers.get(`register ${plan.array}`)}[${row.text}][i]`, isUniform: false };
      }
      default: {
        const number = this.elements({ parts: plan.parts, extents: plan.node.shape });
        return { text: `v${numbers.get(plan)}[${number.text}]`, isUniform: number.isUniform };
      }
    }
  }

  /** What is made within a branch. */
  branch(make) {
    const outer = this.isBranch;
    this.isBranch = true;
    const made = make();
    this.isBranch = outer;
    return made;
  }

  operation({ node, held, type, parts }) {
    const values = parts.map((part) => this.value(part)), isUniform = values.every((one) => one.isUniform);
    const texts = values.map((one) => (isUniform ? one.text : this.once(one)));
    return { text: operationText(node, held, type, texts, isUniform), isUniform };
  }

  /** The text of the number of an element, whose indices are in range. */
  elements({ parts, extents }) {
    let number = null, isUniform = true;
    parts.forEach((part, axis) => {
      const at = this.value(part);
      isUniform &&= at.isUniform;
      const text = this.once({ text: `inRange(${at.text}, ${extents[axis]})`, isUniform: at.isUniform });
      number = number === null ? text : `(${number}) * ${extents[axis]} + ${text}`;
    });
    return { text: number, isUniform };
  }

  /** The text of an output. */
  output({ plan, limits, elements }) {
    if (elements) return this.elements(elements);
    const { text, isUniform } = this.value(plan);
    return { text: limits ? `within(${text}, ${limits.join(", ")})` : text, isUniform };
  }

  /** The function of the number of active lanes, the mask and the leaves. */
  made() {
    const { outputs, isValue } = this.loop, found = outputs.map((one) => this.output(one));
    const all = isValue && found[0].isUniform;
    const arrays = [], stores = [];
    found.forEach((one, k) => {
      if (all) return;
      const text = this.once(one);
      const isFilled = one.isUniform && !this.isBranch;
      arrays.push(`const o${k} = new Array(n)${isFilled ? `.fill(${text})` : ""};`);
      if (!isFilled) stores.push(`o${k}[k] = ${text};`);
    });
    const names = Array.from({ length: this.temporaries }, (_, k) => `t${k}`);
    if (names.length) this.before.unshift(`let ${names.join(", ")};`);
    let loop = "";
    if (stores.length) {
      const lane = this.isWhole ? "const i = k;" : "const i = mask[k];";
      loop = `for (let k = 0; k < n; k++) { ${lane} ${stores.join(" ")} }`;
    }
    const result = isValue ? (all ? found[0].text : "o0") : `[${found.map((_, k) => `o${k}`).join(", ")}]`;
    return compiledText(`(n, mask, given) => { ${[...this.before, ...arrays, loop].join(" ")} return ${result}; }`);
  }
}
