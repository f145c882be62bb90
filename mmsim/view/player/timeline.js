/* The timeline: all warps over time, with the current time marked. */

const TALL = 2000; // warps in the timeline
const NARROW = 800; // pixels up to which the panels stand one below the other
const GUTTER = 44; // for warp numbers

/** The timeline: where it stands, and a picture of it without the current time. */
function buildTimeline(player) {
  const { data, model, view } = player;
  const canvas = player.part("timeline");
  const timeline = { canvas, picture: document.createElement("canvas"), drawn: "", from: 0, unit: 1, row: 18, width: 200 };
  player.part("boundary-name").textContent = data.schedule === "synchronous" ? "a round begins" : "a barrier opens";
  if (data.warps.length > TALL) {
    player.part("timeline-note").hidden = false;
    player.part("timeline-note").textContent = `Only the first ${TALL} of ${data.warps.length} warps are drawn here.`;
  }
  player.part("zoom").addEventListener("click", () => {
    view.whole = !view.whole;
    player.part("zoom").setAttribute("aria-pressed", String(view.whole));
    drawTimeline(player);
  });
  const pointed = (event) => ({
    time: Math.floor(timeline.from + (event.offsetX - GUTTER) / timeline.unit),
    warp: Math.floor(event.offsetY / timeline.row),
    gutter: event.offsetX < GUTTER,
  });
  canvas.addEventListener("click", (event) => {
    const { time, warp, gutter } = pointed(event);
    if (!gutter) go(player, time);
    else if (warp < timeline.warps) toggle(player, { kind: "warp", warp });
  });
  canvas.addEventListener("mousemove", (event) => {
    const { time, warp, gutter } = pointed(event);
    canvas.title = "";
    if (warp >= timeline.warps) return;
    if (gutter) canvas.title = `warp ${warp}; click to follow`;
    const wait = gutter ? undefined : waitsAt(model, time).find((w) => data.waits.warp[w] === warp);
    if (wait !== undefined) {
      canvas.title = `warp ${warp}, time ${time}, line ${data.waits.line[wait]}: ${explain(model, wait, time)} (${data.waits.start[wait]} to ${data.waits.end[wait]})`;
    }
  });
  return timeline;
}

/** Fit the panels, and the timeline's picture, into the room that there is. */
function fit(player) {
  const { canvas } = player.timeline;
  player.part("whole").classList.toggle("narrow", player.host.clientWidth <= NARROW);
  player.timeline.width = Math.max(200, canvas.parentElement.clientWidth - 2);
  drawTimeline(player);
}

/** Where a time unit begins in the picture. */
function across(timeline, time) {
  return GUTTER + (time - timeline.from) * timeline.unit;
}

/** Which time units fit, and how large they are. */
function fitTimeline(player) {
  const { data, view, timeline } = player;
  const span = data.end - data.start + 1;
  const room = timeline.width - GUTTER;
  const share = room / span;
  const crowded = share < 5;
  player.part("zoom").hidden = !crowded;
  timeline.unit = !crowded || view.whole ? Math.min(share, 40) : 10;
  const units = room / timeline.unit;
  if (units >= span) timeline.from = data.start;
  else if (view.time < timeline.from + 1 || view.time > timeline.from + units - 3) {
    timeline.from = Math.max(data.start, Math.min(data.end + 1 - Math.floor(units), view.time - Math.floor(units / 4)));
  }
  const warps = Math.min(data.warps.length, TALL);
  timeline.row = Math.max(2, Math.min(20, Math.floor(260 / warps)));
  if (timeline.row < 9 && warps <= 64) timeline.row = 9;
  timeline.warps = warps;
  timeline.height = warps * timeline.row + 18;
}

