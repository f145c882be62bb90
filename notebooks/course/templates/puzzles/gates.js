/* What a program passes: the gates of `puzzles.puzzle`, on the results of the engine.

   A puzzle is what `Puzzle.setting` says of it. A judged gate is {what, passed, found}. */

const RIGHT_RESULTS = "right results";

/** A counter's value in a run without an error. */
function countedBy({ counter, of, within }, { time, rounds, data, findings, accesses }) {
  if (counter === "time") return time;
  if (counter === "rounds") return rounds.length;
  if (counter === "findings") return findings.length;
  if (counter === "shared_words") {
    return data.arrays.filter(({ shared }) => shared)
      .reduce((sum, { shape }) => sum + shape.reduce((size, extent) => size * extent, 1), 0);
  }
  if (counter === "barriers") {
    const times = new Map();
    for (const [, block] of data.releases) times.set(block, (times.get(block) ?? 0) + 1);
    return Math.max(0, ...times.values());
  }
  return accesses
    .filter(({ array, space }) => (of === null || of === array) && (within === null || within === space))
    .reduce((sum, row) => sum + (counter === "wasted" ? row.stages - row.least : row[counter]), 0);
}

/** The index of an element, from its number in row-major order. */
function indexOfElement(number, shape) {
  const index = [];
  for (const extent of [...shape].reverse()) {
    index.unshift(number % extent);
    number = Math.floor(number / extent);
  }
  return index.join(", ");
}

/** The first element that is not as it should be, in words; "" if all are. */
function wrongElement(expected, arrays) {
  for (const [name, right] of Object.entries(expected)) {
    const found = arrays[name].data;
    const at = right.data.findIndex((word, number) => JSON.stringify(word) !== JSON.stringify(found[number]));
    if (at >= 0) {
      return `${name}[${indexOfElement(at, right.shape)}] is ${wordShown(found[at])}, and should be ${wordShown(right.data[at])}`;
    }
  }
  return "";
}

function wordShown(word) {
  return typeof word === "object" && word !== null ? Object.values(word).flat().join(" + i ") : String(word);
}

/** What a program passes, from the results of all cases: {error, ...} of a run or {fault} of a text. */
function judgedOf(puzzle, said) {
  const without = (why) => [
    { what: RIGHT_RESULTS, passed: false, found: why }, ...puzzle.gates.map(({ words }) => ({ what: words, passed: false, found: "" })),
  ];
  for (const { fault, result, program } of said) {
    if (fault) return without(fault.text ?? fault.message);
    if (result.error) return without(result.findings.length ? findingShown(result.findings[0]) : result.error.text);
    if (program !== undefined && program !== puzzle.program) return without(`there is no program '${puzzle.program}': keep its name`);
  }
  const results = said.map(({ result }) => result);
  const wrong = results.map(({ arrays }, number) => wrongElement(puzzle.expected[number], arrays)).find((one) => one) ?? "";
  return [{ what: RIGHT_RESULTS, passed: !wrong, found: wrong }, ...puzzle.gates.map((gate) => {
    const counts = results.map((result) => countedBy(gate, result));
    const failing = counts.filter((count) => (gate.relation === "<=" ? count > gate.bound : count !== gate.bound));
    const finding = gate.counter === "findings" ? results.find(({ findings }) => findings.length)?.findings[0] : null;
    const found = failing.length && finding ? findingShown(finding) : String((failing.length ? failing : counts)[0]);
    return { what: gate.words, passed: failing.length === 0, found };
  })];
}

/** A finding in words. */
function findingShown({ title, element, note, accesses, advice }) {
  const where = accesses.map(({ text }) => text).join(" and ");
  return `${title}${element ? `, ${element}` : ""}: ${note ? `${note}; ` : ""}${where}; ${advice}`;
}

/** The points of what was judged: none with wrong results, and none without something that the starter fails. */
function pointsOf(puzzle, judged) {
  const passed = judged.filter((one) => one.passed).map(({ what }) => what);
  return judged[0].passed && passed.some((what) => puzzle.asked.includes(what)) ? passed.length : 0;
}
