import { Evaluator } from "./evaluation.js";
import { exchanged, refuseWideWarps } from "./exchange.js";
import { Frame, Request, Spinning, Waiting, countOf, firstOf, frameFields } from "./frame.js";
import { gathered, partedBy, spreadOut, unionOf, withoutLanes, zeroRegisters } from "./frame.js";
import { addInt64, multiplyInt64, textOf, zeroOf } from "./numbers.js";
import { refuseParted } from "./parted.js";
import { Trips } from "./trips.js";
import { refuseUnaligned } from "./vectors.js";
import { accessesOf, expressionsOf, hasEffect, statementsOf, storedOf, targetsOf } from "./walk.js";

/* The meaning of a program: the one place that executes statements; as `mmsim/meaning/meaning.py`.

   A run is a generator. It gives each memory access (`Request`) and each barrier (`Waiting`) to its driver, which sends
   it the values read. Lanes that branch differently run the two parts in turn, the then-part first. A statement takes
   the mask of active lanes and returns the mask of those that go on to the next statement.

   A statement is *last* if none behind it has an effect, whichever way the lanes go. Lanes that leave such a statement
   have nothing more to do, just like lanes that have returned: no barrier within it waits for them.

   A statement is {execute} without access to memory, {begin, finish} for an access, else {steps}, a generator. */

/** The names for the lanes that have left a loop, a trip of a loop, a scope. */
const brokenName = (loop) => `loop ${loop}`;
const continuedName = (loop) => `trip of loop ${loop}`;
const leftName = (scope) => `scope ${scope}`;

/** The engines' view of an access of the text. */
const siteOf = (access) => {
  const { node, site, array, place } = access;
  const facts = { number: site, array, place, op: null, returns: false, vector: 1 };
  if (node === "Atomic") return { ...facts, kind: "atomic", op: access.op, returns: access.target !== null };
  if (node === "Load" || node === "VectorLoad") {
    return { ...facts, kind: "read", vector: Math.max(targetsOf(access).length, 1) };
  }
  return { ...facts, kind: "write", vector: storedOf(access).length };
};

/** The lanes for which a loop goes on, and those that have left it at its test. */
const staying = (mask, stay, done, lanes) => {
  const [inside, gone] = partedBy(mask, stay);
  return [inside, gone === false ? done : unionOf(done, gone, lanes)];
};

/** The number of iterations of range(start, stop, step); negative counts as none. */
const tripCount = (start, stop, step) => {
  const isUp = step > 0;
  if (typeof start === "number" && typeof stop === "number" && typeof step === "number") {
    const way = isUp ? stop - start : start - stop;
    return way > 0 ? Math.floor((way - 1) / Math.abs(step)) + 1 : 0;
  }
  const [first, last, by] = [start, stop, step].map(BigInt), way = isUp ? last - first : first - last;
  return way > 0n ? Number((way - 1n) / (isUp ? by : -by)) + 1 : 0;
};

/** A program that is ready to run: `sites` are all accesses in the order of the text; see `Evaluator` for more. */
class Meaning extends Evaluator {
  constructor(lowered, launch) {
    super(lowered, launch);
    const { body, locals } = this.code;
    this.sites = accessesOf(body).map(siteOf);
    this.registerArrays = locals.filter((one) => one.kind === "registers").map((one) => one.name);
    this.loops = [];
    this.lastOnes = new Set(); // the last loops and scopes, by their leavers' names
    this.loopCount = 0;
    this.maySpin = statementsOf(body).some((one) => one.node === "While");
    this.run = this.block(body, true);
  }

  /** The state of a warp's lanes, or (null) of all threads, before their first statement. */
  frame(grid, warp) {
    const [lanes, fields] = frameFields(grid, warp, this.fields);
    return new Frame(lanes, fields, this.slotCount, Object.fromEntries(
      this.registerArrays.map((name) => [name, this.zeros(name, lanes)]),
    ));
  }

  zeros(name, lanes) {
    const size = this.locals[name].reduce((product, extent) => product * extent, 1);
    return zeroRegisters(size, lanes, this.lowered.arrays[name]);
  }

  /** Run the program for the lanes of a frame. */
  start(frame) {
    return this.run(frame, true);
  }

  // Statements

