/* The puzzles' page: a laboratory, above it the list of puzzles, the task and what the program passes.

   `data` has the puzzles; each has the setup that the laboratory opens. The gates are judged on the
   puzzle's own launch and inputs, whatever else one tries in the laboratory. */

const KEPT_AS = "mmsim-puzzles";
const JUDGE_AFTER = 200; // milliseconds after the last change of the text

/** What was kept of the reader's work; a page that may keep nothing has it as long as it is open. */
function keptWork() {
  let found = {};
  try {
    found = JSON.parse(localStorage.getItem(KEPT_AS)) ?? {};
  } catch {
    // no storage, or another's text
  }
  const isKept = found && typeof found === "object" && found.programs && typeof found.programs === "object";
  return isKept ? found : { at: "", programs: {} };
}

function keepWork(work) {
  try {
    localStorage.setItem(KEPT_AS, JSON.stringify(work));
  } catch {
    // no storage
  }
}

/** The text of a file with programs, by the names of their puzzles: what `puzzles.exported` reads. */
function exportedText(programs) {
  return Object.entries(programs).map(([name, text]) => `# %% puzzle: ${name}\n${text.trim()}\n`).join("\n\n");
}

/** Open the page. */
function openPuzzles(data, work) {
  const part = (id) => document.getElementById(id);
  const page = { part, data, kept: keptWork(), puzzle: null, judgedText: null, judging: new Runner(work), runs: 0 };
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  const chosen = data.puzzles.find(({ name }) => name === page.kept.at) ?? data.puzzles[0];
  page.laboratory = { origin: data.origin, setup: setupNow(page, chosen) };
  page.lab = openLaboratory(part("laboratory"), page.laboratory, work);
  buildList(page);
  openPuzzle(page, chosen);
  for (const kind of ["input", "change", "click", "keyup"]) part("laboratory").addEventListener(kind, () => judgeSoon(page));
  part("hint").addEventListener("click", () => {
    own(page).hints = (own(page).hints ?? 0) + 1;
    keepWork(page.kept);
    drawHints(page);
  });
  part("next").addEventListener("click", () => openPuzzle(page, after(page)));
  part("export").addEventListener("click", () => saveFile("my-puzzles.py", exportedText(toExport(page)), "text/x-python"));
  new MutationObserver(() => {
    document.documentElement.dataset.theme = part("laboratory").dataset.theme ?? "";
  }).observe(part("laboratory"), { attributes: true, attributeFilter: ["data-theme"] });
  return {
    open: (name) => openPuzzle(page, data.puzzles.find((one) => one.name === name)),
    get laboratory() { return page.lab; },
    get judged() { return page.judged; },
    get runs() { return page.runs; },
    exported: () => exportedText(toExport(page)),
  };
}

/** What is kept of a puzzle: its text, the best points with their text, and the number of hints shown. */
function own(page, puzzle = page.puzzle) {
  page.kept.programs[puzzle.name] ??= {};
  return page.kept.programs[puzzle.name];
}

/** Keep the text of the open puzzle, once the reader has changed it. */
function keepText(page, text) {
  const kept = own(page);
  if (text !== page.puzzle.setup.text || kept.text !== undefined) kept.text = text;
}

/** The setup of a case, counted from 0. */
function setupOf({ setup, arguments: all }, number) {
  return structuredClone({ ...setup, arguments: all[number] });
}

/** The setup of a puzzle's first case, with the reader's own text. */
function setupNow(page, puzzle) {
  const setup = setupOf(puzzle, 0);
  return { ...setup, text: page.kept.programs[puzzle.name]?.text ?? setup.text };
}

/** The programs that the reader has changed: of each the best one. */
function toExport(page) {
  const changed = page.data.puzzles.map((puzzle) => [puzzle.name, page.kept.programs[puzzle.name]?.best ?? page.kept.programs[puzzle.name]?.text]);
  return Object.fromEntries(changed.filter(([, text]) => text !== undefined));
}

/** The next puzzle that isn't solved. */
function after(page) {
  const { puzzles } = page.data;
  const at = puzzles.indexOf(page.puzzle);
  const others = [...puzzles.slice(at + 1), ...puzzles.slice(0, at)];
  return others.find((one) => (page.kept.programs[one.name]?.points ?? 0) < one.points) ?? others[0];
}

/** Open a puzzle: in the laboratory, too. */
function openPuzzle(page, puzzle) {
  const isFirst = page.puzzle === null;
  if (!isFirst) keepText(page, page.lab.setup.text);
  page.puzzle = puzzle;
  page.kept.at = puzzle.name;
  keepWork(page.kept);
  page.part("lesson").textContent = `Class ${puzzle.class}: ${page.data.classes[puzzle.class] ?? ""}`;
  page.part("title").textContent = puzzle.title;
  page.part("words").textContent = puzzle.task;
  const setup = setupNow(page, puzzle);
  page.laboratory.setup = setupOf(puzzle, 0); // for the laboratory's button Reset
  if (!isFirst) page.lab.change((now) => Object.assign(now, setup));
  showInList(page);
  drawHints(page);
  drawJudged(page, null);
  page.judgedText = null;
  judgeSoon(page, 0);
}

