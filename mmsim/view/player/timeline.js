/* The timeline: all warps over time, with the current time marked. */

const TALL = 2000; // warps in the timeline
const NARROW = 800; // pixels up to which the panels stand one below the other
const NARROW_COMPACT = 600; // the same where they are as high as a frame
const LETTERS = 11; // the height of the letters, but in lecture mode
const GUTTER = 4; // for warp numbers, in heights of letters

/** The timeline: a picture of the run, and a frame over it at the current time. */
function buildTimeline(player) {
  const { stage } = player;
  const canvas = player.part("timeline");
  const timeline = {
    canvas, cursor: player.part("cursor"), unit: 1, row: 18, width: 200,
    letters: LETTERS, gutter: GUTTER * LETTERS, top: 0, axis: 18,
  };
  player.part("zoom").addEventListener("click", () => {
    stage.view.whole = !stage.view.whole;
    stage.players.forEach(drawTimeline);
  });
  const pointed = (event) => ({
    time: Math.floor(timeline.from + (event.offsetX - timeline.gutter) / timeline.unit),
    warp: Math.floor((event.offsetY - timeline.top) / timeline.row),
    gutter: event.offsetX < timeline.gutter,
  });
  canvas.addEventListener("click", (event) => {
    const { time, warp, gutter } = pointed(event);
    if (!gutter) go(stage, time);
    else if (warp >= 0 && warp < player.data.warps.length) toggle(player, { kind: "warp", warp });
  });
  canvas.addEventListener("mousemove", (event) => {
    const { time, warp, gutter } = pointed(event);
    canvas.title = "";
    if (warp < 0 || warp >= timeline.warps) return;
    if (gutter) canvas.title = `warp ${warp}; click to follow`;
    const { data, model } = player.launches[launchAt(player, time)];
    const wait = gutter ? undefined : waitsAt(model, time).find((w) => data.waits.warp[w] === warp);
    if (wait !== undefined) {
      canvas.title = `warp ${warp}, time ${time}, line ${data.waits.line[wait]}: ${explain(model, wait, time)} (${data.waits.start[wait]} to ${data.waits.end[wait]})`;
    }
  });
  return timeline;
}

/** Let the timeline be that of a run. */
function furnishTimeline({ stage, timeline, launches, data: { schedule }, part }) {
  const warps = Math.max(...launches.map(({ data }) => data.warps.length));
  Object.assign(timeline, { drawn: "", from: stage.start, warps: Math.min(warps, TALL) });
  part("boundary-name").textContent = schedule === "synchronous" ? "a round begins" : "a barrier opens";
  hide(part("launch-name"), launches.length === 1);
  hide(part("timeline-note"), warps <= TALL);
  part("timeline-note").textContent = `Only the first ${TALL} of ${warps} warps are drawn here.`;
}

/** Fit the panels, and the timelines' pictures, into the room that there is.

    All are changed before anything is measured: the browser lays out the page once, not for each. */
function fitPlayers(players) {
  const widths = players.map(({ root }) => root.host.clientWidth);
  players.forEach((player, number) => shapePlayer(player, widths[number]));
  for (const player of players) {
    player.timeline.width = Math.max(200, player.timeline.canvas.parentElement.clientWidth - 2);
    fitUnit(player);
    fitSource(player);
    fitQueue(player);
  }
  for (const player of players) if (player.waiting) seekLine(player);
  players.forEach(drawTimeline);
}

/** Let a memory between the source and the timeline have the height that they leave. */
function fitUnit({ stage, part, root }) {
  const box = part("run");
  if (!isCompact(stage) || !box.classList.contains("narrow")) return;
  const others = part("source-panel").offsetHeight + part("timeline-panel").offsetHeight + 2 * 6; // and the gaps
  box.style.setProperty("--unit", `${root.querySelector(".panels").clientHeight - others}px`);
}

/** Let a player have the shape for its width. */
function shapePlayer(player, width) {
  const { stage, timeline } = player;
  const { lecture, show } = stage.view;
  const compact = isCompact(stage);
  const box = player.part("run");
  box.classList.toggle("narrow", width <= narrowest(stage));
  box.classList.toggle("compact", compact);
  box.dataset.show = show;
  box.classList.toggle("lecture", lecture);
  box.classList.toggle("beside", stage.players.length > 1);
  timeline.letters = lecture ? parseFloat(getComputedStyle(box).fontSize) : LETTERS;
  timeline.gutter = Math.round(GUTTER * (lecture ? 0.75 : 1) * timeline.letters);
  timeline.axis = timeline.letters + 7;
  timeline.top = player.launches.length > 1 ? timeline.letters + 6 : 0;
  const tallest = lecture ? Math.floor(1.3 * timeline.letters) : 20;
  const share = lecture ? (SHOWS[show]?.timeline ?? 0.24) : 0.2; // of the height
  const room = lecture || compact ? share * stage.host.clientHeight - timeline.top - timeline.axis - 4 : 260;
  timeline.row = Math.max(2, Math.min(tallest, Math.floor(room / timeline.warps)));
  if (!lecture && !compact && timeline.row < 9 && timeline.warps <= 64) timeline.row = 9;
  timeline.height = timeline.top + timeline.warps * timeline.row + timeline.axis;
  timeline.canvas.style.height = `${timeline.height}px`;
}

/** Where a time unit begins in the picture. */
function across(timeline, time) {
  return timeline.gutter + (time - timeline.from) * timeline.unit;
}

/** Which time units fit, and how large they are. Players side by side have one scale. */
function fitTimeline(player) {
  const { stage, view, timeline } = player;
  const span = stage.end - stage.start + 1;
  const room = timeline.width - timeline.gutter;
  const share = room / span;
  const crowded = share < 5;
  const zoom = player.part("zoom");
  if (zoom.hidden === crowded) zoom.hidden = !crowded;
  zoom.setAttribute("aria-pressed", String(stage.view.whole));
  timeline.unit = !crowded || stage.view.whole ? Math.min(share, 4 * timeline.letters) : 10;
  const units = room / timeline.unit;
  if (units >= span) timeline.from = stage.start;
  else if (view.time < timeline.from + 1 || view.time > timeline.from + units - 3) {
    timeline.from = Math.max(stage.start, Math.min(stage.end + 1 - Math.floor(units), view.time - Math.floor(units / 4)));
  }
}

function drawTimeline(player) {
  const { stage, view, timeline } = player;
  fitTimeline(player);
  const { canvas, cursor, width, height } = timeline;
  const ratio = window.devicePixelRatio || 1;
  const key = [width, height, timeline.letters, timeline.from, timeline.unit, theme(stage.host), stage.view.print, JSON.stringify(view.follow), ratio].join(" ");
  if (key !== timeline.drawn) {
    timeline.drawn = key;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    canvas.style.width = `${width}px`;
    cursor.style.width = `${Math.max(timeline.unit, 4)}px`;
    cursor.style.height = `${height - timeline.axis - 1}px`;
    paintTimeline(player);
  }
  cursor.style.transform = `translateX(${across(timeline, view.time)}px)`;
  canvas.setAttribute("aria-label", `Timeline of ${many(player.data.warps.length, "warp")}, time units ${player.start} to ${player.end}; now ${view.time}`);
}