  /** The statements of a block; with `ends` the lanes that leave it have no more to do. */
  block(block, isLast = false, ends = false) {
    const items = block.map((one, at) => this.statement(one, isLast && !hasEffect(block.slice(at + 1))));
    return function* run(frame, mask) {
      for (const item of items) {
        if (item.execute !== undefined) mask = item.execute(frame, mask);
        else if (item.begin !== undefined) {
          const request = item.begin(frame, mask), values = yield request;
          if (item.finish !== null) item.finish(frame, values, mask);
        } else mask = yield* item.steps(frame, mask);
        if (mask === false) return false;
      }
      if (ends) frame.idle = unionOf(frame.idle, mask, frame.lanes);
      return mask;
    };
  }

  statement(statement, mayBeLast) {
    const isLast = mayBeLast && statementsOf([statement]).some((one) => one.node === "Barrier");
    switch (statement.node) {
      case "Assign": return { execute: this.assign(statement) };
      case "Load": case "Store": case "Atomic": return this.access(statement);
      case "VectorLoad": case "VectorStore": return this.vectorAccess(statement);
      case "RegisterWrite": return { execute: this.registerWrite(statement) };
      case "If": return { steps: this.branch(statement, isLast) };
      case "While": return { steps: this.whileLoop(statement, isLast) };
      case "For": return { steps: this.forLoop(statement, isLast) };
      case "Break": return this.leave(brokenName(this.loops.at(-1)));
      case "Continue": return this.leave(continuedName(this.loops.at(-1)));
      case "Return": return { execute: this.end(statement) };
      case "Forget": return { execute: this.forget(statement) };
      case "Scope": return { steps: this.scope(statement, isLast) };
      case "Leave": return this.leave(leftName(statement.scope));
      case "Barrier": return { steps: this.barrier(statement) };
      case "Exchange": return { execute: this.exchange(statement) };
      default: throw new Error(`the interpreter has no case for the node ${statement.node}`);
    }
  }

  /** A jump out of a loop, a trip or a scope; a variable keeps the lanes. */
  leave(leavers) {
    const slot = this.slot(leavers), isLast = this.lastOnes.has(leavers);
    return {
      execute: (frame, mask) => {
        if (isLast) frame.idle = unionOf(frame.idle, mask, frame.lanes);
        frame.variables[slot] = unionOf(frame.variables[slot], mask, frame.lanes);
        return false;
      },
    };
  }

  /** The end of lanes; with a message, their exception. */
  end({ place, message, value }) {
    const found = value ? this.evaluate(value) : null;
    return (frame, mask) => {
      if (message !== null) {
        const shown = found === null ? null : found(frame, mask);
        const text = shown === null
          ? message
          : message.replace("{}", textOf(Array.isArray(shown) ? shown[0] : shown, this.of(value)));
        this.fault("RaisedError", text, place, frame, firstOf(mask));
      }
      frame.live = withoutLanes(frame.live, mask, frame.lanes);
      return false;
    };
  }

  /** The beginning of a call: its variables are unassigned, its registers hold 0. */
  forget({ names, registers }) {
    const slots = names.map((name) => this.slot(name));
    return (frame, mask) => {
      for (const slot of slots) frame.forget(slot, mask);
      for (const name of registers) {
        if (mask === true) frame.registers[name] = this.zeros(name, frame.lanes);
        else {
          const zero = zeroOf(this.lowered.arrays[name]);
          frame.registers[name] = frame.registers[name].map((row) => {
            const own = row.slice();
            for (const lane of mask) own[lane] = zero;
            return own;
          });
        }
      }
      return mask;
    };
  }

  /** The body of a call; lanes that leave it go on behind it. */
  scope({ name, body }, isLast) {
    if (isLast) this.lastOnes.add(leftName(name));
    const leavers = this.slot(leftName(name)), block = this.block(body, isLast, isLast);
    return function* steps(frame, mask) {
      frame.variables[leavers] = false;
      const through = yield* block(frame, mask);
      return unionOf(through, frame.variables[leavers], frame.lanes);
    };
  }

  assign({ target, value }) {
    const slot = this.slot(target), found = this.evaluate(value), nothing = zeroOf(this.lowered.variables[target]);
    return (frame, mask) => {
      frame.put(slot, found(frame, mask), mask, nothing);
      return mask;
    };
  }

