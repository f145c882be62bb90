import { expressionsOf, isOf, partsOf, statementsOf, storedOf, targetsOf } from "./walk.js";

/* The registers that a program needs: `mmsim.ir.liveness` defines them, `mmsim.ir.graph` the steps of a program. */

/** The names of variables and of register arrays in expressions. */
const heldNamesIn = (values) =>
  values.flatMap((value) => partsOf(value)).flatMap((part) => {
    if (part.node === "Var") return [part.name];
    return part.node === "RegisterRead" ? [part.array] : [];
  });

/** The variables and register arrays whose values enter a value: not the index of a register, nor a choice's test. */
const sourcesOf = (value) => {
  if (value.node === "Var") return [value.name];
  if (value.node === "RegisterRead") return [value.array];
  return expressionsOf(value).slice(value.node === "Choose" ? 1 : 0).flatMap(sourcesOf);
};

/**
 * The control flow of a program, built from its end. A step {next, target, keeps, value, asks, isAccess, reads, clears}
 * evaluates `value` and sets `target` to it, or writes it to memory without one; with `reads` the value comes from
 * memory. The target `keeps` its earlier value if that isn't certain. `clears` are names that hold nothing afterwards.
 */
class ControlFlow {
  constructor(body) {
    this.steps = [];
    this.end = this.add({ next: [] });
    this.entry = this.block(body, this.end, { leave: this.end, again: this.end, scopes: {} });
  }

  add(step) {
    const nothing = { target: null, keeps: false, value: null, asks: [], isAccess: false, reads: false, clears: [] };
    return this.steps.push({ ...nothing, ...step }) - 1;
  }

  /** The first step of a block that goes on at the step `after`. */
  block(block, after, jumps) {
    return block.reduceRight((next, statement) => this.statement(statement, next, jumps), after);
  }

  statement(statement, after, jumps) {
    const { node, target } = statement;
    const next = [after];
    switch (node) {
      case "Assign":
        return this.add({ next, target, value: statement.value });
      case "RegisterWrite":
        return this.add({ next, target: statement.array, keeps: true, value: statement.value, asks: statement.index });
      case "If": {
        const sides = [this.block(statement.then, after, jumps), this.block(statement.orelse, after, jumps)];
        return this.add({ next: sides, asks: [statement.test] });
      }
      case "While": {
        const back = this.add({ next: [] });
        const going = this.block(statement.body, back, { leave: after, again: back, scopes: jumps.scopes });
        const tested = this.add({ next: [going, after], asks: [statement.test] });
        const first = this.block(statement.prelude, tested, jumps);
        this.steps[back].next = [first];
        return first;
      }
      case "For":
        return this.loop(statement, after, jumps);
      case "Break":
        return jumps.leave;
      case "Continue":
        return jumps.again;
      case "Return":
        return this.end;
      case "Leave":
        return jumps.scopes[statement.scope];
      case "Scope":
        return this.block(statement.body, after, { ...jumps, scopes: { ...jumps.scopes, [statement.name]: after } });
      case "Forget":
        return this.add({ next, clears: [...statement.names, ...statement.registers] });
      case "Exchange":
      case "Barrier": {
        const given = expressionsOf(statement);
        if (target === null || given.length === 0) {
          return this.add({ next, clears: target === null ? [] : [target], asks: given });
        }
        return this.add({ next, target, value: given[0], asks: given.slice(1) });
      }
      default:
        return this.access(statement, after);
    }
  }

  /** A step for each word: those written first, then those read; the first of all accesses. */
  access(access, after) {
    let words = storedOf(access);
    let asks = access.index;
    if (access.node === "Atomic") {
      asks = [...asks, ...words.slice(0, -1)];
      words = [access.value];
    }
    const read = access.node === "Load" || access.node === "Atomic" ? [access.target] : targetsOf(access);
    const steps = [...words.map((value) => ({ value })), ...read.map((target) => ({ target, reads: true }))];
    const next = steps.slice(1).reduceRight((following, step) => this.add({ ...step, next: [following] }), after);
    return this.add({ ...steps[0], next: [next], asks, isAccess: true });
  }

