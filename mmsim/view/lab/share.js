/* The link is the laboratory: the program, all settings and the moment, in the part of the address after #. */

const LINKED = "lab=";

/** A text, compressed and written in letters that an address may have. */
async function deflated(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = "";
  for (let at = 0; at < bytes.length; at += 8192) letters += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The text of compressed letters. */
async function inflated(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

/** A setup without what follows from the rest. */
function forLink(setup) {
  const names = usedSizes(setup);
  const { tile, ...rest } = setup;
  const tried = setup.mode === "tile" || JSON.stringify(tile ?? TILE_AT_FIRST) !== JSON.stringify(TILE_AT_FIRST) ? { tile } : {};
  return { ...rest, ...tried, sizes: Object.fromEntries(Object.entries(setup.sizes).filter(([name]) => names.includes(name))) };
}

/** Whether two setups are the same laboratory, whatever moment they show. */
function sameSetup(one, other) {
  const key = (setup) => JSON.stringify({ ...forLink(setup), view: "", over: "", claims: undefined });
  return key(one) === key(other);
}

const isText = (value) => typeof value === "string";
const isCount = (value) => Number.isInteger(value) && value >= 1;
const isName = (value) => isText(value) && /^[\p{ID_Start}_]\p{ID_Continue}*$/u.test(value);

/** Whether a value is a setup, with texts, numbers and names where they have to be: it may come from anyone. */
function isLaboratory({ text, program = "", machine, launch, sizes, schedule, arguments: all, view = "", over = "", mode = "", tile, claims = [] }) {
  const isLaunch = ["threads,block_size", "block_size,threads", "grid,block", "block,grid"].includes(Object.keys(launch).join());
  return [text, program, view, over, mode].every(isText) && Object.hasOwn(MACHINES, machine.kind)
    && Object.keys(MACHINES[machine.kind].parameters).every((name) => isCount(machine[name]))
    && isLaunch && Object.values(launch).every(isText)
    && Object.entries(sizes).every(([name, value]) => isName(name) && isCount(value))
    && ["synchronous", "asynchronous"].includes(schedule) && Array.isArray(all) && all.every(isInput)
    && (tile === undefined || isTile(tile)) && Array.isArray(claims) && claims.every(isClaim);
}

/** Whether a value is a claim of a setup. */
function isClaim({ machine, text, source, parameters, conditions }) {
  return [machine, text, source, ...conditions, ...Object.values(parameters)].every(isText) && Object.keys(parameters).every(isName);
}

/** Whether a value is an argument of a setup. */
function isInput({ name, kind, dtype, layout, value, shape, ...fields }) {
  if (!isName(name) || !(dtype === undefined || DTYPES.includes(dtype)) || !Object.values(fields).every(isText)) return false;
  if (kind === undefined) return isText(value);
  return Object.hasOwn(INPUTS, kind) && isText(shape) && (!layout || isLayout(layout));
}

/** Whether a value is a layout of a setup. */
function isLayout({ kind, offsets, ...parameters }) {
  if (offsets) return Array.isArray(offsets) && offsets.every((one) => Number.isInteger(one) && one >= 0);
  return Object.hasOwn(LAYOUTS, kind) && Object.values(parameters).every(isText);
}

/** Whether a value is a tile of a setup. */
function isTile({ layout, tile, type, vector, accesses }) {
  return [layout, tile, type, vector].every(isText) && Array.isArray(accesses) && accesses.length > 0
    && accesses.every((one) => Array.isArray(one) && TILE_ACCESSES.includes(one[0]) && isText(one[1]));
}

/** A setup that a link has; an error if it isn't one. */
async function setupOfLink(letters) {
  const setup = JSON.parse(await inflated(letters));
  if (!isLaboratory(setup)) throw new Error("not a laboratory");
  return { view: "", program: "", ...setup };
}

/** Let the address of the page be that of what is shown. */
function keepAddress(lab) {
  clearTimeout(lab.keeping);
  lab.keeping = setTimeout(async () => {
    const { setup } = lab;
    const letters = await deflated(JSON.stringify({ ...forLink(setup), claims: claimsFor(lab) }));
    if (lab.setup !== setup) return;
    lab.link = `#${LINKED}${letters}`;
    try {
      // A frame of a notebook has no address: about:srcdoc. Firefox reports an error if it is to get one.
      if (location.protocol !== "about:") history.replaceState({ first: lab.first }, "", lab.link);
    } catch {
      // nor do some other frames
    }
    if (lab.part("sharing").open) fillSharing(lab);
  }, 200);
}

/** What the dialog offers. */
function fillSharing(lab) {
  const isPage = /^(https?|file):$/.test(location.protocol);
  const link = isPage ? location.href.split("#")[0] + lab.link : lab.link;
  const from = location.protocol === "file:" ? location.pathname.split("/").at(-1) : location.href.split("#")[0];
  lab.part("share-link").value = link;
  lab.part("link-length").textContent = `${link.length.toLocaleString("en")} letters`;
  lab.part("share-command").value = tileCommand(tileOf(lab.setup));
  lab.part("share-frame").value = `<iframe src="${from}${lab.link}" title="mmsim laboratory" width="100%" height="900" style="border: 0"></iframe>`;
}

/** Give the reader a file. */
function saveFile(name, content, type) {
  const link = make("a");
  link.download = name;
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The buttons of the dialog. */
function listenToSharing(lab) {
  const { part } = lab;
  const said = (text) => { part("shared").textContent = text; };
  part("share").addEventListener("click", () => {
    said(lab.player || lab.setup.mode === "tile" ? "" : "There is no run to make a picture of.");
    for (const id of ["save-svg", "save-png"]) part(id).disabled = !lab.player;
    fillSharing(lab);
    part("sharing").showModal();
    part("share-link").select();
  });
  part("sharing").addEventListener("click", async (event) => {
    if (event.target === part("sharing")) part("sharing").close();
    const id = event.target.dataset?.copy;
    if (!id) return;
    part(id).select();
    try {
      await navigator.clipboard.writeText(part(id).value);
    } catch {
      document.execCommand("copy");
    }
    said("Copied.");
  });
  const name = () => lab.setup.program || "program";
  part("save-python").addEventListener("click", () => saveFile(`${name()}.py`, pythonOf(lab.setup), "text/x-python"));
  part("save-svg").addEventListener("click", () => saveFile(`${name()}.svg`, pictureOf(lab).text, "image/svg+xml"));
  part("save-png").addEventListener("click", async () => {
    said("");
    try {
      saveFile(`${name()}.png`, await imageOf(pictureOf(lab)), "image/png");
    } catch {
      said("This browser makes no picture of the page; save it as .svg.");
    }
  });
}

/* The program of Python. */

/** The number of elements of a written shape, as Python text. */
function sizeText(shape) {
  const parts = shapeParts(shape);
  return parts.length === 1 ? parts[0] : parts.map((part) => (/^\w+$/.test(part) ? part : `(${part})`)).join(" * ");
}

/** An array in Python. */
function arrayText(input, values) {
  const { kind, shape, dtype = "int64", layout } = input;
  const type = dtype === "bool" ? "bool" : `np.${dtype}`;
  const size = sizeText(shape);
  const extents = shapeParts(shape);
  const reshaped = extents.length > 1 ? `.reshape(${extents.join(", ")})` : "";
  let text;
  if (kind === "zeros" || kind === "ones") {
    text = `np.${kind}(${extents.length > 1 ? `(${extents.join(", ")})` : size}, ${dtype === "int64" ? "int" : type})`;
  } else if (kind === "values") {
    const words = input.values.split(/[\s,]+/).filter((word) => word)
      .map((word) => (/^[-+]?(nan|inf)$/i.test(word) ? word.toLowerCase().replace(/nan|inf/, "np.$&") : word));
    const array = `np.array([${words.join(", ")}], ${type})`;
    text = `${words.length === sizeOf(size, values) ? array : `np.resize(${array}, ${size})`}${reshaped}`;
  } else {
    const own = INPUTS[kind].python(size, input);
    const made = kind === "random" && !isWholeType(dtype) ? "float64" : "int64";
    const more = `${dtype === made ? "" : `.astype(${type})`}${reshaped}`;
    text = more && own.includes(" + ") ? `(${own})${more}` : own + more;
  }
  if (!layout) return text;
  if (layout.offsets) return `mm.place(${text}, Given())`;
  const { seed, vector, ...plain } = layout;
  const parameters = Object.keys(LAYOUTS[layout.kind].parameters).filter((name) => name in plain).map((name) => plain[name]);
  if (vector !== undefined) parameters.push(vector);
  if (seed !== undefined) parameters.push(`seed=${seed}`);
  return `mm.place(${text}, mm.layout.${layout.kind}(${parameters.join(", ")}))`;
}

/** A file of Python that runs the same, and prints the time. */
function pythonOf(setup) {
  const { text, machine, schedule, launch, program, arguments: all } = setup;
  const values = valuesOf(setup);
  const letters = MACHINES[machine.kind].parameters;
  const written = [...sizeTexts(setup).map(([, own]) => own)].flatMap((own) => shapeParts(own).flatMap(sizeNames));
  const used = Object.entries(letters).filter(([, letter]) => written.includes(letter));
  const [main, machineName, runName] = ["main", "machine", "run"].map((name) => (new RegExp(`^(def +)?${name}\\b`, "m").test(text) ? `${name}_` : name));
  const taken = [...usedSizes(setup), ...Object.values(letters), program, machineName, runName, "mm", "np", main, "Given"];
  const variable = (name) => (taken.includes(name) ? `${name}_` : name);
  const lines = [
    ...usedSizes(setup).map((name) => `${name} = ${setup.sizes[name]}`),
    ...used.map(([name, letter]) => `${letter} = ${machine[name]}`),
    ...all.filter(({ kind }) => kind !== undefined).map((input) => `${variable(input.name)} = ${arrayText(input, values)}`),
  ];
  const own = Object.entries(letters).map(([name, letter]) => (written.includes(letter) ? letter : machine[name]));
  const calls = all.map(({ name, kind, value, dtype }) => (kind !== undefined ? variable(name) : dtype ? `np.${dtype}(${value})` : value));
  const threads = "grid" in launch
    ? [`grid=${tupleText(launch.grid)}`, `block=${tupleText(launch.block)}`]
    : [`threads=${launch.threads}`, ...(launch.block_size ? [`block_size=${launch.block_size}`] : [])];
  const given = all.find(({ layout }) => layout?.offsets);
  const imports = ["import numpy as np", "import mmsim as mm"].filter((line) => !new RegExp(`^${line}$`, "m").test(text)).map((line) => `${line}\n`).join("");
  const [future = ""] = /^from __future__ import .*\n+/m.exec(text) ?? []; // has to come first
  return [
    future, imports, `${text.replace(future, "").trimEnd()}\n\n\n`,
    given ? `class Given:\n    """The layout of ${given.name}."""\n\n    def offsets(self, shape):\n        return np.array(${JSON.stringify(given.layout.offsets)}).reshape(shape)\n\n\n` : "",
    `def ${main}():\n`,
    ...lines.map((line) => `    ${line}\n`),
    `    ${machineName} = mm.${machine.kind}(${own.join(", ")})\n`,
    `    ${runName} = ${machineName}.run(${[program, ...calls, ...threads, `schedule="${schedule}"`].join(", ")})\n`,
    `    print(${runName}.time)\n\n\nif __name__ == "__main__":\n    ${main}()\n`,
  ].join("");
}

/** Extents as Python writes them. */
function tupleText(text) {
  const parts = shapeParts(text);
  return parts.length > 1 ? `(${parts.join(", ")})` : parts[0];
}

/* The picture: the player as it is seen, inside an SVG. */

/** An SVG of the player, with its size. */
function pictureOf(lab) {
  const { stage } = lab.player;
  const whole = stage.part("whole");
  const { width, height } = whole.getBoundingClientRect();
  const copy = whole.cloneNode(true);
  const [originals, copies] = [whole, copy].map((one) => [...one.querySelectorAll("*")]);
  originals.forEach((element, at) => {
    const own = copies[at];
    if (element.tagName === "CANVAS") {
      const image = make("img");
      image.src = element.toDataURL();
      image.style.cssText = `display: block; width: ${element.clientWidth}px; height: ${element.clientHeight}px`;
      own.replaceWith(image);
    }
    if (element.tagName === "INPUT") own.setAttribute("value", element.value);
    if (element.tagName === "OPTION") own.toggleAttribute("selected", element.selected);
    if (element.scrollTop && own.firstElementChild) own.firstElementChild.style.marginTop = `${-element.scrollTop}px`;
  });
  const style = [...stage.root.querySelectorAll("style")].map((one) => one.textContent).join("\n")
    .replace(/:host\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g, ".host$1").replaceAll(":host", ".host");
  const box = document.createElement("div");
  box.className = `host ${stage.host.className}`;
  box.dataset.theme = theme(stage.host);
  box.style.width = `${width}px`;
  box.append(make("style", "", `${style}\n#controls { position: static !important; }`), copy);
  const inside = new XMLSerializer().serializeToString(box);
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  return { width: w, height: h, text: `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}"><foreignObject width="100%" height="100%">${inside}</foreignObject></svg>` };
}

/** A PNG of a picture. */
async function imageOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make("canvas");
  const ratio = Math.min(2, 16000 / height);
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  const paint = canvas.getContext("2d");
  paint.scale(ratio, ratio);
  paint.drawImage(image, 0, 0);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png");
  });
}
