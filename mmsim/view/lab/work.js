/* What the worker does: it makes a setting of a setup, and the engine runs it. A new message ends the run before. */

const MOST_FOUND = 12; // layouts that are shown
const MOST_REQUESTS = 256; // that one can look at
const MOST_CELLS = 2 ** 14; // of a tile that is drawn
const TURN_MS = 30; // after which a run lets the worker hear messages

let parsedText = null; // the text parsed last, and what it has
let parsedPrograms = null;

/** The programs of a text. */
function programsIn(text) {
  if (text !== parsedText) {
    parsedPrograms = ENGINE.programsOf(text, "program.py").programs;
    parsedText = text;
  }
  return parsedPrograms;
}

/** An error as data: of the program, of a field, or of the engine itself. */
function errorAsData(error) {
  const { field = null, kind = error.name, place = null, thread = null, array = null, index = null } = error;
  return { kind, field, text: error.text ?? error.message, message: error.message, place, thread, array, index };
}

/** What the page is to know of the program that runs: its name, and its parameters with their arguments. */
function knownOf(setup) {
  const programs = programsIn(setup.text);
  const names = Object.keys(programs);
  if (names.length === 0) throw new Error("There is no program; write @mm.program above a function of a thread T.");
  const program = names.includes(setup.program) ? setup.program : names.at(-1);
  const code = programs[program];
  const uses = code.parameters.map(({ name, use }) => [name, use]);
  return { code, known: { names, program, arguments: argumentsFor(code.parameters, setup.arguments), uses } };
}

/** Run a setup step by step; each step gives the time so far. `timeOnly` records nothing. */
function* worked({ setup, timeOnly }) {
  const { code, known } = knownOf(setup);
  try {
    const setting = settingOf({ ...setup, arguments: known.arguments }, code);
    const result = yield* ENGINE.simulation(setting, { record: !timeOnly, check: !timeOnly });
    return { known, result: timeOnly ? { time: result.time, error: result.error } : result };
  } catch (error) {
    return { known, fault: errorAsData(error) };
  }
}

/** What a tile's accesses cost, and the words of each request; or the layouts that free them. */
function* tileAnswered({ tile, search }) {
  const asked = { ...tile, vector: Number(tile.vector) };
  if (search) {
    const found = (what, layout) => {
      try {
        const { data: { found: one } } = ENGINE.tileAnswer({ ...asked, layout, search: what });
        return { found: what === "padding" ? (one === null ? [] : [one ? `padded ${one}` : "RAW"]) : one.slice(0, MOST_FOUND) };
      } catch (error) {
        return { found: [], fault: error.message };
      }
    };
    return { answer: { padding: found("padding", "RAW"), swizzles: found("swizzles", /^\(/.test(tile.layout) ? tile.layout : "RAW") } };
  }
  const { data: { accesses, shape }, free } = ENGINE.tileAnswer(asked);
  const size = ENGINE.bytesOfType(tile.type);
  const layout = ENGINE.tileLayoutOf(tile.layout, size);
  const own = accesses.map(({ kind, access, stages, least, requests, free: isFree }) => {
    const { requests: all } = ENGINE.tileQuestionOf(kind, access, shape, size, asked.vector).ask(layout);
    return { name: `${kind} ${access}`, stages, least, count: requests, free: isFree, requests: all.slice(0, MOST_REQUESTS) };
  });
  const { offsets } = ENGINE.offsetsOf(layout, shape);
  const sum = (name) => own.reduce((total, one) => total + one[name], 0);
  return {
    answer: { accesses: own, shape, size, free, stages: sum("stages"), least: sum("least"), offsets: offsets.length <= MOST_CELLS ? Array.from(offsets) : null },
  };
}

/** Answer the messages of a page: {id, setup, timeOnly} by {id, begun}, {id, progress} and at last {id, known, result or fault}. */
function serve(scope) {
  let current = null;
  const goOn = (id, steps, began) => {
    if (id !== current) return;
    const turn = performance.now();
    let step;
    try {
      do step = steps.next();
      while (!step.done && performance.now() < turn + TURN_MS);
    } catch (error) {
      scope.postMessage({ id, fault: errorAsData(error) });
      return;
    }
    if (step.done) scope.postMessage({ id, ...step.value, took: performance.now() - began });
    else {
      scope.postMessage({ id, progress: step.value });
      setTimeout(() => goOn(id, steps, began));
    }
  };
  scope.onmessage = ({ data }) => {
    current = data.id;
    if (data.setup || data.tile) scope.postMessage({ id: data.id, begun: true });
    if (data.setup) goOn(data.id, worked(data), performance.now());
    if (data.tile) goOn(data.id, tileAnswered(data), performance.now());
  };
}
