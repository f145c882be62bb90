/* The player of one run. These files are joined, in the order that `mmsim.view.player.page` gives, into
   one module for the page and the widget, together with STYLE and SKELETON, the texts of player.css
   and player.html:

   the state: what the machine holds at a time unit, worked out from the run's data alone;
   the panels: from a time unit, what is followed and the chosen thread to what is drawn;
   the controls: from keys, buttons and clicks to a time unit.

   A `player` is what all of them share; there may be several on one page. */

/** Draw the current time unit. */
function draw(player) {
  const { data, model, view } = player;
  // First what asks where things stand: after a change the browser would lay them all out anew.
  for (const panel of player.panels) {
    if (panel.sought !== view.time) {
      panel.sought = view.time;
      seek(player, panel);
    }
  }
  const waiting = waitsAt(model, view.time);
  const slider = player.part("slider");
  player.part("now").textContent = `Time ${view.time} of ${data.time}`;
  slider.value = view.time;
  slider.setAttribute("aria-valuetext", `time ${view.time} of ${data.time}`);
  const told = story(model, view.time);
  player.part("status").textContent = view.note ? `${view.note} ${told}` : told;
  drawSource(player, waiting);
  drawQueue(player, waiting);
  drawThread(player);
  for (const panel of player.panels) {
    drawPipeline(player, panel);
    drawMemory(player, panel);
  }
  drawTimeline(player);
}

/**
 * Put a player of `data` into `host`, in a shadow root, so that its styles stay there.
 *
 * It listens to the keys of `keys` (those inside the player, if not given), begins at `time` (the
 * first) and calls `moved` with each time unit that it goes to. Gives what a script can do with it.
 */
function mount(host, data, { keys, time = data.start, moved = () => {} } = {}) {
  const root = host.attachShadow({ mode: "open" });
  const style = make("style", "", STYLE);
  const body = document.createElement("template");
  body.innerHTML = SKELETON; // no text of the run is in it
  root.append(style, body.content);
  const model = prepare(data);
  const inWindow = (one) => one >= data.start && one <= data.end;
  const player = {
    host, root, data, moved,
    part: (id) => root.getElementById(id),
    model,
    view: { time, follow: null, thread: 0, playing: false, whole: false, note: "" },
    boundaries: data.schedule === "synchronous" ? data.rounds : [...new Set(data.releases.map(([at]) => at))],
    conflictTimes: data.dispatches.time.filter((at, d) => isConflict(model, d) && inWindow(at)),
    closing: new AbortController(),
    frame: 0,
  };
  player.part("title").textContent = `${data.program} on ${data.machine}`;
  player.part("subtitle").textContent = `${data.launched}, ${data.warps.length} ${data.warps.length === 1 ? "warp" : "warps"}, ${data.schedule}, ${data.time} time units`
    + (data.start > 0 || data.end < data.time ? `; shown: ${data.start} to ${data.end}` : "");
  player.moves = movesOf(player);
  player.lines = buildSource(player);
  walkable(player.part("queue"), ".badge");
  buildThread(player);
  player.panels = data.units.map((_, u) => buildUnit(player, u));
  // A machine of one unit leaves room on the right.
  if (data.units.length === 1) player.part("units").append(player.part("thread-panel"));
  player.timeline = buildTimeline(player);
  buildFollow(player);
  buildFindings(player);
  findAccesses(player);
  listen(player, keys ?? root);
  go(player, time);
  fit(player);
  return {
    data,
    state: (at) => state(player.model, at),
    get time() { return player.view.time; },
    go: (at) => go(player, at),
    choose: (thread) => choose(player, thread),
    close() {
      play(player, false);
      player.closing.abort();
    },
  };
}
