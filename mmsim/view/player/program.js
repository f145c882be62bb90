/* The program's source with the warps at their lines, and the queue of waiting warps. */

const QUEUE = 200; // waiting warps listed
const LETTER = 0.65; // ems: letters are narrower, taken together

/** The source: one button for each line. Gives what to find the lines of a number by. */
function buildSource(player) {
  const { data } = player;
  const box = player.part("source");
  const lines = [];
  box.replaceChildren();
  // Next to each line there is room for the warps that wait in it, so that they never cover it.
  const digits = String(data.warps.length - 1).length;
  box.style.setProperty("--warps", `${2 * digits + (data.warps.length > 2 ? 7 : 5)}ch`);
  if (data.sources.length === 0) box.append(make("p", "empty", "The trace has no source."));
  data.sources.forEach((source) => {
    box.append(make("div", "file", `${source.function}, ${source.file}`));
    const indents = source.lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
    const indent = Math.min(...indents, 99);
    source.lines.forEach((text, offset) => {
      const line = source.first + offset;
      const row = make("div", "source-line");
      const button = make("button", "code", "", "click to follow this line");
      button.tabIndex = -1;
      const own = make("span", "text", text.slice(indent) || " ");
      own.style.setProperty("--indent", `${own.textContent.search(/\S|$/) + 2}ch`); // of what a line is broken into
      button.append(make("span", "number", String(line)), own);
      button.addEventListener("click", () => toggle(player, { kind: "line", line, function: source.function }));
      const warps = make("span", "warps");
      row.append(warps, button);
      box.append(row);
      lines.push({ row, button, warps, line, function: source.function, shown: "" });
    });
  });
  stopAt(box, 0);
  return lines;
}

/** Know where the lines are, if not all of them are in sight. */
function fitSource(player) {
  const box = player.part("source");
  player.soughtWait = null;
  player.sourceScrolls = box.scrollHeight > box.clientHeight + 1;
  if (player.sourceScrolls) {
    for (const line of player.lines) [line.top, line.height] = [line.row.offsetTop, line.row.offsetHeight];
  }
}

/** Keep the line in sight in which the first waiting warp is, or the warp that is followed. */
function seekLine(player) {
  const { waiting, view: { follow }, data: { waits } } = player;
  if (!player.sourceScrolls || waiting.length === 0) return;
  const wait = waiting.find((w) => follow?.kind === "warp" && waits.warp[w] === follow.warp)
    ?? waiting.reduce((least, w) => (waits.warp[w] < waits.warp[least] ? w : least));
  if (player.soughtWait === wait) return;
  player.soughtWait = wait;
  const line = lineOf(player, wait);
  if (line?.top === undefined) return;
  const box = player.part("source");
  const top = Math.min(box.scrollTop, line.top);
  box.scrollTop = Math.max(top, line.top + line.height - box.clientHeight);
}

/** The source line that a wait is in: of the function that the warp's access there belongs to. */
function lineOf(player, wait) {
  const { model, data: { waits, dispatches, sites } } = player;
  const candidates = player.lines.filter((one) => one.line === waits.line[wait]);
  if (candidates.length < 2) return candidates[0];
  const own = nextOf(model, waits.warp[wait], waits.start[wait]);
  const name = own === undefined ? null : sites[dispatches.site[own]][0];
  return candidates.find((one) => one.function === name) ?? candidates[0];
}

