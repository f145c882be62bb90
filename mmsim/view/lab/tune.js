/* The settings: sliders for the machine and the sizes, fields for threads and inputs. A panel is built anew only
   if it has other fields than before, so that the one with the focus stays. */

const NAMES_OF_SETTINGS = {
  dmms: "DMMs", width: "width", latency: "latency", global_latency: "global latency", shared_latency: "shared latency",
};
const MOST_AT_FIRST = { dmms: 16, width: 64, latency: 64, global_latency: 100, shared_latency: 32 };
const FIELD_NAMES = { low: "from", high: "below", seed: "seed", values: "values", by: "padded by", bits: "bits", base: "base", shift: "shift", width: "width", vector: "vector" };

/** Build a panel if it is to have other fields than before, then let each field show its value. */
function furnishPanel(lab, id, key, build) {
  const box = lab.part(id);
  if (lab.built[id] !== key) {
    lab.built[id] = key;
    const focused = lab.root.activeElement && box.contains(lab.root.activeElement) ? lab.root.activeElement.dataset.field : null;
    for (const [name, { panel }] of lab.fields) if (panel === id) lab.fields.delete(name);
    lab.panel = id;
    box.replaceChildren(...build());
    if (focused) box.querySelector(`[data-field="${CSS.escape(focused)}"]`)?.focus();
  }
}

/** Register a control of a field: it shows what `get` gives, and `set` changes the setup. */
function control(lab, field, input, get, set, event = "input") {
  input.dataset.field = field;
  input.addEventListener(event, () => change(lab, (setup) => set(setup, input.value)));
  const known = lab.fields.get(field) ?? { panel: lab.panel, inputs: [], get };
  known.inputs.push(input);
  lab.fields.set(field, known);
  return input;
}

/** Let all controls show the setup; the one that is typed in keeps its text. */
function showValues(lab) {
  for (const { inputs, get } of lab.fields.values()) {
    const value = String(get(lab.setup) ?? "");
    for (const input of inputs) {
      if (input === lab.root.activeElement && input.type !== "range" && input.tagName === "INPUT") continue;
      if (input.type === "range" && input !== lab.root.activeElement) input.max = Math.max(input.dataset.most, 2 ** Math.ceil(Math.log2(Number(value))));
      if (input.value !== value) input.value = value;
    }
  }
}

/** Mark the field that is wrong, and say what is; null for none. Gives whether the field is on the page. */
function markField(lab, field, message) {
  for (const { inputs } of lab.fields.values()) for (const input of inputs) input.removeAttribute("aria-invalid");
  for (const old of lab.root.querySelectorAll(".field-fault")) old.remove();
  const known = lab.fields.get(field);
  if (!known) return false;
  const said = make("p", "fault field-fault", message);
  said.id = "field-fault";
  said.setAttribute("role", "alert");
  for (const input of known.inputs) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", said.id);
  }
  (known.inputs[0].closest(".input, .slider, .fields") ?? known.inputs[0].parentElement).append(said);
  return true;
}

/** A slider with its number beside it. */
function slider(lab, field, letter, name, most, get, set) {
  const row = make("div", "slider");
  const label = make("span", "letter", letter);
  label.setAttribute("aria-hidden", "true");
  const [range, number] = ["range", "number"].map((type) => {
    const input = make("input", type === "number" ? "number" : "");
    Object.assign(input, { type, min: 1, step: 1 });
    input.setAttribute("aria-label", type === "range" ? name : `${name}, as a number`);
    return control(lab, field, input, get, (setup, text) => {
      if (/^\d+$/.test(text) && Number(text) >= 1) set(setup, Number(text));
    });
  });
  range.dataset.most = most;
  range.max = Math.max(most, 2 ** Math.ceil(Math.log2(get(lab.setup) || 1)));
  number.addEventListener("blur", () => { number.value = get(lab.setup); }); // where it holds no number, the last one
  row.append(label, make("span", "name", name === letter ? "" : name), range, number);
  return row;
}

/** A list to choose from: options are [value, name]. */
function choice(lab, field, label, options, get, set) {
  const box = make("select");
  box.setAttribute("aria-label", label);
  for (const [value, name] of options) {
    const option = make("option", "", name);
    option.value = value;
    box.append(option);
  }
  return control(lab, field, box, get, set, "change");
}

