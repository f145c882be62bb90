/* What a lecturer picks to show: where it stops, what is in sight, and how much of the height the timeline has
   in lecture mode. The first of the `stops` that a run has is taken. */

const SHOWS = {
  conflict: { stops: ["bank conflict", "conflict"], addresses: false },
  coalescing: { stops: ["coalescing"], addresses: true },
  latency: { stops: ["latency"], addresses: false, timeline: 0.4 },
  barrier: { stops: ["barrier"], addresses: false, timeline: 0.4 },
};

/** Where a choice stops: the first of its stops that the run has, or none. */
function stopToShow(stage, name) {
  return SHOWS[name].stops.find((text) => stopOf(stage, text).times.length);
}

/** Show moments of a kind, or all ("") as before: stop there, and go to the first with `jump`. */
function showKind(stage, name, jump = true) {
  const { view } = stage;
  const changed = view.show !== name;
  view.show = name;
  stage.part("show").value = name;
  if (changed && stage.ready) fit(stage);
  if (!name) return;
  const stop = stopToShow(stage, name);
  follow(stage.players[0], null);
  showAddresses(stage, SHOWS[name].addresses);
  setStops(stage, stop ?? "");
  if (!jump) return;
  const time = moments(stage, "stop")[0] ?? view.time;
  go(stage, time, stop ? stoppedBy(stage, time) : `No ${name} in this run.`);
}

/** Offer what the run has. */
function offerShow(stage) {
  const [usual] = stage.part("show").options;
  renew(stage.part("show"), usual, ...Object.keys(SHOWS).map((name) => {
    const option = make("option", "", name);
    option.disabled = !stopToShow(stage, name);
    return option;
  }));
}
