/* The moments at which stepping and playing stop: rounds, accesses, conflicts, and stops that one names. */

/** The times of the window, in order and once each, that `of` gives for each launch and its player. */
function timesOf(stage, of) {
  const found = new Set();
  for (const player of stage.players) {
    for (const launch of player.launches) {
      for (const time of of(launch, player)) if (time >= stage.start && time <= stage.end) found.add(time);
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** The times of a launch's dispatches that fulfil a condition. */
function dispatchTimes({ data }, condition) {
  return data.dispatches.time.filter((_, dispatch) => condition(dispatch));
}

const MOMENTS = {
  /** The beginnings of rounds, or the openings of barriers; and of launches after the first. */
  round: (stage) => timesOf(stage, ({ data }, player) => [
    ...(data.schedule === "synchronous" ? data.rounds : data.releases.map(([at]) => at)),
    ...(player.launches.length > 1 ? [data.start] : []),
  ]),
  conflict: (stage) => timesOf(stage, (launch) => dispatchTimes(launch, (d) => isConflict(launch.model, d))),
  /** All accesses, or those of what is followed. */
  access: (stage) => timesOf(stage, (launch, { view }) => (
    view.follow ? dispatchTimes(launch, (d) => follows(launch, view.follow, d)) : launch.data.dispatches.time)),
  stop: (stage) => [...new Set(stage.stops.flatMap(({ times }) => times))].sort((a, b) => a - b),
};

/** The moments of a kind; they are looked for when they are first asked for. */
function moments(stage, kind) {
  stage.times[kind] ??= MOMENTS[kind](stage);
  return stage.times[kind];
}

/** The first moment of a kind after time t, or none. */
function momentAfter(stage, kind, t) {
  const times = moments(stage, kind);
  return times[after(times, t)];
}

/** The last moment of a kind before time t, or none. */
function momentBefore(stage, kind, t) {
  const times = moments(stage, kind);
  return times[after(times, t - 1) - 1];
}