/** A field to write in. */
function textField(lab, field, label, get, set) {
  const input = make("input", "text");
  Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-label", label);
  return control(lab, field, input, get, set);
}

/** Buttons of which one is pressed. */
function buttons(lab, id, options, get, set) {
  const box = lab.part(id);
  if (!box.children.length) {
    for (const [value, name, title] of options) {
      const button = make("button", "", name, title);
      button.dataset.value = value;
      button.addEventListener("click", () => change(lab, (setup) => set(setup, value)));
      box.append(button);
    }
  }
  for (const button of box.children) button.setAttribute("aria-pressed", String(button.dataset.value === get(lab.setup)));
}

/** Show the setup in all panels. */
function drawSetup(lab) {
  const { setup } = lab;
  lab.values = null;
  for (const name of usedSizes(setup)) setup.sizes[name] ??= 8;
  buttons(lab, "kinds", Object.keys(MACHINES).map((kind) => [kind, kind, KINDS_IN_WORDS[kind]]), ({ machine }) => machine.kind, setKind);
  buttons(lab, "schedules", [
    ["synchronous", "synchronous", "lock step: a round begins when all warps have ended the one before"],
    ["asynchronous", "asynchronous", "every warp goes on as soon as it can"],
  ], ({ schedule }) => schedule, (own, value) => { own.schedule = value; });
  buttons(lab, "launches", [
    ["threads", "threads", "the number of threads, and of a block"],
    ["grid", "grid", "the extents of the grid in blocks, and of a block in threads"],
  ], ({ launch }) => ("grid" in launch ? "grid" : "threads"), setLaunch);
  furnishPanel(lab, "machine", setup.machine.kind, () => (
    Object.entries(MACHINES[setup.machine.kind].parameters).map(([name, letter]) => slider(
      lab, `machine.${name}`, letter, NAMES_OF_SETTINGS[name], MOST_AT_FIRST[name],
      ({ machine }) => machine[name], (own, value) => { own.machine[name] = value; }))));
  const inGrid = "grid" in setup.launch;
  furnishPanel(lab, "launch", String(inGrid), () => (inGrid
    ? [["grid", "grid, in blocks"], ["block", "block, in threads"]]
    : [["threads", "threads"], ["block_size", "threads of a block"]]).map(([name, label]) => {
    const own = make("label", "", `${label} `);
    const input = textField(lab, `launch.${name}`, label, ({ launch }) => launch[name], (one, text) => { one.launch[name] = text; });
    if (name === "block_size") input.placeholder = "all";
    own.append(input);
    return own;
  }));
  const names = usedSizes(setup);
  furnishPanel(lab, "sizes", names.join(), () => names.map((name) => slider(
    lab, `sizes.${name}`, name, name, 64, ({ sizes }) => sizes[name], (own, value) => { own.sizes[name] = value; })));
  const shape = setup.arguments.map(({ name, kind, layout }) => [name, kind, layout?.kind, lab.uses[name]].join(" ")).join("|");
  furnishPanel(lab, "inputs", shape, () => inputRows(lab));
  drawOver(lab);
  drawTileForm(lab);
  drawMode(lab);
  showValues(lab);
  lab.part("reset").disabled = !lab.undone && sameSetup(setup, lab.linked ?? lab.data.setup);
}

const KINDS_IN_WORDS = {
  DMM: "Discrete Memory Machine: banks with addresses of their own",
  UMM: "Unified Memory Machine: one address group at a time",
  HMM: "Hierarchical Memory Machine: DMMs with shared memory, and one global memory",
};

function setKind(setup, kind) {
  const before = setup.machine;
  const own = { ...AT_FIRST, global_latency: before.latency ?? AT_FIRST.global_latency, latency: before.global_latency ?? AT_FIRST.latency, ...before };
  setup.machine = { kind, ...Object.fromEntries(Object.keys(MACHINES[kind].parameters).map((name) => [name, own[name]])) };
}

/** Give threads and blocks in another way: the same numbers, as far as they are known. */
function setLaunch(setup, way) {
  if (("grid" in setup.launch ? "grid" : "threads") === way) return;
  const values = valuesOf(setup);
  try {
    const { threads, block_size: size } = launchOf(setup, values);
    setup.launch = way === "grid"
      ? { grid: String(threads / (size ?? threads)), block: String(size ?? threads) }
      : { threads: String(threads), block_size: size === threads ? "" : String(size ?? "") };
  } catch {
    setup.launch = way === "grid" ? { grid: "1", block: "16" } : { threads: "16", block_size: "" };
  }
}

