import { computingOf } from "./operators.js";

/* Atomics: the word that each leaves. Lanes that access one word take turns: each receives the word that the previous
   one left. Integers wrap around at the size of the word, a float is rounded to its type, "cas" compares bits. */

/** The operators by whose values some operations compute. */
const OPERATORS = { add: "+", sub: "-", and: "&", or: "|", xor: "^" };

/** The function that gives the new word from the old one, the value and the compared word. */
const leavingOf = (op, type) => {
  switch (op) {
    case "exch": return (old, value) => value;
    case "cas": return (old, value, compare) => (Object.is(old, compare) ? value : old);
    case "max": return (old, value) => (value > old ? value : old);
    case "min": return (old, value) => (value < old ? value : old);
    case "inc": return (old, value) => (old >= value ? 0 : old + 1);
    case "dec": return (old, value) => (old === 0 || old > value ? value : old - 1);
    default: return computingOf({ node: "Binary", op: OPERATORS[op] }, type, type, false);
  }
};

/**
 * The old and the new word of each lane of an atomic access; the lanes of one cell come in their order. `before` is the
 * word of each lane's cell at first.
 */
export const inTurn = (op, before, cells, words, compare, type) => {
  const leaves = leavingOf(op, type), old = before.slice(), left = new Array(before.length), last = new Map();
  for (let k = 0; k < cells.length; k += 1) {
    const earlier = last.get(cells[k]);
    if (earlier !== undefined) old[k] = left[earlier];
    last.set(cells[k], k);
    left[k] = leaves(old[k], words[k], compare === null || compare === undefined ? words[k] : compare[k]);
  }
  return [old, left];
};
