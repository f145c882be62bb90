/* The controls: from keys, buttons and clicks to a time unit. */

/** Go to a time unit of the window; `note` is announced with it. */
function go(stage, time, note = "") {
  const { view } = stage;
  view.time = Math.max(stage.start, Math.min(stage.end, Math.round(time)));
  view.note = note;
  draw(stage);
  if (stage.ready) stage.moved(view.time);
}

/** The moves that buttons and keys name. */
function movesOf(stage) {
  const { view } = stage;
  const to = (time, note) => go(stage, time, note);
  const later = (kind, otherwise, none = "") => () => {
    const time = momentAfter(stage, kind, view.time);
    to(time ?? otherwise(), time === undefined ? none : kind === "stop" ? stoppedBy(stage, time) : "");
  };
  const earlier = (kind, otherwise, none = "") => () => {
    const time = momentBefore(stage, kind, view.time);
    to(time ?? otherwise(), time === undefined ? none : kind === "stop" ? stoppedBy(stage, time) : "");
  };
  const [start, end, here] = [() => stage.start, () => stage.end, () => view.time];
  return {
    first: () => to(stage.start),
    last: () => to(stage.end),
    next: () => to(view.time + 1),
    back: () => to(view.time - 1),
    access: later("access", end),
    "access-back": earlier("access", start),
    round: later("round", end),
    "round-back": earlier("round", start),
    conflict: later("conflict", here, "No later conflict."),
    "conflict-back": earlier("conflict", here, "No earlier conflict."),
    stop: later("stop", here, "No later stop."),
    "stop-back": earlier("stop", here, "No earlier stop."),
  };
}

function play(stage, on) {
  const { view } = stage;
  view.playing = on;
  cancelAnimationFrame(stage.frame);
  const button = stage.part("play");
  button.textContent = on ? "Pause" : "Play";
  button.setAttribute("aria-pressed", String(on));
  stage.part("status").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) {
    draw(stage); // what was not while it played
    return;
  }
  if (view.time === stage.end) go(stage, stage.start);
  let began = performance.now();
  const tick = (now) => {
    const speed = Number(stage.part("speed").value);
    const due = Math.floor(((now - began) / 1000) * speed);
    const stop = momentAfter(stage, "stop", view.time) ?? Infinity;
    if (due > 0) {
      began += (due * 1000) / speed;
      const time = Math.min(view.time + due, stop);
      go(stage, time, time === stop ? stoppedBy(stage, time) : "");
    }
    if (view.time === stage.end || view.time === stop) play(stage, false);
    else stage.frame = requestAnimationFrame(tick);
  };
  stage.frame = requestAnimationFrame(tick);
}

function theme(host) {
  return host.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function switchTheme(stage) {
  stage.host.dataset.theme = theme(stage.host) === "dark" ? "light" : "dark";
  spreadTheme(stage);
  draw(stage);
}

/** Let the players inside have the theme of the whole. */
function spreadTheme(stage) {
  const { theme: own } = stage.host.dataset;
  if (own) for (const { root } of stage.players) root.host.dataset.theme = own;
}

/** Show everything on one screen, in large letters, or as before. */
function lecture(stage, on) {
  stage.view.lecture = on;
  stage.part("whole").classList.toggle("lecture", on);
  stage.host.classList.toggle("lecture", on);
  stage.part("lecture").setAttribute("aria-pressed", String(on));
  fit(stage);
  draw(stage);
}

/** Write addresses into the registers, or elements. */
function showAddresses(stage, on) {
  stage.view.addresses = on;
  stage.part("addresses").setAttribute("aria-pressed", String(on));
  draw(stage);
}

/** What a key means: a move, or something else to do. */
function meaning(stage, event) {
  const { moves, view } = stage;
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
    case " ": return () => play(stage, !view.playing);
    case "c": return moves.conflict;
    case "C": return moves["conflict-back"];
    case "s": return stage.stops.length ? moves.stop : () => stage.part("stop").focus();
    case "S": return moves["stop-back"];
    case "d": return () => switchTheme(stage);
    case "l": return () => lecture(stage, !view.lecture);
    case "a": return () => showAddresses(stage, !view.addresses);
    case "Escape": return () => stage.players.forEach((one) => one.view.follow && follow(one, null));
  }
  return null;
}