function drawSource(player, waiting) {
  const { data, view: { follow } } = player;
  const warps = new Map();
  const place = new Map();
  for (const wait of waiting) {
    const number = data.waits.line[wait];
    if (data.sources.length > 1 || !place.has(number)) place.set(number, lineOf(player, wait));
    const line = place.get(number);
    if (!line) continue;
    if (!warps.has(line)) warps.set(line, []);
    warps.get(line).push(data.waits.warp[wait]);
  }
  for (const line of player.lines) {
    const here = (warps.get(line) ?? []).sort((a, b) => a - b);
    const followed = follow?.kind === "line" && follow.line === line.line && follow.function === line.function;
    const shown = `${here.join(" ")}|${followed}|${follow?.warp}`;
    if (shown === line.shown) continue;
    line.shown = shown;
    line.row.classList.toggle("current", here.length > 0);
    line.row.classList.toggle("followed", followed);
    line.button.setAttribute("aria-pressed", String(followed));
    line.warps.replaceChildren();
    if (here.length <= 2) {
      line.warps.append(...here.map((warp) => badge(player, warp)));
      continue;
    }
    // The first consecutive warps, and how many others there are.
    const [[first, last]] = runsOf(here);
    line.warps.append(badge(player, first));
    if (last > first + 1) line.warps.append("–");
    if (last > first) line.warps.append(badge(player, last));
    const rest = here.length - (last - first + 1);
    if (rest) line.warps.append(`+${rest}`);
  }
}

/** The list of waiting warps, with a row for each; made once, and then changed where it changes. */
function buildQueue(player) {
  const table = make("table");
  const head = make("tr");
  const names = [["warp", "who"], ["waits for", ""], ["from–to", "when"], ["line", "where"]].map(([name, kind]) => {
    const cell = make("th", kind, name);
    cell.scope = "col";
    return cell;
  });
  head.append(...names);
  table.append(head);
  player.queue = { table, names, fits: [0, 0, 0, 0], rows: [], more: make("p", "empty"), none: make("p", "empty", "No warp waits: all have ended.") };
  player.part("queue").replaceChildren(table, player.queue.more, player.queue.none);
}

/** Cut off what may be longer than its column: only that, as it costs time at each step. */
function fitQueue({ queue }) {
  if (!queue.table.clientWidth) return; // it is hidden
  const em = parseFloat(getComputedStyle(queue.table).fontSize);
  queue.fits = queue.names.map((cell) => Math.floor((cell.clientWidth - em / 2) / (LETTER * em)));
  for (const { cells } of queue.rows) cells.forEach((cell, column) => cutOff(queue, cell, column));
}

function cutOff({ fits }, cell, column) {
  cell.classList.toggle("long", cell.textContent.length > fits[column]);
}

/** A new row of the list. */
function queueRow({ table, rows }) {
  const row = make("tr");
  const cells = ["who", "", "when", "where"].map((kind) => make("td", kind));
  row.append(...cells);
  table.append(row);
  rows.push({ row, cells, texts: [] });
}

function drawQueue(player, waiting) {
  const { data: { waits, warps }, model, view, queue } = player;
  const box = player.part("queue");
  const inOrder = [...waiting].sort((a, b) => waits.warp[a] - waits.warp[b]).slice(0, QUEUE);
  const before = queue.rows.length;
  while (queue.rows.length < inOrder.length) queueRow(queue);
  while (queue.rows.length > inOrder.length) queue.rows.pop().row.remove();
  inOrder.forEach((wait, number) => {
    const { cells, texts } = queue.rows[number];
    const warp = waits.warp[wait];
    const now = [
      `${warp}|${view.follow?.warp}|${warps[warp].join()}`, explain(model, wait, view.time),
      `${waits.start[wait]}–${waits.end[wait]}`, String(waits.line[wait]),
    ];
    now.forEach((text, column) => {
      if (texts[column] === text) return;
      texts[column] = text;
      if (column === 0) {
        const focused = cells[0].contains(player.root.activeElement);
        cells[0].replaceChildren(badge(player, warp));
        if (focused) cells[0].firstChild.focus({ preventScroll: true });
      } else if (cells[column].firstChild) cells[column].firstChild.data = text;
      else cells[column].textContent = text;
      if (column === 1) cells[column].title = text;
      cutOff(queue, cells[column], column);
    });
  });
  hide(queue.table, waiting.length === 0);
  hide(queue.none, waiting.length > 0);
  hide(queue.more, waiting.length <= QUEUE);
  if (!queue.more.hidden) queue.more.textContent = `and ${waiting.length - QUEUE} more`;
  if (before !== inOrder.length || view.follow !== queue.follow || !box.querySelector("[tabindex='0']")) stopAt(box, box.walk.at);
  queue.follow = view.follow;
}
