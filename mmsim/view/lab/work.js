/* What the worker does: it makes a setting of a setup, and the engine runs it. A new message ends the run before. */

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

/** Answer the messages of a page: {id, setup, timeOnly} by {id, progress} and at last {id, known, result or fault}. */
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
    if (data.setup) goOn(data.id, worked(data), performance.now());
  };
}
