import { kindOf } from "./dtypes.js";
import { accessAt, elementFinding, foundAccess, indexIn, plainFinding } from "./lines.js";
import { textOf } from "./numbers.js";

/** The kinds of findings for the errors of a program. */
const FINDING_KINDS = {
  AddressError: "out-of-range",
  ArithmeticFault: "arithmetic",
  UnassignedError: "unassigned",
  TypeFault: "type",
  RaisedError: "exception",
  VectorError: "vector",
  EndlessError: "endless",
  BarrierError: "barrier",
  ExchangeError: "exchange",
};

/** Whether an error is a failure of a program, which is a finding. */
export const isOfProgram = (error) => error.kind in FINDING_KINDS;

/** A word of an array in a message: NumPy formats a float of any type as Python's. */
export const wordText = (word, dtype) => textOf(word, { f: "float64", c: "complex128" }[kindOf(dtype)] ?? dtype);

/** Whether an error has an index of whole numbers; only the message distinguishes 2 and 2.0. */
const hasWholeIndex = ({ index, message }) => {
  const [, shown] = /^index \[(.*?)\] of /.exec(message) ?? [null, ""];
  return index !== null && shown.split(", ").every((part) => /^(-?\d+|True|False|)$/.test(part));
};

/** What a thread does where an error is. */
const actionAt = (error, grid, thread, time, kind = "statement") =>
  foundAccess(error.place, kind, thread ?? 0, grid.block[thread ?? 0], time);

/** A wait for a lock whose holder can't go on before the wait is over. */
const spinFinding = (waiting, holder, arrays) =>
  elementFinding(
    "spin",
    arrays[waiting.site.array],
    waiting.cell,
    [waiting, holder].map(({ site, thread, block, time }) => accessAt(site, thread, block, time)),
    {
      note:
        `thread ${waiting.thread} tries again and again what thread ${holder.thread} has done, ` +
        "which can't go on: the lanes of a warp leave a loop together",
    }
  );

/** An endless program without a deadlock. */
const endlessFinding = (error, launch, { deadlock }, time) => {
  const idler = deadlock.idler();
  if (idler === null) {
    return plainFinding("endless", [actionAt(error, launch.grid, error.thread, time)], { note: error.message });
  }
  const { site, cell, thread, block, time: when } = idler, array = launch.arrays[site.array];
  const index = indexIn(array.shape, cell % array.size).join(", "), word = wordText(array.data[cell], array.dtype);
  const note =
    `${error.message}; it reads ${array.name}[${index}], which is ${word}, in line ${site.place.line} ` +
    "again and again, and no write could end the loop";
  const loop = deadlock.waits.loop[site.number];
  return plainFinding("endless", [foundAccess(loop, "statement", thread, block, when)], { note });
};

/** A deadlock if memory doesn't change any more while a warp waits, else an endless program. */
const deadlockFinding = (error, launch, monitors, time) => {
  const { deadlock } = monitors, { arrays } = launch;
  if (!deadlock.isReached()) return endlessFinding(error, launch, monitors, time);
  const readers = deadlock.readers();
  const spinner = readers.find((one) => deadlock.holder(one) !== null);
  if (spinner !== undefined) return spinFinding(spinner, deadlock.holder(spinner), arrays);
  const [first] = readers, waiting = monitors.barriers.waiting();
  const others = readers.filter((one) => one.thread !== first.thread).slice(0, 1);
  const also = others.map((one) => foundAccess(one.site.place, "waits", one.thread, one.block, one.time));
  return elementFinding(
    "deadlock",
    arrays[first.site.array],
    first.cell,
    [accessAt(first.site, first.thread, first.block, first.time), ...(waiting === null ? also : [waiting])],
    { note: "it reads this again and again, and no thread changes anything" }
  );
};

/** An error that ended a run at `time`, as a finding. */
export const findingOfError = (error, launch, monitors, time) => {
  const { grid } = launch, { kind, message, array, index, other } = error;
  if (kind === "EndlessError") return deadlockFinding(error, launch, monitors, time);
  if (kind === "BarrierError") {
    const waits = actionAt(error, grid, other, time, "barrier");
    return plainFinding("barrier", [waits, monitors.barriers.last(error.thread ?? 0)]);
  }
  if (kind === "ExchangeError") {
    const asked = other === null ? [] : [monitors.barriers.last(other)];
    return plainFinding("exchange", [actionAt(error, grid, error.thread, time), ...asked], { note: message });
  }
  const isWhole = hasWholeIndex(error), access = actionAt(error, grid, error.thread, time);
  return plainFinding(isWhole || index === null ? FINDING_KINDS[kind] : "type", [access], {
    array,
    index: isWhole ? index.map(Number) : null,
    copy: launch.arrays[array ?? ""]?.shared ? grid.block[error.thread ?? 0] : null,
    note: message,
  });
};

/** An error found from types and shapes before any thread has begun: thread 0 stands for all. */
export const findingBefore = (error) =>
  plainFinding(FINDING_KINDS[error.kind], [foundAccess(error.place, "statement", 0, 0)], {
    array: error.array, note: error.message,
  });
