/* A unit's panel: its pipeline, and its memory as rows of w words: a column is a bank, a row an
   address group. Where banks have bytes, a cell is as wide as its element. */

const ROWS = 64; // of memory on one page, at most
const CELLS = 1024; // of memory on one page, about
const STEADY = 1000; // milliseconds between two changes of a table's form, while a run plays
const FITS = 10; // letters, with the warp's, that no cell cuts off

/** A unit's panel: its registers, and its memory as rows of w words. The panel before serves again if its memory
    has the same words in the same places. */
function buildUnit(player, u, before) {
  const { data, model } = player;
  const unit = data.units[u];
  const asked = new Set(model.byUnit[u].map((d) => data.sites[data.dispatches.site[d]][2]));
  const key = memoryKey(player, u, asked);
  const panel = before?.key === key ? before : buildMemory(player, u, asked);
  const name = make("small", "", `${unit.title}, latency ${unit.latency}`);
  panel.section.querySelector("h2").replaceChildren(`${unit.name} `, name);
  const queues = model.byUnit[u].some((d) => data.dispatches.stages[d] > 1);
  Object.assign(panel, { key, unit, queues, kept: 0, byHand: false, sought: null, at: null, drawn: { time: 0, registers: new Map() } });
  panel.pipeline.classList.toggle("queues", queues);
  return panel;
}

/** All that the table of a unit's memory depends on but for the values: panels with the same look the same. */
function memoryKey({ run, data, model }, u, asked) {
  const { name, columns, rows, place, conflict } = data.units[u];
  const arrays = data.arrays.map((array, a) => array.units.includes(u) && [
    array.name, array.shape, array.bytes, array.float, array.units, array.table, asked.has(a), model.addresses[a],
  ]);
  return JSON.stringify([run.name, data.width, data.bankBytes, name, columns, rows, place, conflict, arrays]);
}

/** A unit's panel with its memory; no table if it has no array. */
function buildMemory(player, u, asked) {
  const { data, model } = player;
  const unit = data.units[u];
  const section = make("section", "unit");
  section.setAttribute("aria-label", `${unit.name}${player.run.name ? ` of ${player.run.name}` : ""}: pipeline and memory`);
  const pipeline = make("div", "pipeline");
  const pages = make("div", "pages");
  const memory = make("div", "memory");
  walkable(pipeline, ".badge");
  walkable(memory, "td[data-place]", true);
  section.append(
    make("h2"), make("h3", "", "Pipeline registers"), pipeline,
    make("h3", "", unit.rows ? `Memory: a row is ${withArticle(unit.place)}`
      : unit.columns && new Set(unit.columns).size === data.width ? `Memory: a column is ${withArticle(unit.place)}${data.bankBytes ? ` of ${many(data.bankBytes, "byte")}` : ""}` : "Memory"),
    pages, memory,
  );
  player.stage.tables.observe(memory);
  memory.measure = () => {
    if (!player.panels.includes(panel)) return; // of another launch
    measure(player, panel);
    if (!player.stage.ready) return;
    drawMemory(player, panel);
    if (panel.kept) scrollToKept(panel); // rows may have other heights now
    else scrollToSought(panel);
  };
  const cells = new Map();
  data.arrays.forEach((array, a) => array.units.forEach((of, copy) => {
    if (of === u) model.addresses[a][copy].forEach((address, element) => cells.set(placeIn(data, a, address), [a, copy, element]));
  }));
  const idle = data.arrays.filter(({ units }, a) => asked.size && units.includes(u) && !asked.has(a));
  const drawn = idle.length ? new Map([...cells].filter(([, [array]]) => asked.has(array))) : cells;
  const rows = rowsOf(player, drawn);
  const panel = { section, unit, u, pipeline, pages, memory, cells, rows, most: mostRows(data), page: -1, shown: [], boxes: new Map(), outside: make("div", "outside") };
  if (rows.length === 0) memory.append(make("p", "empty", "no array"));
  panel.label = make("span");
  const back = make("button", "", "‹ rows");
  const next = make("button", "", "rows ›");
  [[back, -1], [next, 1]].forEach(([button, step]) => button.addEventListener("click", () => keepRow(player, panel, (panel.page + step) * panel.most + 1)));
  for (const kind of ["wheel", "pointerdown", "touchmove", "keydown"]) memory.addEventListener(kind, () => { panel.byHand = true; }, { passive: true });
  memory.addEventListener("scroll", () => {
    if (!panel.byHand) return;
    panel.kept = panel.page * panel.most + dataRows(panel).findIndex((row) => row.offsetTop + row.offsetHeight / 2 > memory.scrollTop + headOf(panel)) + 1;
    drawLink(player.stage);
  });
  panel.pager = [back, next, panel.label];
  if (rows.length > panel.most || idle.length) pages.append(...panel.pager);
  if (rows.length) {
    const label = make("label", "", data.bankBytes ? "follow byte" : "follow address");
    const input = make("input", "number");
    input.type = "number";
    input.min = 0;
    input.addEventListener("change", () => {
      if (cells.has(Number(input.value))) toggle(player, { kind: "cell", unit: u, place: Number(input.value) });
    });
    label.append(input);
    pages.append(label);
    if (idle.length) pages.append(idleButton(player, panel, idle));
    showPage(player, panel, 0);
  }
  return panel;
}

