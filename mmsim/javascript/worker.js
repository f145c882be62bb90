import { MMSimFault } from "./faults.js";
import { simulation } from "./simulate.js";

/** Milliseconds after which a run lets the worker hear messages. */
const TURN = 30;

/** Do some steps of a run, then the next ones after the messages that have come. */
const goOn = (scope, state, id, steps) => {
  if (state.cancelled) return;
  const begin = performance.now();
  let step;
  do step = steps.next();
  while (!step.done && performance.now() - begin < TURN);
  if (step.done) scope.postMessage({ id, result: step.value });
  else {
    scope.postMessage({ id, progress: step.value });
    setTimeout(() => answered(scope, state, id, steps), 0);
  }
};

/** Go on with a run; a failure of the engine itself is an answer, too. */
const answered = (scope, state, id, steps) => {
  try {
    goOn(scope, state, id, steps);
  } catch (error) {
    const failure = error instanceof MMSimFault ? error.text : String(error.stack ?? error);
    scope.postMessage({ id, failure });
  }
};

/**
 * Let a worker simulate. A message {id, setting, options} begins a run, and ends the one before; {cancel: id} ends it.
 * The answers are {id, progress: the time so far}, {id, result} as of `simulate`, or {id, failure} for a bug.
 */
export const serveSimulations = (scope) => {
  let state = { cancelled: true, id: null };
  scope.onmessage = ({ data }) => {
    if (data.cancel !== undefined) {
      if (data.cancel === state.id) state.cancelled = true;
      return;
    }
    state.cancelled = true;
    state = { cancelled: false, id: data.id };
    answered(scope, state, data.id, simulation(data.setting, data.options));
  };
};