/** Scroll the list, not the page, to the puzzle that is open. */
function showInList(page) {
  const list = page.part("list");
  const item = page.buttons.get(page.puzzle.name).parentElement;
  const above = item.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (above < 0 || above + item.offsetHeight > list.clientHeight) list.scrollTop += above - list.clientHeight / 3;
}

/** Judge the text after a pause, if it has changed. */
function judgeSoon(page, wait = JUDGE_AFTER) {
  clearTimeout(page.waiting);
  page.waiting = setTimeout(() => judge(page), wait);
}

async function judge(page) {
  const { puzzle } = page;
  const setup = page.lab.setup;
  const { text } = setup;
  page.part("elsewhere").hidden = sameSetup({ ...setup, text: "", program: "" }, { ...setupOf(puzzle, 0), text: "", program: "" });
  if (text === page.judgedText) return;
  page.judgedText = text;
  const said = [];
  for (const number of puzzle.arguments.keys()) {
    const { known, result, fault } = await page.judging.ask({ setup: { ...setupOf(puzzle, number), text } });
    said.push({ result, fault, program: known?.program });
    if (fault) break;
  }
  if (page.puzzle !== puzzle) return;
  const judged = judgedOf(puzzle, said);
  const points = pointsOf(puzzle, judged);
  const kept = own(page);
  keepText(page, text);
  if (points > 0 && points >= (kept.points ?? 0)) Object.assign(kept, { points, best: text });
  keepWork(page.kept);
  page.judged = judged;
  page.runs++;
  drawJudged(page, judged);
}

/** The list of puzzles by class. */
function buildList(page) {
  const list = page.part("list");
  page.buttons = new Map();
  let lesson = null;
  let box = null;
  for (const puzzle of page.data.puzzles) {
    if (puzzle.class !== lesson) {
      lesson = puzzle.class;
      box = make("ul");
      list.append(make("h2", "", `Class ${lesson}`), box);
    }
    const button = make("button");
    button.type = "button";
    button.append(make("span", "", puzzle.title), make("span"));
    button.addEventListener("click", () => openPuzzle(page, puzzle));
    const item = make("li");
    item.append(button);
    box.append(item);
    page.buttons.set(puzzle.name, button);
  }
}

/** The score, in the list and in all. */
function drawScore(page) {
  let [sum, most, solved] = [0, 0, 0];
  for (const puzzle of page.data.puzzles) {
    const points = page.kept.programs[puzzle.name]?.points ?? 0;
    const isSolved = points === puzzle.points;
    sum += points;
    most += puzzle.points;
    solved += isSolved;
    const button = page.buttons.get(puzzle.name);
    button.setAttribute("aria-current", String(puzzle === page.puzzle));
    button.lastChild.textContent = isSolved ? "solved" : points ? `${points} of ${puzzle.points}` : "";
    button.lastChild.className = isSolved ? "solved" : "";
  }
  page.part("score").textContent = `All puzzles: ${sum} of ${most} points, ${solved} of ${page.data.puzzles.length} solved.`;
  page.part("export").disabled = Object.keys(toExport(page)).length === 0;
}

/** The hints that the reader has asked for, and the button for the next. */
function drawHints(page) {
  const { hints } = page.puzzle;
  const shown = Math.min(own(page).hints ?? 0, hints.length);
  page.part("hints").replaceChildren(...hints.slice(0, shown).map((hint) => make("li", "", hint)));
  page.part("hint").textContent = shown < hints.length ? `Hint ${shown + 1} of ${hints.length}` : "No more hints";
  page.part("hint").disabled = shown === hints.length;
}

/** What the program passes; null while it is not known. */
function drawJudged(page, judged) {
  const { puzzle, part } = page;
  const gates = judged ?? [RIGHT_RESULTS, ...puzzle.gates.map(({ words }) => words)].map((what) => ({ what, passed: false, found: "" }));
  part("gates").replaceChildren(...gates.map(({ what, passed, found }) => {
    const item = make("li", passed ? "passed" : "", `${passed ? "passed" : judged ? "not yet" : "to pass"}: ${what}`);
    if (found) item.append(make("span", "found", `: ${found}`));
    return item;
  }));
  const points = judged ? pointsOf(puzzle, judged) : 0;
  part("points").textContent = judged && points === puzzle.points ? `Solved: ${points} of ${points} points` : `${points} of ${puzzle.points} points`;
  drawScore(page);
}