  access(access) {
    const { array, place } = access, site = this.sites[access.site];
    const elements = this.elements(access);
    const words = storedOf(access).map((value) => this.word(array, value, place));
    const evaluate = this.evaluateAccess(elements, words), isCompared = words.length > 1;
    const begin = (frame, mask) => {
      this.step(frame, mask, place);
      const found = evaluate(frame, mask), lanes = mask === true ? null : mask;
      const brought = words.length ? found[words.length] : null;
      return new Request(site, found[0], lanes, brought, isCompared ? found[1] : null);
    };
    const target = access.node === "Store" ? null : access.target;
    if (target === null) return { begin, finish: null };
    const slot = this.slot(target), nothing = zeroOf(this.lowered.arrays[array]);
    return { begin, finish: (frame, values, mask) => frame.put(slot, values, mask, nothing) };
  }

  /** A lane accesses n adjacent elements: vector i of an array's last axis holds the elements n*i .. n*i + n-1. */
  vectorAccess(access) {
    const { array, place } = access, site = this.sites[access.site], count = site.vector;
    const elements = this.elements(access, count);
    const words = storedOf(access).map((value) => this.word(array, value, place));
    const check = (frame, mask, numbers) => refuseUnaligned(this, frame, mask, numbers, access, count);
    const evaluate = this.evaluateAccess(elements, words, check);
    const begin = (frame, mask) => {
      this.step(frame, mask, place);
      const [numbers, ...columns] = evaluate(frame, mask), size = numbers.length * count;
      const every = new Array(size), lanes = new Array(size), values = columns.length ? new Array(size) : null;
      for (let at = 0; at < size; at += 1) {
        const k = Math.floor(at / count), part = at % count;
        every[at] = numbers[k] * count + part;
        lanes[at] = mask === true ? k : mask[k];
        if (values !== null) values[at] = columns[part][k];
      }
      return new Request(site, every, lanes, values, null);
    };
    const slots = targetsOf(access).map((name) => this.slot(name)), nothing = zeroOf(this.lowered.arrays[array]);
    if (slots.length === 0) return { begin, finish: null };
    const finish = (frame, values, mask) => slots.forEach((slot, part) => {
      frame.put(slot, values.filter((_, at) => at % count === part), mask, nothing);
    });
    return { begin, finish };
  }

  registerWrite(statement) {
    const { array, value, place } = statement;
    const evaluate = this.evaluateAccess(this.elements(statement), [this.word(array, value, place)]);
    return (frame, mask) => {
      const [elements, words] = evaluate(frame, mask), rows = frame.registers[array].slice(), own = new Set();
      for (let k = 0; k < elements.length; k += 1) {
        const element = elements[k];
        if (!own.has(element)) { // rows are never changed in place
          own.add(element);
          rows[element] = rows[element].slice();
        }
        rows[element][mask === true ? k : mask[k]] = words[k];
      }
      frame.registers[array] = rows;
      return mask;
    };
  }

  branch({ test, then: first, orelse: second, place }, isLast) {
    let condition = test, [then, orelse] = [first, second];
    if (isLast && !hasEffect(orelse)) { // those without more to do come first
      condition = { node: "Unary", op: "not", operand: test, place };
      [then, orelse] = [orelse, then];
    }
    const chosen = this.evaluate(condition);
    const ofYes = this.block(then, isLast, isLast), ofNo = this.block(orelse, isLast, isLast);
    return function* steps(frame, mask) {
      const [yes, no] = partedBy(mask, chosen(frame, mask));
      if (no === false) return yield* ofYes(frame, mask);
      if (yes === false) return yield* ofNo(frame, mask);
      const one = yield* ofYes(frame, yes), other = yield* ofNo(frame, no);
      if (one === yes && other === no) return mask; // no lane left on the way
      return unionOf(one, other, frame.lanes);
    };
  }

  /** The leavers' slot of a new loop, and one iteration of it, which returns the lanes that go on to the next one. */
  loop(body, isLast) {
    this.loopCount += 1;
    const loop = this.loopCount;
    if (isLast) this.lastOnes.add(brokenName(loop));
    this.loops.push(loop);
    const block = this.block(body);
    this.loops.pop();
    const leavers = this.slot(continuedName(loop));
    function* iteration(frame, mask) {
      frame.variables[leavers] = false;
      const through = yield* block(frame, mask);
      return unionOf(through, frame.variables[leavers], frame.lanes);
    }
    return [this.slot(brokenName(loop)), iteration];
  }

