/*
 * Branches and loops: over ranges, while a test holds, and over tuples, which are unrolled.
 *
 * Where paths meet, after an `if` and around a loop, a name that stands for one array on every path keeps it. Otherwise
 * variables select the array.
 */
import { MergedName, keysOfAlias, textOfKey } from "./aliases.js";
import { AssignmentParser } from "./assignments.js";
import { wholeConstant } from "./elements.js";
import { targetsFor } from "./expressions.js";
import { quotedText } from "./faults.js";
import { encodedInteger, isBuiltin } from "./objects.js";
import { NO_ARRAY, RESTART, assignNode, binaryNode, constNode, isConstant, leavesOf, sameNode } from "./scope.js";
import { statementNode, varNode } from "./scope.js";
import { assignedIn, jumpsOf, languageError } from "./source.js";
import { TABLES } from "./table.js";
import { decodedNumber } from "./numbers.js";

/** Whether the end of a block is never reached. */
const endsEarly = (block) => block.length > 0 && ["Break", "Continue", "Return", "Leave"].includes(block.at(-1).node);

const scopeNode = (name, body) => statementNode("Scope", { name, body });
export const leaveNode = (scope, place) => statementNode("Leave", { scope, place });

/** Whether a number counts as true. */
const isTrue = (encoded) => {
  const value = decodedNumber(encoded);
  return typeof value === "object" ? value.re !== 0 || value.im !== 0 : Number.isNaN(value) || Boolean(value);
};

/**
 * A loop that is being parsed: `merged` are the names of arrays that it gives to others, with their `keys`, and `unset`
 * those without an array before it. An unrolled loop has a `scope`, and its trip at work a `trip`, to be left by jumps.
 */
const newLoop = () => ({ merged: new Map(), keys: new Map(), unset: [], scope: "", trip: "" });

function beginTrip(loop, bound) {
  for (const [name, merged] of loop.merged) bound.set(name, merged.alias);
  for (const name of loop.unset) bound.set(name, NO_ARRAY);
}

/** The branches and loops of one function; `within` are the loops around the one at work. */
export class LoopParser extends AssignmentParser {
  /** if test: ... else: ... */
  branch(node) {
    const test = this.expression(node.test);
    const before = this.arrayNames();
    const then = this.inner(node.body);
    const afterThen = this.arrayNames();
    for (const [name, meaning] of before) this.bound.set(name, meaning);
    const orelse = this.inner(node.orelse);
    const place = this.place(node.test);
    const [first, second] = this.mergedBranches(afterThen, then, orelse, place);
    this.emit(statementNode("If", { test, then: first, orelse: second, place }));
  }

  /** while test: ... */
  whileLoop(node) {
    this.noElse(node);
    const place = this.place(node.test);
    const loop = this.enter(node.body, place);
    this.loops += 1; // the test runs again with every iteration
    const [test, prelude] = this.apart(node.test);
    const body = this.trip(loop, node.body);
    this.loops -= 1;
    this.emit(statementNode("While", { prelude, test, body, place }));
  }

  /** for x in range(...), and over values known when the program is parsed. */
  forLoop(node) {
    this.noElse(node);
    const call = node.iter;
    if (call.kind === "Call") {
      const kind = this.captured(call.func);
      if (isBuiltin(kind, "range")) {
        const range = this.rangeOf(call);
        if (node.target.kind !== "Name") {
          throw this.refuse(node.target, "a loop over a range has one variable here");
        }
        this.forRange(node, node.target, range);
        return;
      }
      if (isBuiltin(kind, "enumerate") && this.counted(node, call)) return;
    }
    this.unroll(node, this.items(call, node.target));
  }

  /** Start, stop and step of range(...). */
  rangeOf(call) {
    if (call.args.length < 1 || call.args.length > 3 || call.keywords.length) {
      throw this.refuse(call, "range takes one, two or three numbers");
    }
    let parts = this.operands(...call.args);
    if (parts.length === 1) parts = [constNode(0), ...parts];
    const [start, stop, step] = [...parts, constNode(1)];
    if (isConstant(step, 0)) throw this.refuse(call, "the step of a range can't be 0");
    return { start, stop, step };
  }

  /** A loop over a range; `counter` is the name that counts its trips, and its variable. */
  forRange(node, target, range, counter = null) {
    const role = this.role(target.id);
    if (role !== null) throw this.twoKinds(target, role);
    const place = this.place(node.iter);
    const name = this.variable(target);
    const loop = this.enter(node.body, place);
    this.loops += 1;
    const before = [];
    if (counter !== null) {
      const [own, count] = counter;
      const last = this.place(own);
      const more = binaryNode("+", varNode(count, last), constNode(1), last);
      before.push(assignNode(this.variable(own), varNode(count, last), last), assignNode(count, more, last));
    }
    const body = [...before, ...this.trip(loop, node.body)];
    this.loops -= 1;
    this.emit(statementNode("For", { target: name, ...range, body, place }));
  }

