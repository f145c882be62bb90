/* What a check found: a list whose buttons go to each access. */

/** Fill the list of findings; where a check found none, say what it looked for. */
function buildFindings(player) {
  const { findings, looked_for: scope } = player.data; // a check is of one launch
  player.part("found-name").hidden = findings.length === 0;
  player.part("findings-panel").hidden = findings.length === 0 && !scope;
  player.part("findings-heading").textContent = scope ? "Nothing found" : "Found";
  player.part("findings").replaceChildren();
  player.part("looked-for").textContent = scope ?? "";
  hide(player.part("looked-for"), !scope);
  for (const finding of findings) {
    const item = make("li");
    item.append(make("strong", "", finding.title + (finding.element ? `, ${finding.element}` : "")));
    for (const access of finding.accesses) {
      const button = make("button", "found", access.text);
      button.disabled = access.time === null;
      button.addEventListener("click", () => goToFinding(player, finding, access));
      item.append(button);
    }
    if (finding.note) item.append(make("p", "", `${finding.note}.`));
    item.append(make("p", "advice", `${finding.advice}.`));
    player.part("findings").append(item);
  }
}

/** Show an access of a finding: its time, its thread, and the cell, which is followed. */
function goToFinding(player, finding, access) {
  const { view, stage } = player;
  choose(player, access.thread);
  if (finding.cell) {
    const [unit, place] = finding.cell;
    const cell = { kind: "cell", unit, place };
    if (JSON.stringify(view.follow) !== JSON.stringify(cell)) toggle(player, cell);
  }
  const outside = access.time < stage.start || access.time > stage.end;
  go(player.stage, access.time, outside ? `Time ${access.time} is outside this window.` : "");
}

/** Mark the accesses of the findings in the timeline's picture: a diamond each. */
function paintFindings(player, paint, x, to) {
  const { data, model, timeline } = player;
  for (const { time, thread } of data.findings.flatMap((finding) => finding.accesses)) {
    const warp = warpOf(model, thread);
    if (time === null || time < timeline.from || time > to || warp >= timeline.warps) continue;
    const [at, y, r] = [x(time) + timeline.unit / 2, (warp + 0.5) * timeline.row, Math.max(4, timeline.row / 3)];
    paint.beginPath();
    [[0, -r], [r, 0], [0, r], [-r, 0]].forEach(([dx, dy]) => paint.lineTo(at + dx, y + dy));
    paint.closePath();
    paint.fillStyle = "#fff";
    paint.fill();
    paint.strokeStyle = "#000";
    paint.lineWidth = 2;
    paint.stroke();
  }
}