/** A button that shows the arrays of which no request asks for a word. */
function idleButton(player, panel, arrays) {
  const names = arrays.map(({ name }) => name).join(", ");
  const button = make("button", "idle-arrays", `show ${names}`, `no request asks for a word of ${names}`);
  button.addEventListener("click", () => {
    button.remove();
    Object.assign(panel, { rows: rowsOf(player, panel.cells), page: -1, form: "" });
    showPage(player, panel, 0);
    drawMemory(player, panel);
  });
  return button;
}

/** Let the names of rows stay in sight where a table is wider than its box, and only there. */
function watchTables() {
  return new ResizeObserver((entries) => {
    for (const box of new Set(entries.map(({ target }) => target.closest(".memory")))) {
      if (box?.measure) box.measure();
      box?.classList.toggle("wide", box.scrollWidth > box.clientWidth);
    }
  });
}

/** The rows of a page, so that it is soon drawn: the more columns, the fewer. */
function mostRows({ width, bankBytes = 1, arrays }) {
  const columns = (width * bankBytes) / Math.min(bankBytes, ...arrays.map(({ bytes = 1 }) => bytes));
  return Math.max(16, Math.min(ROWS, Math.floor(CELLS / columns)));
}

/** How many elements of so many bytes are in a row: as many as w words hold, but one at least. */
function elementsOfRow(data, bytes) {
  return Math.max(1, (data.width * (data.bankBytes ?? 1)) / bytes);
}

/** The row of a cell: the bytes of its elements, if that matters, and its number in such rows. */
function rowOf(data, array, place) {
  const bytes = data.arrays[array].bytes ?? 1;
  return { bytes, number: Math.floor(place / bytes / elementsOfRow(data, bytes)) };
}

/** The rows that have cells, in the order in which these lie: elements of one size to a row. */
function rowsOf({ data }, cells) {
  const rows = new Map();
  for (const place of [...cells.keys()].sort((a, b) => a - b)) {
    const row = rowOf(data, cells.get(place)[0], place);
    rows.set(JSON.stringify(row), row);
  }
  return [...rows.values()];
}

/** What a page of rows shows: of each row the name of an array that begins there, what it is called, and its words; a
    place without a word is null. */
function pageOf({ data }, { unit, rows, cells, most }, page) {
  let above = ""; // the array of the row before
  return rows.slice(page * most, (page + 1) * most).map(({ bytes, number }) => {
    const elements = elementsOfRow(data, bytes);
    const words = Array.from({ length: elements }, (_, column) => {
      const address = number * elements + column;
      const place = address * bytes;
      const cell = cells.get(place);
      return cell && (data.arrays[cell[0]].bytes ?? 1) === bytes ? { address, place, cell } : null;
    });
    const [array, copy, element] = words.find((word) => word).cell;
    const own = arrayName(data, array, copy);
    const name = own === above ? "" : own;
    above = own;
    const index = indexText(data.arrays[array].shape, element);
    return { name, label: unit.rows ? `${unit.conflict} ${number} · ${index}` : index, words };
  });
}

