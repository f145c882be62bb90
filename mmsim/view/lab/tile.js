/* The form for tiles in shared memory: what a warp's accesses to a tile cost under a layout, which banks they ask,
   and the paddings and swizzles that free them of conflicts. The engine answers as `mmsim conflicts` does. */

const TILE_AT_FIRST = { layout: "RAW", tile: "32x32", type: "float", vector: "1", accesses: [["write", "rows"], ["read", "columns"]] };
const TILE_LAYOUTS = ["RAW", "padded 1", "padded 4", "padded 8", "xor 8", "xor 32", "32B", "64B", "128B", "Swizzle<5,0,5>", "Swizzle<3,3,3>", "(32,32):(1,32)"];
const TILE_TYPES_SHOWN = ["float", "half", "bfloat16", "double", "int8", "int32", "int64", "complex128"];
const TILE_ACCESSES = ["read", "write", "atomic", "cas", "ldmatrix", "stmatrix"];
const TILE_BANKS_SHOWN = 32;

/** Show the form for tiles, or the program. */
function drawMode(lab) {
  const isTile = lab.setup.mode === "tile";
  for (const mode of ["program", "tile"]) {
    lab.part(`mode-${mode}`).setAttribute("aria-pressed", String((mode === "tile") === isTile));
    for (const box of lab.root.querySelectorAll(`[data-mode="${mode}"]`)) hide(box, (mode === "tile") !== isTile);
  }
}

/** The tile of a setup; changes of it go there. */
function tileOf(setup) {
  setup.tile ??= structuredClone(TILE_AT_FIRST);
  return setup.tile;
}

/** Show the form's fields. */
function drawTileForm(lab) {
  const tile = tileOf(lab.setup);
  const known = (of) => (setup) => tileOf(setup)[of];
  const put = (of) => (setup, value) => { tileOf(setup)[of] = value; };
  furnishPanel(lab, "tile-fields", "", () => {
    const field = (label, control) => {
      const own = make("label", "", `${label} `);
      own.append(control);
      return own;
    };
    const layout = textField(lab, "tile.layout", "layout of the tile", known("layout"), put("layout"));
    layout.setAttribute("list", "tile-layouts");
    const list = make("datalist");
    list.id = "tile-layouts";
    list.append(...TILE_LAYOUTS.map((text) => Object.assign(make("option"), { value: text })));
    const numbers = ["1", "2", "4", "8", "16"].map((one) => [one, one]);
    return [
      field("layout", layout), list,
      field("tile", textField(lab, "tile.tile", "rows and columns of the tile", known("tile"), put("tile"))),
      field("type", choice(lab, "tile.type", "type of an element", TILE_TYPES_SHOWN.map((one) => [one, one]), known("type"), put("type"))),
      field("elements at once", choice(lab, "tile.vector", "elements of one access", numbers, known("vector"), put("vector"))),
    ];
  });
  furnishPanel(lab, "tile-accesses", String(tile.accesses.length), () => [
    ...tile.accesses.map((_, at) => {
      const row = make("div", "access");
      const way = textField(lab, `tile.way.${at}`, `access ${at + 1}: how`, (setup) => tileOf(setup).accesses[at]?.[1], (setup, value) => { tileOf(setup).accesses[at][1] = value; });
      way.setAttribute("list", "tile-ways");
      const remove = make("button", "", "Remove", `remove access ${at + 1}`);
      remove.disabled = tile.accesses.length === 1;
      remove.addEventListener("click", () => change(lab, (setup) => tileOf(setup).accesses.splice(at, 1)));
      row.append(
        choice(lab, `tile.kind.${at}`, `access ${at + 1}: kind`, TILE_ACCESSES.map((one) => [one, one]), (setup) => tileOf(setup).accesses[at]?.[0], (setup, value) => { tileOf(setup).accesses[at][0] = value; }),
        way, remove,
      );
      return row;
    }),
    Object.assign(make("datalist"), { id: "tile-ways", innerHTML: "<option value=rows><option value=columns><option value='(32,8):(1,32)'>" }),
  ]);
}

