import { printableLines, printableText } from "./printing.js";
import { TABLES } from "./table.js";

/**
 * The findings of a check: plain data that says what is wrong, where, when, and what to do.
 *
 * A finding has a `kind`, an `array`, the logical `index` of an element and its `copy` (all null if none is
 * concerned), one or two `accesses`, of a race the `scope` in which they have no order ("interval", "blocks",
 * "round"), the number of `elements` and a `note`. An access has a `thread`, its `block`, a `kind`, a `function`,
 * `file`, `line` and a `time` (null if it isn't known).
 */

/** The advice for a data race. */
const adviceForRace = ({ scope, accesses: [first, second] }) => {
  const bothWrite = first.kind === "write" && second.kind === "write";
  if (scope === "round") return "let one thread alone write it, or each warp an element of its own";
  if (scope === "blocks") {
    const apart = bothWrite ? "let one block alone write it" : "access it in two launches";
    return `T.barrier() does not order threads of different blocks: ${apart}`;
  }
  if (first.file !== second.file || first.line !== second.line) {
    return "put T.barrier() between the two, in a loop also between two iterations";
  }
  if (bothWrite) return "let one thread alone write it, in a loop put T.barrier() between two iterations";
  return (
    "in a loop put T.barrier() between two iterations; else change it by an atomic, or read " +
    "into a variable, put T.barrier() after that, and write in a line of its own"
  );
};

/** The advice: how to correct the program. */
const adviceFor = (finding) => {
  const { kind, accesses } = finding, { findings } = TABLES;
  if (kind === "race") return adviceForRace(finding);
  const isOfGrid = kind === "barrier" && accesses.some((access) => access.block !== accesses[0].block);
  return isOfGrid ? findings["of the grid"] : findings.advice[kind];
};

/** The element, or the array, in the notation of the program; empty if there is none. */
const elementText = ({ array, index, copy }) => {
  if (array === null) return "";
  const written = printableText(array) + (index === null ? "" : `[${index.join(", ")}]`);
  return copy === null ? written : `${written} of block ${copy}`;
};

/** An access in words. */
const accessText = (access, grid) => {
  const { kind, thread, time, line } = access, does = TABLES.findings.does[kind];
  const where = `(${printableText(access.function)}, line ${line})`;
  if (kind === "declaration") return `${does} ${where}`;
  const after = kind === "elsewhere" || kind === "end" ? "since" : "at";
  const when = time === null ? "" : ` ${after} time ${time}`;
  const [index, block] = (grid.position(thread) ?? []).map((sides) => `(${sides.join(", ")})`);
  const named = index === undefined ? "" : ` (threadIdx ${index}, blockIdx ${block})`;
  return `thread ${thread}${named} ${does}${when} ${where}`;
};

/** The place of a finding's element: its unit and its place there; null without one. */
const cellOfFinding = ({ array: name, index, copy }, arrays, placeOf) => {
  const array = arrays[name ?? ""];
  if (array === undefined || index === null || index.length !== array.shape.length) return null;
  if (!index.every((part, axis) => 0 <= part && part < array.shape[axis])) return null;
  return placeOf(name, copy ?? 0, index.reduce((number, part, axis) => number * array.shape[axis] + part, 0));
};

/** A finding as the player shows it. `placeOf(name, copy, element)` is the unit of an element and its place there. */
export const findingData = (finding, grid, arrays, placeOf) => ({
  title: TABLES.findings.titles[finding.kind],
  element: elementText(finding),
  note: printableLines(finding.note),
  advice: adviceFor(finding),
  cell: cellOfFinding(finding, arrays, placeOf),
  accesses: finding.accesses.map((access) => ({
    text: accessText(access, grid), thread: access.thread, time: access.time,
  })),
});