/** Put a page of rows into a unit's table: into the one that is there, if it has the same form. */
function showPage(player, panel, page) {
  const { u, most, rows: { length } } = panel;
  const last = Math.ceil(length / most) - 1;
  page = Math.max(0, Math.min(last, page));
  if (page === panel.page) return;
  const rows = pageOf(player, panel, page);
  const form = JSON.stringify(rows.map(({ name, words }) => [name !== "", words.map((word) => word !== null)]));
  const table = form === panel.form ? null : buildTable(player, panel, rows);
  const before = Math.max(...(panel.names ?? []).map((name) => name.length));
  Object.assign(panel, { page, form, boxes: new Map(), names: rows.map(({ label }) => label) });
  rows.filter(({ name }) => name).forEach(({ name }, at) => { panel.arrays[at].textContent = name; });
  panel.labels.forEach((label, at) => { label.textContent = panel.names[at]; });
  rows.flatMap(({ words }) => words).filter((word) => word).forEach((word, at) => {
    const one = Object.assign(panel.shown[at], word, { drawn: "" });
    one.box.dataset.unit = u;
    one.box.dataset.place = word.place;
    panel.boxes.set(word.place, one.box);
  });
  if (table) refill(panel.memory, table);
  if (panel.room && before !== Math.max(...panel.names.map((name) => name.length))) measure(player, panel);
  for (const part of panel.pager) hide(part, length <= most);
  panel.label.textContent = `rows ${page * most + 1} to ${Math.min((page + 1) * most, length)} of ${length}`;
}

/** The table of a page of rows, still without their words. */
function buildTable(player, panel, rows) {
  const { data } = player;
  const { unit } = panel;
  const table = make("table");
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", `Memory of ${unit.name}`);
  const head = make("tr");
  head.append(make("td", "none"));
  const word = data.bankBytes ?? 1;
  const least = Math.min(word, ...panel.rows.map(({ bytes }) => bytes)); // bytes of a column
  const columns = (data.width * word) / least;
  Object.assign(panel, { columns, shown: [], loads: [], heads: [], arrays: [], labels: [], drawnWidths: "", rest: 0, high: null });
  panel.cols = Array.from({ length: columns }, () => make("col"));
  const group = make("colgroup");
  group.append(make("col", "names"), ...panel.cols);
  for (let bank = 0; bank < data.width; bank++) {
    const name = make("th");
    if (unit.columns) name.append(make("span", "word", `${unit.conflict} `));
    name.append(make("span", "number", unit.columns ? String(unit.columns[bank]) : `+${bank}`));
    name.colSpan = word / least;
    panel.heads.push(name);
    if (unit.columns) {
      panel.loads.push(make("span", "load"));
      name.append(panel.loads[bank]);
    }
    head.append(name);
  }
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const { name, words } of rows) {
    if (name) { // a row that names the array of the rows below
      const cell = make("th", "array");
      cell.colSpan = columns + 1;
      body.appendChild(make("tr")).append(cell);
      panel.arrays.push(cell);
    }
    const row = make("tr");
    const label = make("th");
    label.scope = "row";
    row.append(label);
    panel.labels.push(label);
    const span = columns / words.length;
    words.forEach((own, at) => {
      const box = make("td", own ? "" : "none");
      box.colSpan = span;
      row.append(box);
      if (!own) return;
      const [who, value] = [make("span", "who"), make("span")];
      box.append(who, value);
      box.tabIndex = -1;
      panel.shown.push({ box, who, value, column: at * span, warp: -1, letters: [0, 0], leads: false });
    });
    body.append(row);
  }
  table.append(group, top, body);
  player.stage.tables.observe(table);
  return table;
}