  /** A loop over enumerate(range(...)), with a counter; return whether it is one. */
  counted(node, call) {
    const [inner] = call.args;
    if (inner?.kind !== "Call" || !isBuiltin(this.captured(inner.func), "range")) return false;
    const names = node.target.kind === "Tuple" ? node.target.elts : [];
    if (names.length !== 2 || names.some((one) => one.kind !== "Name")) {
      throw this.refuse(node.target, "a loop over enumerate(range(...)) has two variables here");
    }
    const range = this.rangeOf(inner);
    const count = this.unit.unique("trip");
    this.emit(assignNode(count, this.firstNumber(call), this.place(call)));
    this.forRange(node, names[1], range, [names[0], count]);
    return true;
  }

  /** The first number of enumerate(x, start). */
  firstNumber(call) {
    const named = call.keywords.filter((one) => one.arg === "start").map((one) => one.value);
    const more = [...call.args.slice(1), ...named];
    if (!call.args.length || more.length > 1 || more.length !== call.args.length - 1 + call.keywords.length) {
      throw this.refuse(call, "enumerate takes a tuple or a range, and a first number");
    }
    return more.length ? this.expression(more[0]) : constNode(0);
  }

  /** A loop's values by iteration, if they are known when the program is parsed. */
  items(node, target = null) {
    if (node.kind === "Tuple" || node.kind === "List") return this.tupleOf(node.elts, node.elts.map(() => target));
    if (node.kind === "Call") {
      const kind = this.captured(node.func);
      if (isBuiltin(kind, "range")) return this.knownRange(node);
      if (isBuiltin(kind, "enumerate")) {
        const first = wholeConstant(this.firstNumber(node));
        if (first === null) throw this.refuse(node, "the first number must be a constant");
        const inner = this.items(node.args[0], targetsFor(target, 2)[1]);
        return inner.map((item, trip) => [constNode(encodedInteger(first + BigInt(trip))), item]);
      }
      const isZip = isBuiltin(kind, "zip") && node.args.length;
      if (isZip && node.keywords.every((one) => one.arg === "strict")) return this.zipped(node, target);
    }
    if (this.givesTuple(node) || node.kind === "Attribute") {
      const value = this.value(node);
      if (Array.isArray(value)) return value;
    }
    const advice = "write for i in range(n), or for x in (1, 2, 3)";
    throw this.refuse(node, "a for loop runs over range(...) or a tuple here", advice);
  }

  /** The numbers of a range inside zip or enumerate. */
  knownRange(node) {
    const range = this.rangeOf(node);
    const [start, stop, step] = [range.start, range.stop, range.step].map(wholeConstant);
    if (start === null || stop === null || step === null) {
      const advice = "loop over the range alone, and compute the rest from its variable";
      throw this.refuse(node, "the length of this range must be known before the run here", advice);
    }
    const size = step > 0n ? (stop - start + step - 1n) / step : (start - stop - step - 1n) / -step;
    const trips = (step > 0n ? stop > start : stop < start) ? Number(size) : 0;
    this.countTrips(trips, node);
    return Array.from({ length: trips }, (_, trip) => constNode(encodedInteger(start + step * BigInt(trip))));
  }

  /** The tuples of zip(x, y). */
  zipped(node, target) {
    const targets = targetsFor(target, node.args.length);
    const parts = node.args.map((part, at) => this.items(part, targets[at]));
    const shortest = Math.min(...parts.map((part) => part.length));
    const isSame = parts.every((part) => part.length === shortest);
    for (const { value } of node.keywords) {
      const strict = isSame ? constNode(false) : this.expression(value);
      if (strict.node === "Const" && isTrue(strict.value)) {
        throw this.refuse(node, "zip(..., strict=True) of tuples of several sizes");
      }
    }
    return Array.from({ length: shortest }, (_, at) => parts.map((part) => part[at]));
  }

  /** Refuse a program whose unrolled loops grow without bound. */
  countTrips(trips, node) {
    const most = TABLES.vocabulary.limits.trips;
    this.unit.trips += trips;
    if (this.unit.trips > most) {
      const message = `the program grows to more than ${most} iterations of loops over tuples`;
      const advice = "each iteration is a copy of the loop's body; loop over range(n) and read a table";
      throw this.refuse(node, message, advice);
    }
  }

