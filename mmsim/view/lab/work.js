/* What the worker does: it makes a setting of a setup, and the engine runs it. */

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

/** An error as data. */
function faultOf(error) {
  const { field = null, kind = error.name, place = null, thread = null, array = null, index = null } = error;
  const text = error.text ?? error.message;
  return { kind, field, text, message: error.what ?? error.message, place, thread, array, index, known: Boolean(field ?? place ?? error.text) };
}

/** Run a setup. `timeOnly` records nothing. */
function worked({ setup, timeOnly }, progress) {
  const programs = programsIn(setup.text);
  const names = Object.keys(programs);
  if (names.length === 0) throw Object.assign(new Error("there is no program; write @mm.program above a function of a thread T"), { text: "" });
  const name = names.includes(setup.program) ? setup.program : names.at(-1);
  const code = programs[name];
  const all = argumentsFor(code.parameters, setup.arguments);
  const known = { names, program: name, arguments: all, uses: code.parameters.map(({ name: own, use }) => [own, use]) };
  try {
    const setting = settingOf({ ...setup, arguments: all }, code);
    const began = performance.now();
    const result = ENGINE.simulate(setting, { record: !timeOnly, check: !timeOnly, progress });
    return { known, result: timeOnly ? { time: result.time, error: result.error } : result, took: performance.now() - began };
  } catch (error) {
    return { known, fault: faultOf(error) };
  }
}

/** Answer a message of the page. */
function answer({ id, ...wanted }, post) {
  let posted = performance.now();
  const progress = (time) => {
    if (performance.now() < posted + 100) return;
    posted = performance.now();
    post({ id, progress: time });
  };
  try {
    post({ id, ...worked(wanted, progress) });
  } catch (error) {
    post({ id, fault: faultOf(error) });
  }
}
