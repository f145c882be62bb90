/* The player of one run: its panels, and what they show of a launch at a time unit. */

/** The player whose panels are in `root`. */
function buildPlayer(stage, root) {
  const player = { stage, root, part: (id) => root.getElementById(id), panels: [] };
  walkable(player.part("source"), ".code");
  walkable(player.part("queue"), ".badge");
  buildQueue(player);
  buildThread(player);
  player.timeline = buildTimeline(player);
  root.addEventListener("click", (event) => {
    // Cells, badges and elements are drawn anew again and again: one listener serves them.
    const warp = event.target.closest("[data-warp]");
    const cell = event.target.closest("[data-place]");
    if (warp) toggle(player, { kind: "warp", warp: Number(warp.dataset.warp) });
    else if (cell) toggle(player, { kind: "cell", unit: Number(cell.dataset.unit), place: Number(cell.dataset.place) });
  });
  return player;
}

/** Let a player have a run: one launch, or several, in order. */
function takeRun(player, run) {
  const launches = (run.launches ?? [run]).map((data) => ({ data, model: prepare(data) }));
  const [first, last] = [launches[0], launches.at(-1)];
  Object.assign(player, {
    run, launches, ...first, current: -1, start: first.data.start, end: last.data.end, time: last.data.time,
    view: { time: first.data.start, follow: null, thread: 0 },
  });
}

/** Show what does not change from launch to launch, and the first. */
function furnish(player) {
  const { stage } = player;
  furnishTimeline(player);
  buildFindings(player);
  enter(player, 0);
  const name = player.part("run-name");
  hide(name, stage.players.length === 1);
  if (name.hidden) return;
  for (const panel of player.part("run").querySelectorAll("[aria-labelledby]")) {
    panel.setAttribute("aria-labelledby", `${panel.getAttribute("aria-labelledby").split(" ")[0]} run-name`);
  }
  name.replaceChildren(`${player.run.name} `, make("small", "", described(player).subtitle));
}

/** The panel of a unit; none of one that does nothing. */
function panelOf(player, unit) {
  return player.panels.find(({ u }) => u === unit);
}

/** Show the panels of a launch: of the units that do something. */
function enter(player, number) {
  if (number === player.current) return;
  const { stage } = player;
  const { data, model } = Object.assign(player, player.launches[number]);
  player.current = number;
  player.view.thread = Math.min(player.view.thread, data.threads - 1);
  player.threadDrawn = null;
  player.lines = buildSource(player);
  const works = (u) => model.byUnit[u].length > 0 || data.arrays.some(({ units }) => units.includes(u));
  const units = data.units.map((_, u) => u).filter((u) => works(u) || data.units.length === 1);
  const before = player.panels;
  player.panels = units.map((u) => buildUnit(player, u, before.find((panel) => panel.u === u)));
  const idle = data.units.filter((_, u) => !units.includes(u)).map(({ name }) => name);
  const names = idle.length > 1 ? `${idle[0]} to ${idle.at(-1)} have` : `${idle[0]} has`;
  const none = idle.length ? [make("p", "empty idle", `${names} no array and no request`)] : [];
  player.part("run").classList.toggle("one-unit", data.units.length === 1);
  player.part("run").classList.toggle("broad", data.width > 8);
  // A machine of one unit leaves room on the right.
  const thread = player.part("thread-panel");
  const right = data.units.length === 1 ? [thread] : [];
  if (!right.length) player.root.querySelector(".left").append(thread);
  refill(player.part("units"), ...player.panels.map(({ section }) => section), ...none, ...right);
  player.part("queue").style.setProperty("--rows", Math.min(data.warps.length, 12) + 1);
  player.part("thread").max = data.threads - 1;
  if (stage.ready) fitPlayers([player]);
}

/** The launch that a time unit belongs to: of two, the one that begins there. */
function launchAt(player, time) {
  let number = player.launches.length - 1;
  while (number > 0 && player.launches[number].data.start > time) number--;
  return number;
}

/** Go to the time of the stage, and find the rows of the memories that are to be in sight there. */
function turn(player) {
  const { view, stage } = player;
  view.time = Math.min(player.end, Math.max(player.start, stage.view.time));
  enter(player, launchAt(player, view.time));
  player.turned = player.panels.filter((panel) => panel.at !== view.time && !isSteady(player, panel));
  for (const panel of player.turned) {
    panel.at = view.time;
    seek(player, panel);
  }
  player.waiting = waitsAt(player.model, view.time);
}

/** What reads positions: after a change the browser would have to lay out the page again. */
function scrollPlayer(player) {
  player.turned.forEach(scrollToSought);
  seekLine(player);
}

/** Draw all but the timeline. */
function drawPanels(player) {
  drawSource(player, player.waiting);
  drawQueue(player, player.waiting);
  drawThread(player);
  for (const panel of player.panels) {
    drawPipeline(player, panel);
    drawMemory(player, panel);
  }
}

/** A machine in words. */
function inWords({ machine, width, units: [first, second] }) {
  const name = machine.startsWith("Cached(") ? "a cached HMM" : withArticle(machine.split("(")[0]);
  const dmms = /\bdmms=(\d+)/.exec(machine)?.[1];
  const of = dmms ? `${many(Number(dmms), "DMM")} of width ${width}` : `width ${width}`;
  const shared = dmms && second?.latency > 1 ? `, ${second.latency} of shared memory` : "";
  return `${name} of ${of}, latency ${first.latency}${shared}`;
}

/** What a run is called, and what it is a run of. */
function described({ launches, run }) {
  const [{ data }] = launches;
  const one = launches.length === 1;
  const last = launches.at(-1).data;
  const shown = data.start > 0 || last.end < last.time ? `; shown: ${data.start} to ${last.end}` : "";
  return {
    title: `${one ? data.program : run.program} on ${inWords(data)}`,
    machine: data.machine,
    subtitle: `${one ? "" : `${launches.length} launches, the first of `}${data.launched}, ${many(data.warps.length, "warp")}, ${data.schedule}, ${last.time} time units${shown}`,
  };
}