function paintTimeline(player) {
  const { data, model, view, timeline } = player;
  const ratio = window.devicePixelRatio || 1;
  const { picture, width, height, row } = timeline;
  const x = (time) => across(timeline, time);
  const style = getComputedStyle(player.host);
  const [ink, faint, line, mark] = ["--ink", "--faint", "--line", "--follow"].map((name) => style.getPropertyValue(name).trim());
  picture.width = Math.round(width * ratio);
  picture.height = Math.round(height * ratio);
  const paint = picture.getContext("2d");
  paint.scale(ratio, ratio);
  const to = timeline.from + (width - GUTTER) / timeline.unit;
  const gap = row > 6 ? 2 : row > 3 ? 1 : 0;
  paint.font = "11px system-ui, sans-serif";
  paint.textBaseline = "middle";
  const every = Math.ceil(12 / row);
  for (let warp = 0; warp < timeline.warps; warp++) {
    const y = warp * row;
    if (warp % every === 0) {
      paint.fillStyle = ink;
      paint.textAlign = "right";
      paint.fillText(`W${warp}`, GUTTER - 6, y + Math.max(row, 10) / 2);
    }
    const starts = model.warpWaitStarts[warp];
    const { waits, dispatches } = data;
    for (let i = Math.max(0, after(starts, timeline.from) - 1); i < starts.length && starts[i] < to; i++) {
      const wait = model.warpWaits[warp][i];
      const left = Math.max(GUTTER, x(waits.start[wait]));
      const right = Math.min(width, x(Math.min(waits.end[wait], data.end + 1)));
      if (right <= left) continue;
      const reason = data.reasons[waits.reason[wait]];
      if (reason === "latency") {
        paint.fillStyle = COLOURS[warp % COLOURS.length];
        paint.globalAlpha = 0.35;
        paint.fillRect(left, y + gap / 2, right - left, row - gap);
        paint.globalAlpha = 1;
      } else if (reason === "round") {
        paint.fillStyle = faint;
        paint.fillRect(left, y + row / 2 - 0.5, right - left, 1);
      } else {
        paint.strokeStyle = faint;
        paint.lineWidth = reason === "barrier" ? 2 : 1;
        const slant = reason === "barrier" ? 0 : row - gap;
        paint.save();
        paint.beginPath();
        paint.rect(left, y + gap / 2, right - left, row - gap);
        paint.clip();
        paint.beginPath();
        for (let at = left - slant; at < right; at += 5) {
          paint.moveTo(at, y + row - gap / 2);
          paint.lineTo(at + slant, y + gap / 2);
        }
        paint.stroke();
        paint.restore();
      }
    }
    paint.fillStyle = COLOURS[warp % COLOURS.length];
    for (const d of model.warpDispatches[warp]) {
      const end = dispatches.time[d] + dispatches.stages[d];
      if (dispatches.time[d] > to) break;
      if (end < timeline.from) continue;
      const left = Math.max(GUTTER, x(dispatches.time[d]));
      const wide = Math.max(1, Math.min(width, x(end)) - left - (timeline.unit > 4 ? 1 : 0));
      paint.fillRect(left, y + gap / 2, wide, row - gap);
      if (view.follow && view.follow.kind !== "warp" && follows(player, d)) {
        paint.strokeStyle = mark;
        paint.lineWidth = 3;
        paint.strokeRect(left, y + 1, wide, Math.max(row - 2, 2));
      }
    }
    if (view.follow?.kind === "warp" && view.follow.warp === warp) {
      paint.strokeStyle = mark;
      paint.lineWidth = 2;
      paint.strokeRect(GUTTER, y + 1, width - GUTTER - 1, Math.max(row - 2, 2));
    }
  }
  paint.strokeStyle = ink;
  paint.lineWidth = 1;
  paint.setLineDash([4, 3]);
  for (const time of player.boundaries) {
    if (time < timeline.from || time > to) continue;
    paint.beginPath();
    paint.moveTo(x(time), 0);
    paint.lineTo(x(time), height - 18);
    paint.stroke();
  }
  paint.setLineDash([]);
  paintFindings(player, paint, x, to);
  paint.lineWidth = 1;
  paint.strokeStyle = line;
  paint.strokeRect(GUTTER - 0.5, -1, width, height - 17);
  // The axis: numbers at round distances, about 60 pixels apart.
  let step = 1;
  while (step * timeline.unit < 45) step *= String(step).startsWith("2") ? 2.5 : 2;
  paint.fillStyle = faint;
  paint.textAlign = "center";
  for (let time = Math.ceil(timeline.from / step) * step; time < to && time <= data.end; time += step) {
    paint.fillText(String(time), Math.max(x(time) + timeline.unit / 2, GUTTER), height - 8);
  }
}

function drawTimeline(player) {
  const { data, view, timeline } = player;
  fitTimeline(player);
  const { canvas, width, height } = timeline;
  const key = [width, height, timeline.from, timeline.unit, theme(player.host), JSON.stringify(view.follow), window.devicePixelRatio].join(" ");
  const ratio = window.devicePixelRatio || 1;
  if (key !== timeline.drawn) {
    timeline.drawn = key;
    paintTimeline(player);
    canvas.width = timeline.picture.width;
    canvas.height = timeline.picture.height;
    canvas.style.height = `${height}px`;
    canvas.style.width = `${width}px`;
  }
  const paint = canvas.getContext("2d");
  paint.setTransform(1, 0, 0, 1, 0, 0);
  paint.clearRect(0, 0, canvas.width, canvas.height);
  paint.drawImage(timeline.picture, 0, 0);
  paint.scale(ratio, ratio);
  const accent = getComputedStyle(player.host).getPropertyValue("--accent").trim();
  paint.strokeStyle = accent;
  paint.lineWidth = 2;
  paint.strokeRect(across(timeline, view.time), 1, Math.max(timeline.unit, 2), height - 19);
  canvas.setAttribute("aria-label", `Timeline of ${data.warps.length} warps, time units ${data.start} to ${data.end}; now ${view.time}`);
}