/** The requests of a unit on their way at the current time, by the places that they ask for. */
function requested(player, panel) {
  const { data, model, view } = player;
  const found = new Map();
  const { unit, u } = panel;
  const t = view.time;
  for (let position = after(model.unitTimes[u], t) - 1; position >= 0; position--) {
    const d = model.byUnit[u][position];
    if (data.dispatches.completion[d] <= t) {
      if (data.dispatches.time[d] < t - unit.latency - data.width) break;
      continue;
    }
    for (const lane of lanesOf(model, d)) {
      const place = placeOf(model, d, lane);
      if (!found.has(place)) found.set(place, d);
    }
  }
  return found;
}

function drawMemory(player, panel) {
  const { data, model, view } = player;
  if (panel.rows.length === 0) return;
  const requests = requested(player, panel);
  const t = view.time;
  const { follow } = view;
  if (panel.unit.columns) drawLoads(player, panel);
  const rests = isSteady(player, panel);
  for (const one of panel.shown) {
    const [array, copy, element] = one.cell;
    const isFloat = data.arrays[array].float;
    const value = valueAt(model, array, copy, element, t);
    const dispatch = requests.get(one.place);
    const warp = dispatch === undefined ? -1 : data.dispatches.warp[dispatch];
    const kind = warp >= 0 ? data.sites[data.dispatches.site[dispatch]][3] : "read";
    const followed = (follow?.kind === "cell" && follow.unit === panel.u && follow.place === one.place)
      || (follow !== null && follow.kind !== "cell" && dispatch !== undefined && follows(player, follow, dispatch));
    one.warp = warp;
    const blank = rests && panel.dense && warp >= 0; // its column has no room yet
    const drawn = `${value}|${warp}|${kind}|${followed}|${blank}`;
    if (drawn === one.drawn) continue;
    one.drawn = drawn;
    const who = warp < 0 ? "" : `W${warp} `;
    const text = written(value, isFloat, true);
    one.letters = [who.length, text.length];
    one.leads = false;
    one.box.className = `${warp >= 0 ? colourClass(warp) : ""}${kind === "read" ? "" : " changed"}${followed ? " followed" : ""}${who.length + text.length > FITS ? " long" : ""}${blank ? " unread" : ""}`;
    if (one.who.textContent !== who) one.who.textContent = who;
    if (one.value.textContent !== text) one.value.textContent = text;
    one.box.title = `${elementName(data, array, copy, element)} = ${written(value, isFloat, false)}; address ${one.address}${bankOf(player, panel.unit, array, one.address)}`
      + (warp < 0 ? "" : `; ${{ read: "read", write: "written", atomic: "changed" }[kind]} by warp ${warp}`);
  }
  if (!rests) drawWidths(panel);
}

/** Whether a request is for words that lie otherwise than the columns say. */
function isApart(player, unit, dispatch) {
  const { data } = player;
  const { table, bytes = 1 } = data.arrays[data.sites[data.dispatches.site[dispatch]][2]];
  const packed = (data.bankBytes ?? 1) / bytes; // elements of a word
  return !table.columns?.every((bank, column) => bank === unit.columns[Math.floor(column / packed)]);
}

/** Where an address of an array lies by its unit's rule: ", bank 3". */
function bankOf(player, unit, array, address) {
  const { data } = player;
  const { bytes = 1, table: { columns, rows } } = data.arrays[array];
  const elements = elementsOfRow(data, bytes);
  const number = columns ? columns[address % elements] : rows ? Math.floor(address / elements) : null;
  const words = bytes / (data.bankBytes ?? 1);
  if (columns && words > 1) return `, ${unit.conflict}s ${number * words}–${(number + 1) * words - 1}`;
  return number === null ? "" : `, ${unit.conflict} ${number}`;
}

/** A noun with its article. */
function withArticle(noun) {
  return `${/^([aeiou]|[HMLNRS][A-Z])/.test(noun) ? "an" : "a"} ${noun}`;
}