  /** A loop over a tuple: its body, once for each value. */
  unroll(node, given) {
    this.countTrips(given.length, node.iter);
    const place = this.place(node.iter);
    let items = given;
    if (leavesOf(items).length > 1) items = items.map((item) => this.spillAll(item, place));
    const jumps = jumpsOf(node.body);
    const loop = jumps.length ? this.enter(node.body, place) : newLoop();
    if (jumps.length) loop.scope = this.unit.unique("loop");
    const [, block] = this.aside(() => {
      for (const item of items) {
        loop.trip = jumps.length ? this.unit.unique("trip") : "";
        const [body, before] = this.aside(() => {
          this.depth += 1;
          this.assign(node.target, item, node.iter);
          this.depth -= 1;
          return this.trip(loop, node.body);
        });
        const trip = [...before, ...body];
        const isLeft = jumps.some((jump) => jump.kind === "Continue");
        this.block.push(...(isLeft ? [scopeNode(loop.trip, trip)] : trip));
      }
    });
    if (jumps.some((jump) => jump.kind === "Break")) this.emit(scopeNode(loop.scope, block));
    else this.block.push(...block);
  }

  /** One trip of a loop; then its names get the values for the start of the next trip. */
  trip(loop, body) {
    this.within.push(loop);
    const block = this.inner(body);
    this.within.pop();
    const [, end] = this.aside(() => {
      if (!endsEarly(block)) this.keepNames(loop, this.place(body.at(-1)));
    });
    beginTrip(loop, this.bound);
    return [...block, ...end];
  }

  /** Refuse else after a loop. */
  noElse(node) {
    if (node.orelse.length) {
      throw this.refuse(node.orelse[0], "else after a loop isn't in the language", "use a variable");
    }
  }

  /** break and continue. */
  jump(node) {
    const loop = this.within.at(-1);
    const place = this.place(node);
    this.keepNames(loop, place);
    const scope = node.kind === "Break" ? loop.scope : loop.trip;
    this.emit(scope ? leaveNode(scope, place) : statementNode(node.kind, { place }));
  }

  // Names of arrays where paths meet

  /** Both branches of an `if`; each name stands for one thing after them. */
  mergedBranches(afterThen, then, orelse, place) {
    if (endsEarly(orelse) && !endsEarly(then)) for (const [name, meaning] of afterThen) this.bound.set(name, meaning);
    if (endsEarly(then) || endsEarly(orelse)) return [then, orelse];
    const [first, second] = [[...then], [...orelse]];
    for (const [name, meaning] of afterThen) {
      const [one, other] = [this.standsFor(meaning), this.standsFor(this.bound.get(name))];
      const isSame = sameNode(one, other);
      if (one !== null && other !== null && !isSame) {
        this.bound.set(name, this.met([first, one], [second, other], place));
      } else if (!isSame) this.bound.set(name, NO_ARRAY);
    }
    return [first, second];
  }

  /** Begin a loop: names that its body gives to other arrays are variables from here on. */
  enter(body, place) {
    const { unit } = this;
    const [loop, renamed] = [newLoop(), new Set(assignedIn(body))];
    unit.loops += 1;
    for (const [name, meaning] of this.arrayNames()) {
      if (!renamed.has(name)) continue;
      const entry = this.standsFor(meaning);
      if (entry === null) {
        loop.unset.push(name);
        continue;
      }
      const key = `${unit.loops}:${name}`;
      if (!unit.known.keys.has(key)) unit.known.keys.set(key, new Map());
      const known = unit.known.keys.get(key);
      for (const one of keysOfAlias(entry)) known.set(textOfKey(one), one);
      const here = [...known.values()].filter((one) => unit.arrays.includes(one.array));
      const merged = new MergedName(here, place, unit);
      loop.keys.set(name, known);
      loop.merged.set(name, merged);
      this.block.push(...merged.settings(entry, place, true));
    }
    beginTrip(loop, this.bound);
    return loop;
  }

  /**
   * Set the variables of a loop's names before the trip ends.
   *
   * A name that stands for one more array now does so from the begin of the loop on: parsing begins again with it.
   */
  keepNames(loop, place) {
    let [settings, isNew] = [[], false];
    for (const [name, merged] of loop.merged) {
      const alias = this.standsFor(this.bound.get(name));
      const keys = loop.keys.get(name);
      const more = keysOfAlias(alias).filter((one) => !keys.has(textOfKey(one)));
      const isMissing = alias === null || !(more.length || merged.holds(alias));
      if (isMissing || more.some((one) => one.axes.length > TABLES.vocabulary.limits.fixed)) {
        const message = `${quotedText(name)} may not name one array after this iteration of the loop`;
        throw languageError(message, place, "assign an array to it on every path through the loop's body");
      }
      for (const one of more) keys.set(textOfKey(one), one);
      isNew ||= more.length > 0;
      if (!more.length) settings.push(...merged.settings(alias, place, false));
    }
    if (isNew) throw RESTART;
    if (settings.length > 1) settings = settings.map((one) => ({ ...one, value: this.spill(one.value, place) }));
    this.block.push(...settings);
  }
}
