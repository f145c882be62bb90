import { countOf, withoutLanes } from "./frame.js";

/** The warp of a lane. */
const warpAt = (frame, lane) => (Array.isArray(frame.fields.warp) ? frame.fields.warp[lane] : frame.fields.warp);

/** Refuse a barrier that only some lanes of a warp reach: every one that has more to do must be there, or none. */
export const refuseParted = (meaning, frame, mask, place) => {
  const missing = withoutLanes(withoutLanes(frame.live, mask, frame.lanes), frame.idle, frame.lanes);
  if (missing === false) return;
  const firsts = new Map(); // by warp, its first lane at the barrier
  for (let k = 0; k < countOf(mask, frame.lanes); k += 1) {
    const lane = mask === true ? k : mask[k], warp = warpAt(frame, lane);
    if (!firsts.has(warp)) firsts.set(warp, lane);
  }
  for (let k = 0; k < countOf(missing, frame.lanes); k += 1) {
    const lane = missing === true ? k : missing[k], warp = warpAt(frame, lane);
    if (!firsts.has(warp)) continue;
    const present = frame.thread(firsts.get(warp));
    const message = `thread ${present} waits at this barrier but thread ${frame.thread(lane)} of the same warp ${warp} `
      + "is elsewhere; move the barrier to a place that all threads of a warp reach";
    meaning.fault("BarrierError", message, place, frame, lane, { other: present });
  }
};