/** Ask the engine about the tile, then for what frees it of conflicts. */
async function runTile(lab) {
  const tile = structuredClone(tileOf(lab.setup));
  const { answer: found, fault } = await lab.running.ask({ tile });
  lab.ran++;
  markField(lab, fault ? fieldOfTile(lab, fault.message) : "", fault?.message ?? "");
  lab.host.classList.toggle("stale", Boolean(fault));
  lab.part("verdict").textContent = "";
  keepAddress(lab);
  if (fault) {
    lab.part("verdict").textContent = "no answer";
    lab.part("tile-found").replaceChildren();
    return;
  }
  lab.tile = found;
  const { stages, least } = found;
  lab.part("verdict").append(make("b", "", stages.toLocaleString("en")), ` stage${stages === 1 ? "" : "s"}`);
  lab.part("verdict").append(make("span", found.free ? "fewer" : "more", found.free ? ", free of conflicts" : `, ${(stages - least).toLocaleString("en")} beyond the least`));
  const chosen = lab.part("tile-request");
  const key = JSON.stringify(found.accesses.map(({ name }) => name));
  if (lab.built.requests !== key) {
    lab.built.requests = key;
    chosen.replaceChildren(...found.accesses.map(({ name }, at) => Object.assign(make("option", "", name), { value: at })));
    const worst = found.accesses.findIndex(({ free }) => !free);
    chosen.value = Math.max(0, worst);
  }
  drawTileAnswer(lab);
  lab.part("tile-found").replaceChildren(make("p", "note", "searching…"));
  const { answer: searched } = await lab.measuring.ask({ tile, search: true });
  if (searched) drawTileSearch(lab, searched);
}

/** The field that an error about a tile is about: one that it quotes or names, else the layout. */
function fieldOfTile({ setup }, message) {
  const { layout, tile, accesses } = tileOf(setup);
  const [, quoted] = /^'(.*?)' is /.exec(message) ?? [];
  if (quoted !== undefined && quoted !== layout) {
    const at = accesses.findIndex(([, way]) => way === quoted);
    if (at >= 0) return `tile.way.${at}`;
    if (quoted === tile) return "tile.tile";
  }
  if (/^one access of a thread has /.test(message)) return "tile.vector";
  return /^the number of values/.test(message) ? "tile.tile" : "tile.layout";
}

/** A table of what each access costs, and the picture of one request. */
function drawTileAnswer(lab) {
  const { accesses } = lab.tile;
  const table = make("table", "costs");
  const head = make("tr");
  head.append(...["access", "requests", "stages", "least", ""].map((text) => Object.assign(make("th", "", text), { scope: "col" })));
  table.append(head, ...accesses.map(({ name, count, stages, least, free }) => {
    const row = make("tr");
    row.append(
      make("td", "", name), ...[count, stages, least].map((value) => make("td", "number", value.toLocaleString("en"))),
      make("td", free ? "fewer" : "more", free ? "free" : "conflicts"),
    );
    return row;
  }));
  lab.part("tile-costs").replaceChildren(table);
  drawTilePicture(lab);
}

/** The tile with the elements of one request, and the words that each bank is asked for. */
function drawTilePicture(lab) {
  const { accesses, shape, offsets, size } = lab.tile;
  const { requests } = accesses[Number(lab.part("tile-request").value)] ?? accesses[0];
  const slider = lab.part("tile-value");
  const phases = requests.flatMap(({ value, phases: all }) => all.map((phase, number) => ({ value, number, of: all.length, ...phase })));
  slider.max = phases.length - 1;
  const phase = phases[Number(slider.value)] ?? phases[0];
  const what = `instruction ${phase.value}${phase.of > 1 ? `, phase ${phase.number + 1} of ${phase.of}` : ""}`;
  lab.part("tile-which").textContent = `${what}: ${many(phase.stages, "stage")}${phase.stages > phase.least ? `, ${phase.least} without conflicts` : ""}`;
  slider.setAttribute("aria-valuetext", what);
  const counts = new Map(phase.words.map(([bank, words]) => [bank, words.length]));
  const threadsOf = new Map(phase.words.flatMap(([, words]) => words));
  const bars = lab.part("tile-banks");
  const most = Math.max(1, ...counts.values());
  bars.replaceChildren(...Array.from({ length: TILE_BANKS_SHOWN }, (_, bank) => {
    const count = counts.get(bank) ?? 0;
    const bar = make("div", `bar${count > 1 ? " conflict" : ""}`, "", `bank ${bank}: ${many(count, "word")}`);
    bar.style.setProperty("--height", count / most);
    bar.append(make("span", "count", count ? String(count) : ""), make("i"), make("span", "bank", bank % 4 ? "" : String(bank)));
    return bar;
  }));
  bars.setAttribute("aria-label", `Words that each bank is asked for: ${[...counts].map(([bank, count]) => `bank ${bank}: ${count}`).join(", ")}`);
  paintTile(lab, { shape, offsets, size, counts, threadsOf });
}

