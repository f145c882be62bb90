/* The controls: from keys, buttons and clicks to a time unit. */

/** Go to a time unit of the window; `note` is said with it. */
function go(player, time, note = "") {
  const { data, view } = player;
  view.time = Math.max(data.start, Math.min(data.end, Math.round(time)));
  view.note = note;
  draw(player);
  player.moved(view.time);
}

/** The times at which steps by access stop: of all accesses, or of what is followed. */
function findAccesses(player) {
  const { data, view } = player;
  player.accessTimes = data.dispatches.time.filter(
    (time, d) => time >= data.start && time <= data.end && (!view.follow || follows(player, d)),
  );
}

/** The moves that buttons and keys name. */
function movesOf(player) {
  const { data, view, boundaries, conflictTimes } = player;
  const later = (times, otherwise) => times[after(times, view.time)] ?? otherwise;
  const earlier = (times, otherwise) => times[after(times, view.time - 1) - 1] ?? otherwise;
  const to = (time, note) => go(player, time, note);
  return {
    first: () => to(data.start),
    last: () => to(data.end),
    next: () => to(view.time + 1),
    back: () => to(view.time - 1),
    access: () => to(later(player.accessTimes, data.end)),
    "access-back": () => to(earlier(player.accessTimes, data.start)),
    round: () => to(later(boundaries, data.end)),
    "round-back": () => to(earlier(boundaries, data.start)),
    conflict: () => to(later(conflictTimes, view.time), later(conflictTimes, -1) < 0 ? "No later conflict." : ""),
    "conflict-back": () => to(earlier(conflictTimes, view.time), earlier(conflictTimes, -1) < 0 ? "No earlier conflict." : ""),
  };
}

function play(player, on) {
  const { data, view } = player;
  view.playing = on;
  cancelAnimationFrame(player.frame);
  const button = player.part("play");
  button.textContent = on ? "Pause" : "Play";
  button.setAttribute("aria-pressed", String(on));
  player.part("status").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  if (view.time === data.end) go(player, data.start);
  let began = performance.now();
  const tick = (now) => {
    const speed = Number(player.part("speed").value);
    const due = Math.floor(((now - began) / 1000) * speed);
    if (due > 0) {
      began += (due * 1000) / speed;
      go(player, view.time + due);
    }
    if (view.time === data.end) play(player, false);
    else player.frame = requestAnimationFrame(tick);
  };
  player.frame = requestAnimationFrame(tick);
}

function theme(host) {
  return host.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function switchTheme(player) {
  player.host.dataset.theme = theme(player.host) === "dark" ? "light" : "dark";
  draw(player);
}

/** What a key means: a move, or something else to do. */
function meaning(player, event) {
  const { moves, view } = player;
  const by = event.ctrlKey || event.metaKey ? "round" : event.shiftKey ? "access" : "";
  switch (event.key) {
    case "ArrowRight": return moves[by || "next"];
    case "ArrowLeft": return moves[by ? `${by}-back` : "back"];
    case "PageDown": return moves.round;
    case "PageUp": return moves["round-back"];
    case "Home": return moves.first;
    case "End": return moves.last;
  }
  if (event.ctrlKey || event.metaKey) return null;
  switch (event.key) {
    case ".": return moves.next;
    case ",": return moves.back;
    case " ": return () => play(player, !view.playing);
    case "c": return moves.conflict;
    case "C": return moves["conflict-back"];
    case "d": return () => switchTheme(player);
    case "Escape": return () => view.follow && toggle(player, view.follow);
  }
  return null;
}

/** Listen to the keys of `keys`, and to the clicks and the size of the player, until it closes. */
function listen(player, keys) {
  const { root, data } = player;
  const until = { signal: player.closing.signal };
  keys.addEventListener("keydown", (event) => {
    const [target] = event.composedPath();
    if (event.defaultPrevented || event.altKey) return;
    const cell = target.closest?.("td[data-place]");
    if (cell && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      cell.click();
      return;
    }
    if (target.closest?.("select, .number") || (event.key === " " && target.closest?.("button"))) return;
    const act = meaning(player, event);
    if (!act) return;
    event.preventDefault();
    act();
  }, until);
  root.addEventListener("click", (event) => {
    // Cells, badges and elements are drawn anew again and again: one listener serves them.
    const warp = event.target.closest("[data-warp]");
    const cell = event.target.closest("[data-place]");
    const move = event.target.closest("[data-go]");
    if (warp) toggle(player, { kind: "warp", warp: Number(warp.dataset.warp) });
    else if (cell) toggle(player, { kind: "cell", unit: Number(cell.dataset.unit), place: Number(cell.dataset.place) });
    else if (move) player.moves[move.dataset.go]();
  });
  player.part("play").addEventListener("click", () => play(player, !player.view.playing));
  player.part("theme").addEventListener("click", () => switchTheme(player));
  player.part("slider").addEventListener("input", () => go(player, Number(player.part("slider").value)));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawTimeline(player), until);
  const watch = new ResizeObserver(() => requestAnimationFrame(() => fit(player)));
  watch.observe(player.part("timeline-scroll"));
  player.closing.signal.addEventListener("abort", () => watch.disconnect());
  for (const speed of [1, 2, 5, 10, 30, 60, 300]) {
    const option = make("option", "", `${speed}/s`);
    option.value = speed;
    option.selected = speed === 5;
    player.part("speed").append(option);
  }
  player.part("slider").min = data.start;
  player.part("slider").max = data.end;
  const without = (times, names) => names.forEach((name) => {
    root.querySelector(`[data-go="${name}"]`).disabled = times.length === 0;
  });
  without(player.boundaries, ["round", "round-back"]);
  without(player.conflictTimes, ["conflict", "conflict-back"]);
}