/** Above each bank, how many words the request that is entering asks of it, if more than one. */
function drawLoads(player, panel) {
  const { data, model, view } = player;
  const { columns, conflict } = panel.unit; // several may be of one bank, where the unit has few
  const asked = new Map(columns.map((bank) => [bank, new Set()]));
  const entering = inRegister(model, panel.u, 0, view.time);
  for (const lane of entering && !isApart(player, panel.unit, entering.dispatch) ? lanesOf(model, entering.dispatch) : []) {
    const word = Math.floor(placeOf(model, entering.dispatch, lane) / (data.bankBytes ?? 1));
    asked.get(columns[word % data.width]).add(word);
  }
  panel.loads.forEach((load, column) => {
    const bank = columns[column];
    const { size } = asked.get(bank);
    const text = size > 1 ? `×${size}` : "";
    if (load.textContent === text) return;
    load.textContent = text;
    load.title = text && `the request that is entering asks ${conflict} ${bank} for ${size} words`;
  });
}

/** Whether a memory keeps its page, its rows and its columns, as it has just changed them, and the run plays on. */
function isSteady({ stage: { view: { playing } } }, { since }) {
  return playing && performance.now() - since < STEADY;
}

/** Turn to the page of the newest request, of which the row is to be in sight. */
function seek(player, panel) {
  const { data, model, view } = player;
  panel.sought = null;
  const form = [panel.page, panel.high];
  const position = after(model.unitTimes[panel.u], view.time) - 1;
  if (position < 0 || panel.rows.length === 0) return;
  const dispatch = model.byUnit[panel.u][position];
  const place = placeOf(model, dispatch, model.firstLane[dispatch]);
  const { bytes, number } = rowOf(data, panel.cells.get(place)[0], place);
  const row = panel.rows.findIndex((one) => one.bytes === bytes && one.number === number);
  showPage(player, panel, Math.floor(row / panel.most));
  if (panel.page !== form[0]) panel.kept = 0;
  const rows = lanesOf(model, dispatch).map((lane) => panel.boxes.get(placeOf(model, dispatch, lane))?.parentElement).filter(Boolean);
  rows.sort((one, other) => one.rowIndex - other.rowIndex);
  panel.sought = { first: rows[0], last: rows.at(-1) };
  lower(panel);
  if (String(form) !== String([panel.page, panel.high])) panel.since = performance.now();
}

/** Scroll to the rows that are sought: after all pages are turned, or each would be laid out by itself. */
function scrollToSought(panel) {
  const { memory, sought } = panel;
  if (!sought) return;
  const before = memory.scrollTop;
  const head = headOf(panel);
  const bottom = sought.last.offsetTop + sought.last.offsetHeight - memory.clientHeight;
  if (bottom > memory.scrollTop) memory.scrollTop = bottom;
  const top = sought.first.offsetTop - head;
  if (top < memory.scrollTop) memory.scrollTop = top;
  panel.byHand = false;
  if (memory.scrollTop !== before) panel.kept = 0;
}

/* What a reader scrolled to is kept, until a request elsewhere is sought: a link leads there. */

/** The height of the names of the columns, which stay above the rows. */
function headOf({ memory }) {
  return memory.querySelector("thead").offsetHeight;
}

/** The rows of the page but for the names of arrays. */
function dataRows({ memory }) {
  return [...memory.querySelectorAll("tbody tr")].filter((row) => row.cells.length > 1);
}

/** Let a row, numbered from 1 on over all pages, be the first in sight. */
function keepRow(player, panel, row) {
  if (!(row >= 1 && row <= panel.rows.length)) return;
  showPage(player, panel, Math.floor((row - 1) / panel.most));
  drawMemory(player, panel);
  panel.kept = row;
  scrollToKept(panel);
  drawLink(player.stage);
}

function scrollToKept(panel) {
  const row = dataRows(panel)[(panel.kept - 1) % panel.most];
  if (row) panel.memory.scrollTop = row.offsetTop - headOf(panel);
}
