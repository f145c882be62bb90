import { MMSimFault } from "./faults.js";
import { textOf } from "./numbers.js";

/** The lanes of a mask, in ascending order. */
const lanesOfMask = (mask, count) =>
  mask === true ? Array.from({ length: count }, (_, lane) => lane) : mask === false ? [] : mask;

/** Refuse a loop that never ends; `last` is the latest read or atomic in it, null without one. */
export const refuseSpinning = (launch, frame, at, last) => {
  const { grid, arrays } = launch;
  const inLoop = lanesOfMask(at.lanes, frame.lanes);
  const threadOf = (lane) => frame.thread(lane);
  const thread = threadOf(inLoop[0]);
  const several = inLoop.length > 1;
  const who = `thread ${thread}${several ? ` and ${inLoop.length - 1} more repeat` : " repeats"}`;
  const facts = { program: launch.name, place: at.place, thread };
  let again = "nothing changes in it; correct the condition that ends it";
  if (last !== null) {
    const array = arrays[last.site.array];
    const block = array.shared ? grid.block[threadOf(last.lanes === null ? 0 : last.lanes[0])] : 0;
    const element = last.elements[0];
    let rest = element;
    const index = array.shape.map(() => 0);
    for (let axis = array.shape.length - 1; axis >= 0; axis--) {
      index[axis] = rest % array.shape[axis];
      rest = Math.floor(rest / array.shape[axis]);
    }
    Object.assign(facts, { array: array.name, index });
    const value = textOf(array.read([element], block)[0], array.dtype);
    again = `line ${last.site.place.line} finds ${array.name}[${index.join(", ")}] = ${value} again and again, and `;
    const hidden = new Set([...inLoop, ...lanesOfMask(frame.idle, frame.lanes)]);
    const gone = lanesOfMask(frame.live, frame.lanes).filter((lane) => !hidden.has(lane));
    if (gone.length > 0) {
      const together =
        launch.schedule === "synchronous"
          ? "in lock step all threads leave a loop together"
          : "the lanes of a warp leave a loop together";
      again +=
        `thread ${threadOf(gone[0])}, which is not in the loop, waits for those in it: ${together}; let one thread ` +
        "of each warp take the lock, or do the work and free the lock inside the loop";
    } else {
      again +=
        "no thread can change it: all others have ended, or wait too; write before you wait, or wait at a barrier";
    }
  }
  throw new MMSimFault("EndlessError", `${who} this loop forever: ${again}`, facts);
};