/** The argument of a setup by its name. */
function argument(setup, name) {
  return setup.arguments.find((one) => one.name === name);
}

/** A row for each input. */
function inputRows(lab) {
  const { setup } = lab;
  if (setup.arguments.length === 0) return [make("p", "empty", "This program has no parameters after T.")];
  const head = make("div", "input head");
  head.setAttribute("aria-hidden", "true");
  for (const text of ["", "filled with", "shape", "type", "layout"]) head.append(make("span", "", text));
  const rows = setup.arguments.map((input) => (input.kind === undefined ? numberRow(lab, input) : arrayRow(lab, input)));
  return setup.arguments.some(({ kind }) => kind !== undefined) ? [head, ...rows] : rows;
}

function numberRow(lab, { name }) {
  const row = make("div", "input");
  row.append(make("span", "letter", name));
  if (lab.uses[name] === "unused") row.append(make("span", "empty", "the program does not use it"));
  row.append(textField(lab, `arguments.${name}.value`, `${name}: value`, (setup) => argument(setup, name)?.value, (setup, text) => {
    argument(setup, name).value = text;
  }));
  return row;
}

function arrayRow(lab, { name, kind, layout }) {
  const row = make("div", "input");
  const field = (part) => `arguments.${name}.${part}`;
  const get = (part) => (setup) => argument(setup, name)?.[part];
  const put = (part) => (setup, value) => { argument(setup, name)[part] = value; };
  const kinds = Object.entries(INPUTS).map(([key, one]) => [key, one.name]);
  const kindsOfLayouts = Object.entries(LAYOUTS).map(([key, one]) => [key, one.name]);
  if (layout?.offsets) kindsOfLayouts.push(["given", "as given"]);
  row.append(
    make("span", "letter", name),
    choice(lab, field("kind"), `${name}: filled with`, kinds, get("kind"), (setup, value) => setInput(argument(setup, name), value, setup)),
    textField(lab, field("shape"), `${name}: shape`, get("shape"), put("shape")),
    choice(lab, field("dtype"), `${name}: type`, DTYPES.map((one) => [one, one]), (setup) => argument(setup, name)?.dtype ?? "int64", put("dtype")),
    choice(lab, field("layout"), `${name}: layout`, kindsOfLayouts, (setup) => argument(setup, name)?.layout?.kind ?? "RAW", (setup, value) => {
      argument(setup, name).layout = value === "RAW" ? undefined : { kind: value, ...LAYOUTS[value].parameters };
    }),
  );
  const more = make("div", "more");
  const add = (part, from, label) => {
    const own = make("label", part, `${label} `);
    own.append(textField(lab, field(part), `${name}: ${label}`, (setup) => from(argument(setup, name))[part], (setup, text) => {
      from(argument(setup, name))[part] = text;
    }));
    more.append(own);
  };
  for (const part of INPUTS[kind].fields ?? []) add(part, (own) => own, FIELD_NAMES[part]);
  for (const part of Object.keys(LAYOUTS[layout?.kind]?.parameters ?? {})) {
    // A layout's seed next to that of the values has a name of its own.
    add(part, (own) => own.layout ?? {}, part === "seed" ? "layout's seed" : FIELD_NAMES[part]);
  }
  if (more.children.length) row.append(more);
  return row;
}

/** Fill an array with something else; its values stay to be edited. */
function setInput(input, kind, setup) {
  if (kind === "values") {
    try {
      const shape = shapeOf(input.shape, valuesOf(setup));
      const numbers = numbersOf(input, Math.min(4096, shape.reduce((product, extent) => product * extent, 1)));
      input.values = numbers.map(writtenNumber).join(" ");
    } catch {
      input.values ??= "0";
    }
  }
  if (INPUTS[kind].fields?.includes("seed")) input.seed ??= "0";
  if (kind === "random") {
    input.low ??= "0";
    input.high ??= isWholeType(input.dtype) ? "10" : "1";
  }
  input.kind = kind;
}
