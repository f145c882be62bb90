/* A link that reopens what is shown: #t=12&warp=3&thread=13. */

const REST = 150; // milliseconds that the pointer stands still

/** The parts of a link, by name. */
function linkParts(stage) {
  const { view, players: [player] } = stage;
  const { follow } = player.view;
  const usual = SHOWS[view.show]?.addresses ?? false;
  const shown = [view.show, ...(view.addresses === usual ? [] : [view.addresses ? "addresses" : "elements"])].filter(Boolean);
  const rows = panelsOf(stage).map(([, { kept }]) => kept || "").join().replace(/,+$/, "");
  return {
    t: view.time,
    ...(follow?.kind === "warp" ? { warp: follow.warp } : {}),
    ...(follow?.kind === "line" ? { line: follow.line, function: follow.function } : {}),
    ...(follow?.kind === "cell" ? { address: follow.place, unit: player.data.units[follow.unit].name } : {}),
    ...(player.view.thread ? { thread: player.view.thread } : {}),
    ...(stage.stops.length ? { stop: stage.stops.map(({ text }) => text).join(" or ") } : {}),
    ...(shown.length ? { show: shown } : {}),
    ...(rows ? { rows } : {}),
    ...(view.lecture ? { lecture: "" } : {}),
  };
}

/** The panels of the memories, of all runs. */
function panelsOf(stage) {
  return stage.players.flatMap((player) => player.panels.map((panel) => [player, panel]));
}

/** Let the link lead to what is shown. */
function drawLink(stage) {
  stage.part("link").href = `#${new URLSearchParams(linkParts(stage))}`;
}

/** Show what a link, the part of an address after #, leads to; all of it is drawn at once. */
function restore(stage, link) {
  stage.ready = false;
  const parts = new URLSearchParams(link);
  const [player] = stage.players;
  const number = (name) => (/^\d+$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);
  const shown = (parts.get("show") ?? "").split(",");
  go(stage, parts.get("t") === "end" ? stage.end : number("t") ?? stage.view.time);
  stage.players.forEach(turn);
  const own = shown.find((name) => Object.hasOwn(SHOWS, name)) ?? "";
  showKind(stage, own, !parts.has("t"));
  const unit = player.data.units.findIndex(({ name }) => name === parts.get("unit"));
  const warp = number("warp");
  const place = number("address");
  if (warp !== null && warp < player.data.warps.length) follow(player, { kind: "warp", warp });
  else if (parts.has("line")) follow(player, { kind: "line", line: number("line"), function: parts.get("function") });
  else if (place !== null && panelOf(player, Math.max(0, unit))?.cells.has(place)) follow(player, { kind: "cell", unit: Math.max(0, unit), place });
  else follow(player, null);
  if (number("thread") !== null) choose(player, number("thread"));
  const [time, { note }] = [stage.view.time, stage.view];
  if (!own || parts.has("stop")) setStops(stage, parts.get("stop") ?? "");
  if (time === stage.view.time && note) stage.view.note = note;
  showAddresses(stage, shown.includes("addresses") || (Boolean(SHOWS[own]?.addresses) && !shown.includes("elements")));
  present(stage);
  (parts.get("rows") ?? "").split(",").forEach((row, at) => panelsOf(stage)[at] && keepRow(...panelsOf(stage)[at], Number(row)));
  const large = parts.has("lecture") || new URLSearchParams(location.search).has("lecture");
  if (large !== stage.view.lecture) lecture(stage, large);
}

/** Keep to the address of the page: its link, ?lecture, and Space pressed on the page around it. */
function listenToPage(stage) {
  const until = { signal: stage.closing.signal };
  const byLink = () => restore(stage, location.hash.slice(1));
  stage.part("link").hidden = location.protocol === "about:"; // a frame of a notebook has no address
  if (location.hash.length > 1) byLink();
  else if (new URLSearchParams(location.search).has("lecture") || "lecture" in stage.host.dataset) lecture(stage, true);
  addEventListener("hashchange", byLink, until);
  addEventListener("message", (event) => {
    if (event.source === parent && event.data?.mmsim === "play") play(stage, !stage.view.playing);
  }, until);
  if (stage.embedded) takeKeys(stage, until);
}

/** Take the keys when the pointer comes to rest here: with several players on a page, it chooses one. */
function takeKeys(stage, until) {
  let rest = 0;
  let before = null;
  // The page that scrolls below the pointer, or an output that appears there, is no movement of it.
  document.addEventListener("mousemove", ({ screenX, screenY }) => {
    const moved = before && (screenX !== before[0] || screenY !== before[1]);
    before = [screenX, screenY];
    if (!moved) return;
    clearTimeout(rest);
    rest = setTimeout(() => document.hasFocus() || window.focus(), REST);
  }, until);
  document.addEventListener("mouseleave", () => {
    before = null;
    clearTimeout(rest);
  }, until);
  const mark = () => stage.host.classList.toggle("keys", document.hasFocus());
  for (const kind of ["focus", "blur"]) addEventListener(kind, mark, until);
}
