import { MMSimFault } from "./faults.js";
import { moduloInt64, wrapInt64 } from "./numbers.js";

/* Exchange between the lanes of a warp: CUDA's shuffles, votes and matches. Lanes exchange only within their warp, also
   if a sequencer runs many warps, and only active lanes take part. Asking an inactive lane is an error. */

const MOST_BITS = 64; // the most lanes of a mask

/** The operations that give a bit for each lane of the warp. */
const MASK_OPERATIONS = ["ballot", "match_any", "match_all", "active_mask"];

/** Refuse an operation whose result has too few bits for the lanes of a warp. */
export const refuseWideWarps = ({ op, place }, width, blockSize, program) => {
  if (!MASK_OPERATIONS.includes(op) || Math.min(width, blockSize) <= MOST_BITS) return;
  const message = `${op} gives an integer of ${MOST_BITS} bits with one bit for each lane of a warp, but a warp has `
    + `${width} lanes here; use a machine of width ${MOST_BITS} or less`;
  throw new MMSimFault("TypeFault", message, { program, place });
};

/**
 * The active lanes of a sequencer, warp by warp: [{first, size, members}], where `first` is the place of the warp's
 * lane 0 and `members` are the numbers of its active lanes among all active ones.
 */
const warpsOf = (frame, mask) => {
  const { lane } = frame.fields, warps = [];
  const firsts = (frame.firsts ??= lane.flatMap((one, at) => (one === 0 ? [at] : [])));
  const count = mask === true ? frame.lanes : mask.length;
  let number = 0, warp = null;
  for (let k = 0; k < count; k += 1) {
    const at = mask === true ? k : mask[k];
    while (number + 1 < firsts.length && firsts[number + 1] <= at) number += 1;
    const first = firsts[number];
    if (warp === null || warp.first !== first) {
      warps.push((warp = { first, size: (firsts[number + 1] ?? frame.lanes) - first, members: [] }));
    }
    warp.members.push(k);
  }
  return warps;
};

/** The bits of some lanes of a warp as a 64-bit integer. */
const bitsOfLanes = (lanes) => {
  if (lanes.every((lane) => lane < 53)) return lanes.reduce((sum, lane) => sum + 2 ** lane, 0);
  return wrapInt64(lanes.reduce((sum, lane) => sum + (1n << BigInt(lane)), 0n));
};

/** The lane that each asks by its distance: itself if the warp ends before. An xor is that of number and distance. */
const neighbourOf = (op, lane, distance, width) => {
  let asked = Number(distance > width ? width : distance);
  if (op === "shuffle_up") asked = lane - asked;
  else if (op === "shuffle_down") asked = lane + asked;
  else if (distance >= 2 ** 31) return lane;
  else asked = lane ^ Number(distance);
  return asked >= 0 && asked < width ? asked : lane;
};

/**
 * The result of an exchange for each active lane; `given` are the operands. `fault(kind, message, lane, other)` reports
 * a mistake at the lane in this place, with the other thread concerned.
 */
export const exchanged = (frame, mask, width, op, given, fault) => {
  const entry = (operand, k) => (Array.isArray(given[operand]) ? given[operand][k] : given[operand]);
  const place = (k) => (mask === true ? k : mask[k]);
  const warps = warpsOf(frame, mask), found = new Array(mask === true ? frame.lanes : mask.length);
  const result = (warp, of) => warp.members.forEach((k) => { found[k] = of(k); });
  const lanesOf = (warp, keep) => warp.members.filter(keep).map((k) => place(k) - warp.first);
  if (op.startsWith("shuffle_")) {
    const below = found.findIndex((_, k) => entry(1, k) < 0);
    if (below >= 0) {
      const message = `${op} takes no negative distance, as ${entry(1, below)}`;
      fault("ArithmeticFault", message, place(below), null);
    }
  }
  for (const warp of warps) {
    switch (op) {
      case "shuffle": case "shuffle_up": case "shuffle_down": case "shuffle_xor": {
        const active = new Map(warp.members.map((k) => [place(k) - warp.first, k]));
        result(warp, (k) => {
          const lane = place(k) - warp.first;
          const asked = op === "shuffle" ? moduloInt64(entry(1, k), width) : neighbourOf(op, lane, entry(1, k), width);
          if (active.has(asked)) return entry(0, active.get(asked));
          const other = asked < warp.size ? frame.thread(warp.first + asked) : null;
          const which = other === null ? "which its warp does not have" : `thread ${other}, which is not active here`;
          const message = `lane ${lane}, thread ${frame.thread(place(k))}, asks lane ${asked}, ${which}; a lane that `
            + "is asked has to take part";
          return fault("ExchangeError", message, place(k), other);
        });
        break;
      }
      case "any": case "all": {
        const holds = op === "any" ? warp.members.some((k) => entry(0, k)) : warp.members.every((k) => entry(0, k));
        result(warp, () => holds);
        break;
      }
      case "match_any": {
        const own = new Map();
        for (const k of warp.members) {
          const lanes = own.get(keyOf(entry(0, k))) ?? [];
          own.set(keyOf(entry(0, k)), [...lanes, place(k) - warp.first]);
        }
        result(warp, (k) => bitsOfLanes(own.get(keyOf(entry(0, k)))));
        break;
      }
      case "match_all": {
        const first = keyOf(entry(0, warp.members[0]));
        const agree = warp.members.every((k) => keyOf(entry(0, k)) === first);
        const bits = agree ? bitsOfLanes(lanesOf(warp, () => true)) : 0;
        result(warp, () => bits);
        break;
      }
      default: {
        const bits = bitsOfLanes(lanesOf(warp, (k) => op === "active_mask" || entry(0, k)));
        result(warp, () => bits);
      }
    }
  }
  return found;
};

/** What is equal for values whose bits are. */
const keyOf = (value) => (Object.is(value, -0) ? "-0" : Number.isNaN(value) ? "nan" : value);