/** Whether a key is for what has the focus: a field, or a button that one came to with Tab. */
function isTaken(stage, event, target) {
  if (target.closest?.("input:not([type=range])")) return true;
  if (target.closest?.("select")) return event.key !== " " || !stage.clicked;
  return event.key === " " && Boolean(target.closest?.("button, a")) && !stage.clicked;
}

/** Listen to the keys of `keys`, and to the clicks and the size of the player, until it closes. */
function listen(stage, keys) {
  const { root } = stage;
  const until = { signal: stage.closing.signal };
  keys.addEventListener("keydown", (event) => {
    const [target] = event.composedPath();
    if (event.defaultPrevented || event.altKey) return;
    const cell = target.closest?.("td[data-place]");
    if (event.key === "Tab") stage.clicked = false;
    if (cell && (event.key === "Enter" || (event.key === " " && !stage.clicked))) {
      event.preventDefault();
      cell.click();
      return;
    }
    if (isTaken(stage, event, target)) return;
    const act = meaning(stage, event);
    if (!act) return;
    event.preventDefault();
    act();
  }, until);
  // A button that was clicked keeps the focus: Space plays all the same, and does not click it again.
  root.addEventListener("pointerdown", () => { stage.clicked = true; });
  keys.addEventListener("keyup", (event) => {
    const [target] = event.composedPath();
    if (event.key === " " && target.closest?.("button") && stage.clicked) event.preventDefault();
  }, until);
  root.addEventListener("change", ({ target }) => stage.clicked && target.matches("select") && target.blur());
  root.addEventListener("click", (event) => {
    const move = event.target.closest("[data-go]");
    if (move) stage.moves[move.dataset.go]();
  });
  stage.part("play").addEventListener("click", () => play(stage, !stage.view.playing));
  stage.part("theme").addEventListener("click", () => switchTheme(stage));
  stage.part("lecture").addEventListener("click", () => lecture(stage, !stage.view.lecture));
  stage.part("addresses").addEventListener("click", () => showAddresses(stage, !stage.view.addresses));
  stage.part("slider").addEventListener("input", () => go(stage, Number(stage.part("slider").value)));
  const [followed, stops, show] = ["follow", "stop", "show"].map(stage.part);
  followed.addEventListener("change", () => follow(stage.players[0], followed.value ? JSON.parse(followed.value) : null));
  stops.addEventListener("change", () => setStops(stage, stops.value));
  show.addEventListener("change", () => {
    showKind(stage, show.value);
    if (show.value) return;
    setStops(stage, "");
    showAddresses(stage, false);
  });
  for (const media of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(media).addEventListener("change", () => {
      stage.view.print = matchMedia("print").matches;
      draw(stage);
    }, until);
  }
  const watch = new ResizeObserver(() => requestAnimationFrame(() => fit(stage)));
  for (const player of stage.players) watch.observe(player.part("timeline-scroll"));
  watch.observe(stage.part("runs"));
  stage.closing.signal.addEventListener("abort", () => [watch, stage.tables].forEach((one) => one.disconnect()));
  const usual = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1 : 5;
  for (const speed of [1, 2, 5, 10, 30, 60, 300]) {
    const option = make("option", "", `${speed}/s`);
    option.value = speed;
    option.selected = speed === usual;
    stage.part("speed").append(option);
  }
}

/** Offer the moves that the run has. */
function offerMoves(stage) {
  stage.part("slider").min = stage.start;
  stage.part("slider").max = stage.end;
  for (const kind of ["round", "conflict"]) {
    for (const name of [kind, `${kind}-back`]) stage.root.querySelector(`[data-go="${name}"]`).disabled = !moments(stage, kind).length;
  }
}