  whileLoop({ test, prelude, body, place }, isLast) {
    const stays = this.evaluate(test), before = this.block(prelude), meaning = this;
    const [leavers, iteration] = this.loop(body, isLast);
    return function* steps(frame, mask) {
      const trips = frame.changes ? new Trips(frame.changes) : null;
      let done = false;
      frame.variables[leavers] = false;
      while (mask !== false) {
        mask = yield* before(frame, mask);
        [mask, done] = staying(mask, stays(frame, mask), done, frame.lanes);
        if (isLast) frame.idle = unionOf(frame.idle, done, frame.lanes);
        if (mask === false) break;
        meaning.step(frame, mask, place);
        if (trips !== null && trips.repeat(frame, mask)) yield new Spinning(place, mask);
        mask = yield* iteration(frame, mask);
      }
      return unionOf(done, frame.variables[leavers], frame.lanes);
    };
  }

  forLoop(statement, isLast) {
    const { target, body, place } = statement, meaning = this;
    const slot = this.slot(target), bounds = expressionsOf(statement).map((bound) => this.evaluate(bound));
    const [leavers, iteration] = this.loop(body, isLast);
    return function* steps(frame, mask) {
      const found = bounds.map((bound) => bound(frame, mask)), step = found[2];
      const zero = Array.isArray(step) ? step.indexOf(0) : step === 0 ? 0 : -1;
      if (zero >= 0) {
        meaning.fault("ArithmeticFault", "the step of a range is 0", place, frame, mask === true ? zero : mask[zero]);
      }
      const [starts, stops, by] = found.map((value) => spreadOut(value, mask, frame.lanes, 1));
      const entry = (value, lane) => (Array.isArray(value) ? value[lane] : value);
      const count = (lane) => tripCount(entry(starts, lane), entry(stops, lane), entry(by, lane));
      const differ = found.some(Array.isArray);
      const trips = differ ? Array.from({ length: frame.lanes }, (_, lane) => count(lane)) : count(0);
      const isUniform = !Array.isArray(starts) && !Array.isArray(by);
      const at = (trip, lane) => addInt64(entry(starts, lane), multiplyInt64(trip, entry(by, lane)));
      let done = false;
      frame.variables[leavers] = false;
      for (let trip = 0; mask !== false; trip += 1) {
        const stay = Array.isArray(trips) ? gathered(trips, mask).map((most) => trip < most) : trip < trips;
        [mask, done] = staying(mask, stay, done, frame.lanes);
        if (isLast) frame.idle = unionOf(frame.idle, done, frame.lanes);
        if (mask === false) break;
        meaning.step(frame, mask, place);
        frame.put(slot, isUniform ? at(trip, 0) : valuesAt(at, trip, mask, frame.lanes), mask);
        mask = yield* iteration(frame, mask);
      }
      return unionOf(done, frame.variables[leavers], frame.lanes);
    };
  }

  barrier({ place, scope, op, test, target }) {
    this.fields.add("warp");
    const found = test ? this.evaluate(test) : null, slot = target === null ? null : this.slot(target), meaning = this;
    return function* steps(frame, mask) {
      refuseParted(meaning, frame, mask, place);
      const given = found === null ? null : spreadOut(found(frame, mask), mask, frame.lanes, false);
      const result = yield new Waiting(place, mask, scope, op, given);
      if (slot !== null) frame.put(slot, gathered(result, mask), mask);
      return mask;
    };
  }

  exchange(statement) {
    const { op, place, operands, target } = statement;
    refuseWideWarps(statement, this.width, this.uniform.block_size, this.code.name);
    this.fields.add("lane");
    const values = operands.map((value) => this.evaluate(value));
    const slot = target === null ? null : this.slot(target);
    return (frame, mask) => {
      const given = values.map((value) => value(frame, mask));
      if (op === "sync") {
        if (frame.synced !== null) frame.synced(mask);
        return mask;
      }
      const fault = (kind, message, lane, other) => this.fault(kind, message, place, frame, lane, { other });
      const found = exchanged(frame, mask, this.width, op, given, fault);
      if (slot !== null) frame.put(slot, found, mask);
      return mask;
    };
  }
}

/** The value of a loop's variable in a trip, for each active lane. */
const valuesAt = (at, trip, mask, lanes) => {
  const values = new Array(countOf(mask, lanes));
  for (let k = 0; k < values.length; k += 1) values[k] = at(trip, mask === true ? k : mask[k]);
  return values;
};

/** The meaning of a lowered program, without CUDA's indices, for a launch. */
export const meaningOf = (lowered, launch) => new Meaning(lowered, launch);
