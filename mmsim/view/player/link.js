/* A link that reopens what is shown: #t=12&warp=3&thread=13. */

/** The parts of a link, by name. */
function linkParts(stage) {
  const { view, players: [player] } = stage;
  const { follow } = player.view;
  return {
    t: view.time,
    ...(follow?.kind === "warp" ? { warp: follow.warp } : {}),
    ...(follow?.kind === "line" ? { line: follow.line, function: follow.function } : {}),
    ...(follow?.kind === "cell" ? { address: follow.place, unit: player.data.units[follow.unit].name } : {}),
    ...(player.view.thread ? { thread: player.view.thread } : {}),
    ...(stage.stops.length ? { stop: stage.stops.map(({ text }) => text).join(" or ") } : {}),
    ...(view.addresses ? { show: "addresses" } : {}),
    ...(view.lecture ? { lecture: "" } : {}),
  };
}

/** Let the link lead to what is shown. */
function drawLink(stage) {
  stage.part("link").href = `#${new URLSearchParams(linkParts(stage))}`;
}

/** Show what a link, the part of an address after #, leads to. */
function restore(stage, link) {
  const parts = new URLSearchParams(link);
  const [player] = stage.players;
  const number = (name) => (/^\d+$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);
  go(stage, number("t") ?? stage.view.time);
  const unit = player.data.units.findIndex(({ name }) => name === parts.get("unit"));
  const warp = number("warp");
  const place = number("address");
  if (warp !== null && warp < player.data.warps.length) follow(player, { kind: "warp", warp });
  else if (parts.has("line")) follow(player, { kind: "line", line: number("line"), function: parts.get("function") });
  else if (place !== null && panelOf(player, Math.max(0, unit))?.cells.has(place)) follow(player, { kind: "cell", unit: Math.max(0, unit), place });
  else follow(player, null);
  if (number("thread") !== null) choose(player, number("thread"));
  const [time, { note }] = [stage.view.time, stage.view];
  setStops(stage, parts.get("stop") ?? "");
  if (time === stage.view.time && note) stage.view.note = note;
  showAddresses(stage, parts.get("show") === "addresses");
  lecture(stage, parts.has("lecture") || new URLSearchParams(location.search).has("lecture"));
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
}
