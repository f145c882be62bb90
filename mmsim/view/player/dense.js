/* A memory that has more columns than its panel has room for is dense: all its columns are in sight.
   The columns that are touched are as wide as their values, if there is room for these; cells without
   room for a value are marks of the warp's colour. Rows are so low that all those of the newest
   request are in sight. */

const NARROWEST = 4; // pixels of a column, or the table is wider than its box
const THINNEST = 5; // pixels of a column without a value, at least
const WIDE = 0.61; // of a letter's height
const SMALLEST = 9; // pixels of the letters of values, but in lecture mode

/** Note the room of a memory's box, and whether its table is dense there. */
function measure({ stage: { view: { lecture } } }, panel) {
  const { memory } = panel;
  const table = memory.querySelector("table");
  if (!table || !memory.clientWidth) return;
  const em = parseFloat(getComputedStyle(table).fontSize);
  const letter = WIDE * em;
  const names = Math.max(...panel.names.map((name) => name.length));
  const width = memory.clientWidth - (names + 1) * letter - 2;
  const head = memory.querySelector("thead").offsetHeight + 1.6 * em; // with an array's name
  panel.room = { em, letter, width, height: memory.clientHeight - head, lecture, row: (lecture ? 1.35 : 1.9) * em };
  panel.dense = panel.columns * (lecture ? 3.2 : 4.2) * em > width && panel.columns * NARROWEST <= width;
  memory.classList.toggle("dense", panel.dense);
  table.style.setProperty("--names", `${(names + 1) * letter}px`);
  Object.assign(panel, { drawnWidths: "", rest: 0, high: null });
  if (!panel.dense) panel.cols.forEach((col) => { col.style.width = ""; });
  lower(panel);
}

/** Let the rows be so low that those of the newest request are all in sight. */
function lower(panel) {
  const { memory, room, sought } = panel;
  const table = memory.querySelector("table");
  if (!table || !room) return;
  const [first, last] = panel.dense && sought ? [sought.first, sought.last] : [null, null];
  const count = first ? last.rowIndex - first.rowIndex + 1 : 1;
  const flat = first !== null && count * room.row > room.height;
  const high = flat ? Math.max(3, Math.floor(room.height / count)) : 0;
  for (const row of panel.ends ?? []) row.classList.remove("first", "last");
  panel.ends = flat ? [first, last] : [];
  if (flat) {
    first.classList.add("first");
    last.classList.add("last");
  }
  if (panel.high === high) return;
  panel.high = high;
  panel.letters = flat ? Math.min(room.em, high - 1) : room.em;
  memory.classList.toggle("flat", flat);
  panel.blank = panel.letters < (room.lecture ? room.em : SMALLEST);
  memory.classList.toggle("blank", panel.blank);
  table.style.setProperty("--row", `${high}px`);
  table.style.setProperty("--letters", `${panel.letters}px`);
}

/** The width of the columns that are not touched: as before if that leaves the others room, and not too much. */
function restOf(panel, needed) {
  const { rest, room: { width }, columns } = panel;
  const count = needed.length;
  const most = Math.max(...needed);
  const own = rest + (width - rest * columns) / count;
  if (rest >= THINNEST && most <= own && own <= 2 * most) return rest;
  return count < columns ? (width - count * most) / (columns - count) : 0;
}

/** Give the columns of a dense memory their widths, by the cells that requests touch. */
function drawWidths(panel) {
  const { room, columns, memory } = panel;
  if (!panel.dense || !room) return;
  const letter = WIDE * panel.letters;
  const wide = new Map(); // the pixels that the touched columns need
  let others = 0; // letters of the other cells, at most
  for (const { warp, letters: [own, more], column } of panel.shown) {
    if (warp < 0) others = Math.max(others, more);
    else wide.set(column, Math.max(wide.get(column) ?? 0, (own + more) * letter + 8));
  }
  if (!wide.size && panel.drawnWidths) return;
  const equal = room.width / columns;
  const rest = wide.size && !panel.blank ? restOf(panel, [...wide.values()]) : 0;
  panel.rest = rest;
  const grown = rest >= THINNEST;
  const marks = panel.blank || (!grown && Math.max(...wide.values()) > equal);
  // As long as the others keep their width, only the touched columns are laid out anew.
  const own = rest + (room.width - rest * columns) / wide.size;
  const widths = panel.cols.map((_, column) => (!grown ? equal : wide.has(column) ? own : rest));
  const least = Math.min(...widths);
  leadMarks(panel, marks && !panel.blank, equal);
  const loaded = panel.loads.map(({ textContent }) => textContent !== "");
  const few = loaded.filter(Boolean).length < 3;
  const drawn = JSON.stringify([widths, marks, others, loaded]);
  if (drawn === panel.drawnWidths) return;
  Object.assign(panel, { drawnWidths: drawn, since: performance.now() });
  memory.classList.toggle("marks", marks);
  memory.classList.toggle("bare", panel.blank || others * letter + 6 > least);
  memory.classList.toggle("named", Math.max(...panel.heads.map((head) => head.textContent.length)) * room.letter < least);
  let step = 1;
  while (step * least < 2.6 * room.letter && step < columns) step *= 2;
  widths.forEach((width, column) => { panel.cols[column].style.width = `${width}px`; });
  panel.heads.forEach((head, bank) => head.classList.toggle("skipped", bank % step > 0 && !(grown && wide.has(bank)) && !(few && loaded[bank])));
}

/** The first of the marks of a warp in a row says which warp's they are, if there is room. */
function leadMarks(panel, marks, width) {
  const { shown, room } = panel;
  const next = (one, other) => other && one.warp === other.warp && one.box.parentElement === other.box.parentElement;
  for (let first = 0, end; first < shown.length; first = end) {
    end = first + 1;
    while (shown[first].warp >= 0 && next(shown[first], shown[end])) end++;
    const one = shown[first];
    const leads = marks && one.warp >= 0 && (end - first) * width >= one.letters[0] * room.letter;
    if (leads !== one.leads) one.box.classList.toggle("lead", leads);
    one.leads = leads;
    for (const other of shown.slice(first + 1, end)) {
      if (other.leads) other.box.classList.remove("lead");
      other.leads = false;
    }
  }
}