  /** A loop keeps its end, its step, and a counter: the target, unless the body sets it. */
  loop(loop, after, jumps) {
    const back = this.add({ next: [] });
    const { place, target } = loop;
    const sets = statementsOf(loop.body).some((one) => isOf(one, "Setting") && targetsOf(one).includes(target));
    const variable = (name) => ({ node: "Var", name, place });
    const counter = variable(sets ? `counter ${back}` : target);
    const [stop, step] = [variable(`stop ${back}`), variable(`step ${back}`)];
    const value = { node: "Binary", op: "+", left: counter, right: step, place };
    const again = this.add({ next: [back], target: counter.name, value });
    let going = this.block(loop.body, again, { leave: after, again, scopes: jumps.scopes });
    if (sets) going = this.add({ next: [going], target, value: counter });
    const tested = this.add({ next: [going, after], asks: [counter, stop, step] });
    this.steps[back].next = [tested];
    let first = this.add({ next: [tested], target: counter.name, keeps: true, value: loop.start });
    for (const [name, given] of [[step.name, loop.step], [stop.name, loop.stop]]) {
      first = this.add({ next: [first], target: name, value: given });
    }
    return first;
  }
}

/** The registers that a program needs: {data, words}; `sizes` are the words of its `mm.registers` arrays. */
export const registersOf = (body, sizes) => {
  const { steps, entry } = new ControlFlow(body);
  const bits = new Map(); // a set of names is a BigInt
  const setOf = (names) => {
    let joined = 0n;
    for (const name of names) {
      if (!bits.has(name)) bits.set(name, 1n << BigInt(bits.size));
      joined |= bits.get(name);
    }
    return joined;
  };
  const targets = steps.map(({ target }) => setOf(target ? [target] : []));
  const ends = steps.map(({ target, keeps, clears }) => setOf(target === null || keeps ? clears : [target]));
  const sources = steps.map(({ value }) => setOf(value ? sourcesOf(value) : []));

  /** The words of a set of variables and arrays. */
  const sizeOf = (joined) => {
    let size = 0;
    for (const [name, bit] of bits) if (joined & bit) size += sizes[name] ?? 1;
    return size;
  };

  /** The names that may hold a word before each step. */
  const held = steps.map(() => 0n);
  const reached = new Set([entry]);
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (let at = steps.length - 1; at >= 0; at--) {
      if (!reached.has(at)) continue;
      let after = held[at] & ~ends[at];
      if (steps[at].reads || held[at] & sources[at]) after |= targets[at];
      for (const following of steps[at].next) {
        if (reached.has(following) && !(after & ~held[following])) continue;
        reached.add(following);
        held[following] |= after;
        isChanged = true;
      }
    }
  }

  /** The names before each step whose values a later one may use: in a write, or (unless `onlyData`) in any way. */
  const live = (onlyData) => {
    const asked = steps.map(({ asks }) => (onlyData ? 0n : setOf(heldNamesIn(asks))));
    const valued = onlyData ? sources : steps.map(({ value }) => setOf(value ? heldNamesIn([value]) : []));
    const found = steps.map(() => 0n);
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      steps.forEach(({ next, target }, at) => {
        const after = next.reduce((joined, following) => joined | found[following], 0n);
        let here = asked[at] | (after & ~ends[at]);
        if (target === null || after & targets[at]) here |= valued[at];
        if (here !== found[at]) isChanged = true;
        found[at] = here;
      });
    }
    return found;
  };
  const atAccess = (found, { isAccess }, at) => (isAccess ? sizeOf(found[at] & held[at]) : 0);
  const most = (found) => Math.max(0, ...steps.map((step, at) => atAccess(found, step, at)));
  return { data: most(live(true)), words: most(live(false)) };
};
