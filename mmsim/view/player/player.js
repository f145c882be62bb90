/* The player of a run, or of two side by side. These files are joined, in the order that
   `mmsim.view.player.scripts` gives, into one module for the page and the widget, together with STYLE,
   SKELETON and PANELS, the texts of player.css, player.html and panels.html, and with COLOURS:

   the state: what the machine holds at a time unit, worked out from the run's data alone;
   the panels: from a time unit, what is followed and the chosen thread to what is drawn;
   the controls: from keys, buttons and clicks to a time unit.

   A `stage` is what the controls act on: one time, and the players that show it. A `player` shows one
   run. There may be several stages on one page. */

/** Draw the current time unit. */
function draw(stage) {
  if (!stage.ready) return;
  const { view } = stage;
  stage.players.forEach(turn);
  stage.players.forEach(scrollPlayer);
  const slider = stage.part("slider");
  stage.part("now").textContent = `Time ${view.time} of ${stage.time}`;
  slider.value = view.time;
  slider.setAttribute("aria-valuetext", `time ${view.time} of ${stage.time}`);
  const stories = stage.players.map((player) => story(player));
  const text = `Time ${view.time} of ${stage.time}: ${stories.join(" | ")}.`;
  stage.part("status").textContent = view.note ? `${view.note} ${text}` : text;
  stage.players.forEach(drawPanels);
  stage.players.forEach(drawTimeline);
  drawLink(stage);
}

/** Fit the panels, and the timelines, into the room that there is. */
function fit(stage) {
  shapeStage(stage);
  fitPlayers(stage.players);
}

/** Whether the player keeps to the height that it is given, in a cell of a notebook or on another page. */
function isCompact({ embedded, view: { lecture } }) {
  return embedded && !lecture;
}

/** Up to so many pixels the panels stand one below the other. */
function narrowest(stage) {
  return isCompact(stage) ? NARROW_COMPACT : NARROW;
}

/** Let the controls have the shape for their width. */
function shapeStage(stage) {
  const { classList, dataset } = stage.part("whole");
  dataset.show = stage.view.show;
  classList.toggle("narrow", stage.host.clientWidth <= narrowest(stage));
  classList.toggle("compact", isCompact(stage));
}

/** Copies of the elements of a text of this module: no text of a run is in it. */
function elementsOfText(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

/** Where the panels of each run stand: of one in `root` itself, of several in roots of their own. */
function placesOf(root, runs) {
  const panels = (into) => {
    const box = make("div");
    box.id = "run";
    box.append(elementsOfText(PANELS));
    into.append(box);
  };
  if (runs.length === 1) {
    panels(root.getElementById("runs"));
    return [root];
  }
  return runs.map(() => {
    const own = root.getElementById("runs").appendChild(make("div", "run"));
    const inside = own.attachShadow({ mode: "open" });
    inside.append(make("style", "", STYLE));
    panels(inside);
    return inside;
  });
}

/**
 * Put a player of `data` into `host`, in a shadow root, so that its styles stay there.
 *
 * It listens to the keys of `keys` (those inside the player, if not given), begins at `time` (the
 * first) and calls `moved` with each time unit that it goes to. With `page` it keeps to the address of
 * the page. With `embedded` it keeps to its height. `style` is added to its styles. Gives what a script can do with it.
 */
function mount(host, data, { keys, time, page = false, embedded = false, style = "", moved = () => {} } = {}) {
  const root = host.attachShadow({ mode: "open" });
  root.append(make("style", "", STYLE + style), elementsOfText(SKELETON));
  const stage = {
    host, root, moved, embedded, frame: 0, clicked: false, closing: new AbortController(), tables: watchTables(),
    part: (id) => root.getElementById(id),
    view: { time: 0, playing: false, whole: false, note: "", lecture: false, show: "", addresses: false, print: false },
  };
  const places = placesOf(root, data.runs ?? [data]);
  stage.players = places.map((place) => buildPlayer(stage, place));
  stage.moves = movesOf(stage);
  for (const name of ["whole", "runs"]) stage.part(name).classList.toggle("several", places.length > 1);
  stage.part("note").textContent = data.note ?? "";
  stage.part("origin").textContent = data.origin;
  if (data.laboratory) Object.assign(stage.part("laboratory"), { href: data.laboratory, hidden: false });
  if (data.repository) {
    const link = make("a", "", data.repository);
    Object.assign(link, { href: data.repository, target: "_blank", rel: "noopener" });
    stage.part("origin").append(" ", link);
  }
  listen(stage, keys ?? root);
  spreadTheme(stage);
  fill(stage, data, time);
  if (data.show && stage.view.time === stage.start) showKind(stage, data.show);
  if (page) {
    document.title = stage.part("title").textContent;
    listenToPage(stage);
  }
  const [player] = stage.players;
  return {
    stage,
    get data() { return stage.data; },
    show: (other, link) => fill(stage, other, undefined, link),
    state: (at) => stateOf(player, at),
    states: (at) => stage.players.map((one) => stateOf(one, at)),
    get time() { return stage.view.time; },
    go: (at) => go(stage, at),
    choose: (thread) => choose(player, thread),
    close() {
      play(stage, false);
      stage.closing.abort();
    },
  };
}

/** Show a run, or several side by side, at a time unit, the first if not given, or what a link leads to. What was
    shown before goes; of it stays what looks the same. */
function fill(stage, data, time, link) {
  const runs = data.runs ?? [data];
  const { data: before } = stage;
  Object.assign(stage, { data, ready: false, times: {}, stops: [] });
  stage.players.forEach((player, number) => takeRun(player, runs[number]));
  stage.launches = stage.players.flatMap(({ launches }) => launches);
  stage.start = Math.min(...stage.players.map(({ start }) => start));
  stage.end = Math.max(...stage.players.map(({ end }) => end));
  stage.time = Math.max(...stage.players.map((one) => one.time));
  const { title, subtitle, machine } = described(stage.players[0]);
  stage.part("title").textContent = runs.length > 1 ? runs.map(({ name }) => name).join(" and ") : title;
  stage.part("title").title = runs.length > 1 ? "" : machine;
  stage.part("subtitle").textContent = runs.length > 1 ? "" : subtitle;
  if (before) stage.players.forEach(furnish);
  else { // before there is much in it, as a change of shape lays out all that is there
    shapeStage(stage);
    const widths = stage.players.map(({ root: { host: { clientWidth } } }) => clientWidth);
    stage.players.forEach(furnish);
    stage.players.forEach((player, number) => shapePlayer(player, widths[number]));
  }
  offerFollow(stage);
  offerStops(stage);
  offerShow(stage);
  offerMoves(stage);
  Object.assign(stage.view, { time: time ?? stage.start, note: "" });
  if (link === undefined) {
    stage.players.forEach(turn);
    present(stage);
  } else restore(stage, link);
}

/** Draw all that is to be seen, and fit it. */
function present(stage) {
  stage.players.forEach(drawPanels);
  stage.ready = true;
  fit(stage);
  stage.players.forEach(({ turned }) => turned.forEach(scrollToSought));
  go(stage, stage.view.time, stage.view.note);
}

/** What the machine of a run holds at time t. */
function stateOf(player, t) {
  return state(player.launches[launchAt(player, t)].model, t);
}