/** Paint the tile: a colour for each bank, and the threads of the request. */
function paintTile(lab, { shape, offsets, size, counts, threadsOf }) {
  const canvas = lab.part("tile-map");
  hide(canvas, !offsets);
  if (!offsets) return;
  const columns = shape.at(-1);
  const rows = offsets.length / columns;
  const room = Math.max(200, lab.part("tile-picture").clientWidth - 2);
  const cell = Math.max(2, Math.min(22, Math.floor(room / columns)));
  const ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: columns * cell * ratio, height: rows * cell * ratio });
  canvas.style.width = `${columns * cell}px`;
  const paint = canvas.getContext("2d");
  paint.scale(ratio, ratio);
  const dark = theme(lab.host) === "dark";
  paint.font = `${Math.min(11, cell - 6)}px system-ui, sans-serif`;
  paint.textAlign = "center";
  paint.textBaseline = "middle";
  offsets.forEach((offset, element) => {
    const word = Math.floor((offset * size) / 4);
    const bank = word % TILE_BANKS_SHOWN;
    const threads = threadsOf.get(word);
    const [x, y] = [(element % columns) * cell, Math.floor(element / columns) * cell];
    paint.fillStyle = threads ? (counts.get(bank) > 1 ? "#d55e00" : dark ? "#8ab4f8" : "#0b57d0") : `hsl(${(bank * 360) / TILE_BANKS_SHOWN} 45% ${dark ? 24 : 88}%)`;
    paint.fillRect(x, y, cell - (cell > 4 ? 1 : 0), cell - (cell > 4 ? 1 : 0));
    if (threads && cell >= 14) {
      paint.fillStyle = counts.get(bank) > 1 || dark ? "#000" : "#fff";
      paint.fillText(threads[0], x + cell / 2, y + cell / 2);
    }
  });
  canvas.setAttribute("aria-label", `The tile, ${rows} by ${columns}: the words of this request in orange where a bank has several, else in blue`);
  canvas.onmousemove = ({ offsetX, offsetY }) => {
    const element = Math.floor(offsetY / cell) * columns + Math.floor(offsetX / cell);
    const word = Math.floor((offsets[element] * size) / 4);
    const threads = threadsOf.get(word);
    canvas.title = `[${indexOf(shape, element).join(", ")}]: word ${word}, bank ${word % TILE_BANKS_SHOWN}${threads ? `, thread ${threads.join(", ")}` : ""}`;
  };
}

/** The layouts that free all accesses: one click takes one. */
function drawTileSearch(lab, { padding, swizzles }) {
  const box = lab.part("tile-found");
  const use = (text) => {
    const button = make("button", "", text, "take this layout");
    button.addEventListener("click", () => change(lab, (setup) => { tileOf(setup).layout = text; }));
    return button;
  };
  const row = (name, { found, fault }, none) => {
    const own = make("div", "found-layouts");
    own.append(make("span", "name", name), ...(found.length ? found.map(use) : [make("span", "empty", fault ?? none)]));
    return own;
  };
  box.replaceChildren(row("padding", padding, "no padding frees them"), row("swizzles", swizzles, "no swizzle frees them"));
}

/** The command that says the same. */
function tileCommand({ layout, tile, type, vector, accesses }) {
  const quoted = (text) => (/^[\w]+$/.test(text) ? text : `"${text}"`);
  return [
    "mmsim conflicts", quoted(layout), `--tile ${tile}`, `--type ${type}`, ...(vector === "1" ? [] : [`--vector ${vector}`]),
    ...accesses.map(([kind, way]) => `--${kind} ${quoted(way)}`),
  ].join(" ");
}

/** The buttons of the form. */
function listenToTile(lab) {
  for (const mode of ["program", "tile"]) {
    lab.part(`mode-${mode}`).addEventListener("click", () => change(lab, (setup) => { setup.mode = mode; }));
  }
  lab.part("tile-add").addEventListener("click", () => change(lab, (setup) => tileOf(setup).accesses.push(["read", "rows"])));
  for (const id of ["tile-request", "tile-value"]) lab.part(id).addEventListener("input", () => drawTilePicture(lab));
  new ResizeObserver(() => lab.tile && lab.setup.mode === "tile" && drawTilePicture(lab)).observe(lab.part("tile-picture"));
}
