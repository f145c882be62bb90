import { accessesOf, blocksOf, expressionsOf, partsOf, statementsOf } from "./walk.js";
import { storedOf, targetsOf, writtenArrays } from "./walk.js";

/** Stands among names for the values read; no variable that a program can see has this name. */
const FROM_MEMORY = "memory";

/** Idempotent operators: a second application with the same value changes nothing. */
const HARMLESS = ["min", "max", "&", "|"];

/** The statements that bring values from memory, without and with atomics. */
const LOADS = ["Load", "VectorLoad"];
const BRINGING = [...LOADS, "Atomic"];
const LOOPS = ["For", "While"];

/** The variables and the register arrays in expressions. */
const namesIn = (values) => {
  const found = new Set();
  for (const part of values.flatMap((value) => partsOf(value))) {
    if (part.node === "Var") found.add(part.name);
    else if (part.node === "RegisterRead") found.add(part.array);
  }
  return found;
};

/** The names that a statement sets. */
const setBy = (statement) => (statement.node === "RegisterWrite" ? [statement.array] : targetsOf(statement));

/** Add names to a set. */
const addAll = (set, names) => {
  for (const name of names) set.add(name);
};

/**
 * The names that decide whether a jump skips a part of a block. In an inner loop a `break` or a `continue` skips
 * nothing of the block.
 */
const jumpsIn = (block, control = new Set(), isInner = false) => {
  const found = new Set();
  for (const one of block) {
    if (one.node === "Leave" || (["Break", "Continue"].includes(one.node) && !isInner)) addAll(found, control);
    const around = new Set([...control, ...namesIn(expressionsOf(one))]);
    for (const inner of blocksOf(one)) {
      if (one.node === "While" && inner === one.prelude) continue;
      addAll(found, jumpsIn(inner, around, isInner || LOOPS.includes(one.node)));
    }
  }
  return found;
};

/** The dependences of a loop's variables: `on` has the names behind the assignments of each. */
class Dependences {
  constructor(loop) {
    this.on = new Map();
    this.loads = [];
    this.end = namesIn([loop.test]);
    this.block(loop.prelude, new Set(), true);
    this.block(loop.body, jumpsIn(loop.body), true);
  }

  /** The reads whose values decide whether the loop ends. */
  loadsOfTheEnd() {
    const behind = this.behind(this.end);
    return this.loads.filter((load) => targetsOf(load).some((name) => behind.has(name)));
  }

  /** Whether an index depends on a value read, or on its own last value. */
  moves(index) {
    return [...this.behind(namesIn(index))].some((name) => {
      const own = this.behind(this.on.get(name) ?? []);
      return own.has(FROM_MEMORY) || own.has(name);
    });
  }

  /** Names and all on which they depend. */
  behind(first) {
    const found = new Set(), left = [...first];
    while (left.length) {
      const name = left.pop();
      if (found.has(name)) continue;
      found.add(name);
      left.push(...(this.on.get(name) ?? []));
    }
    return found;
  }

  /**
   * Note the dependences of a block. `control` are the names that decide whether it is run, and `isOwn` says that a
   * `break` in it leaves the loop itself.
   */
  block(block, control, isOwn) {
    for (const one of block) {
      const read = namesIn(expressionsOf(one)), isBrought = BRINGING.includes(one.node);
      for (const name of setBy(one)) {
        if (!this.on.has(name)) this.on.set(name, new Set());
        addAll(this.on.get(name), [...read, ...control, ...(isBrought ? [FROM_MEMORY] : [])]);
      }
      if (isBrought) this.loads.push(one);
      else if (one.node === "Return" || (one.node === "Break" && isOwn)) addAll(this.end, control);
      for (const inner of blocksOf(one)) {
        let decides = [...read];
        if (one.node === "While" && inner === one.prelude) decides = [];
        else if (one.node !== "If") decides.push(...jumpsIn(inner));
        this.block(inner, new Set([...control, ...decides]), isOwn && !LOOPS.includes(one.node));
      }
    }
  }
}

/**
 * For each access in text order, whether it is a wait, and the place of its innermost loop or null.
 *
 * A read is a *wait* if the end of its `while` loop depends on its value, and another thread could end the loop by a
 * write. So the program must write that array somewhere, or the loop must read the same elements each time.
 */
export const waitsOf = (code) => {
  const written = writtenArrays(code.body), waits = new Set(), loops = new Map();
  for (const loop of statementsOf(code.body)) {
    if (loop.node !== "While") continue;
    const dependences = new Dependences(loop);
    for (const one of accessesOf([loop])) loops.set(one.site, loop.place);
    for (const load of dependences.loadsOfTheEnd()) {
      if (written.has(load.array) || !dependences.moves(load.index)) waits.add(load.site);
    }
  }
  const sites = accessesOf(code.body).map((one) => one.site);
  return { isWait: sites.map((site) => waits.has(site)), loop: sites.map((site) => loops.get(site) ?? null) };
};

/** The reads on which a value depends; whether only harmless operators are between. `setting`: what sets each name. */
const readsBehind = (value, setting) => {
  const loads = [], met = new Set(), left = [value];
  let isHarmless = true;
  while (left.length) {
    const part = left.pop();
    if (part.node !== "Var" && part.node !== "RegisterRead") {
      const inner = expressionsOf(part);
      left.push(...inner);
      if (inner.length && !(part.node === "Binary" && HARMLESS.includes(part.op))) isHarmless = false;
      continue;
    }
    const name = part.node === "Var" ? part.name : part.array;
    for (const one of met.has(name) ? [] : setting.get(name) ?? []) {
      if (LOADS.includes(one.node)) loads.push(one);
      else if (one.node === "RegisterWrite") left.push(one.value);
      else if (["Assign", "Exchange", "Barrier"].includes(one.node)) {
        left.push(...expressionsOf(one));
        if (one.node !== "Assign") isHarmless = false;
      }
    }
    met.add(name);
  }
  return { loads, isHarmless };
};

/**
 * The updates of a program, by the sites of their writes: the reads on which a write may depend, and whether all
 * operations between are harmless, so that updates that store equal words lose nothing.
 *
 * A write *updates* if the stored value depends on a read of the same array, in the same statement or in earlier ones.
 */
export const updatesOf = (code) => {
  const every = statementsOf(code.body), setting = new Map(), found = new Map();
  for (const one of every) {
    for (const name of setBy(one)) setting.set(name, [...(setting.get(name) ?? []), one]);
  }
  for (const one of every) {
    if (one.node !== "Store" && one.node !== "VectorStore") continue;
    const behind = storedOf(one).map((value) => readsBehind(value, setting));
    const loads = behind.flatMap(({ loads: some }) => some).filter((load) => load.array === one.array);
    if (loads.length) {
      const reads = [...new Set(loads.map((load) => load.site))];
      found.set(one.site, { reads, isHarmless: behind.every(({ isHarmless }) => isHarmless) });
    }
  }
  return found;
};
