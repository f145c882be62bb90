/* The picture of the timeline: bars of the warps, rounds, launches, the axis. */

function paintTimeline(player) {
  const { stage, launches, timeline } = player;
  const ratio = window.devicePixelRatio || 1;
  const { canvas, width, height, row, gutter, letters, top } = timeline;
  const style = getComputedStyle(stage.host);
  const [ink, faint, line, mark] = ["--ink", "--faint", "--line", "--accent"].map((name) => style.getPropertyValue(name).trim());
  const paint = canvas.getContext("2d");
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.clearRect(0, 0, width, height);
  paint.translate(0, top);
  paint.font = `${letters}px ${style.fontFamily}`;
  paint.textBaseline = "middle";
  const x = (time) => across(timeline, time);
  const to = timeline.from + (width - gutter) / timeline.unit;
  const bottom = height - top - timeline.axis;
  const every = Math.ceil((letters + 1) / row);
  paint.fillStyle = ink;
  paint.textAlign = "right";
  for (let warp = 0; warp < timeline.warps; warp += every) paint.fillText(`W${warp}`, gutter - 6, warp * row + Math.max(row, letters) / 2);
  for (const launch of launches) {
    if (launch.data.start <= to && launch.data.end >= timeline.from) paintWarps(player, paint, launch, { to, faint, mark });
  }
  paint.strokeStyle = ink;
  paint.lineWidth = 1;
  paint.setLineDash([4, 3]);
  for (const time of moments(stage, "round")) {
    if (time < timeline.from || time > to || time > player.end) continue;
    paint.beginPath();
    paint.moveTo(x(time), 0);
    paint.lineTo(x(time), bottom);
    paint.stroke();
  }
  paint.setLineDash([]);
  if (launches.length > 1) paintLaunches(player, paint, { to, ink, bottom });
  paintFindings(player, paint, x, to);
  paint.lineWidth = 1;
  paint.strokeStyle = line;
  paint.strokeRect(gutter - 0.5, -1, width, bottom + 1);
  // The axis: numbers at round distances, about 60 pixels apart.
  let step = 1;
  while (step * timeline.unit < 4 * letters) step *= String(step).startsWith("2") ? 2.5 : 2;
  paint.fillStyle = faint;
  paint.textAlign = "center";
  for (let time = Math.ceil(timeline.from / step) * step; time < to && time <= stage.end; time += step) {
    paint.fillText(String(time), Math.max(x(time) + timeline.unit / 2, gutter), bottom + timeline.axis - letters + 3);
  }
}

/** The waits and the requests of the warps of a launch. */
function paintWarps(player, paint, { data, model }, { to, faint, mark }) {
  const { view, timeline } = player;
  const { width, gutter, row } = timeline;
  const { waits, dispatches } = data;
  const x = (time) => across(timeline, time);
  const gap = row > 6 ? 2 : row > 3 ? 1 : 0;
  /** A line around a bar, for the pale colours and for print. */
  const outline = (left, y, wide) => {
    if (row < 7 || timeline.unit < 3) return;
    paint.strokeStyle = faint;
    paint.lineWidth = 0.6;
    paint.strokeRect(left + 0.5, y + gap / 2 + 0.5, wide - 1, row - gap - 1);
  };
  for (let warp = 0; warp < Math.min(data.warps.length, timeline.warps); warp++) {
    const y = warp * row;
    const starts = model.warpWaitStarts[warp];
    for (let i = Math.max(0, after(starts, timeline.from) - 1); i < starts.length && starts[i] < to; i++) {
      const wait = model.warpWaits[warp][i];
      const left = Math.max(gutter, x(waits.start[wait]));
      const right = Math.min(width, x(Math.min(waits.end[wait], data.end + 1)));
      if (right <= left) continue;
      const reason = data.reasons[waits.reason[wait]];
      if (reason === "latency") {
        paint.fillStyle = COLOURS[warp % COLOURS.length];
        paint.globalAlpha = 0.35;
        paint.fillRect(left, y + gap / 2, right - left, row - gap);
        paint.globalAlpha = 1;
        outline(left, y, right - left);
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
    const times = model.warpTimes[warp];
    for (let i = Math.max(0, after(times, timeline.from) - 1); i < times.length && times[i] <= to; i++) {
      const d = model.warpDispatches[warp][i];
      const end = dispatches.time[d] + dispatches.stages[d];
      if (end < timeline.from) continue;
      const left = Math.max(gutter, x(dispatches.time[d]));
      const wide = Math.max(1, Math.min(width, x(end)) - left - (timeline.unit > 4 ? 1 : 0));
      paint.fillRect(left, y + gap / 2, wide, row - gap);
      outline(left, y, wide);
      if (view.follow && view.follow.kind !== "warp" && follows({ data, model }, view.follow, d)) {
        paint.strokeStyle = mark;
        paint.lineWidth = 3;
        paint.strokeRect(left, y + 1, wide, Math.max(row - 2, 2));
      }
    }
    if (view.follow?.kind === "warp" && view.follow.warp === warp) {
      paint.strokeStyle = mark;
      paint.lineWidth = 2;
      paint.strokeRect(gutter, y + 1, width - gutter - 1, Math.max(row - 2, 2));
    }
  }
}

/** Where each launch begins, and above it what it is called, as far as there is room. */
function paintLaunches(player, paint, { to, ink, bottom }) {
  const { launches, timeline, run } = player;
  const { width, gutter, letters, top } = timeline;
  paint.fillStyle = ink;
  paint.textAlign = "left";
  launches.forEach(({ data }, number) => {
    if (data.start > to || data.end < timeline.from) return;
    const left = Math.max(gutter, across(timeline, data.start));
    const right = Math.min(width, across(timeline, data.end));
    if (left > gutter) paint.fillRect(left - 1, -top, 2, top + bottom);
    const own = run.first + number + 1;
    const texts = [`launch ${own}: ${data.program}`, `launch ${own}`, String(own)];
    const text = texts.find((one) => paint.measureText(one).width < right - left - 6);
    if (text) paint.fillText(text, left + 4, -letters / 2 - 3);
  });
}
