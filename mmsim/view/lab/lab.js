/* The laboratory: a program and its settings at the left, its run at the right. These files are joined after the
   player's, in the order that `mmsim.view.lab.scripts` gives, with LABORATORY and LABORATORY_STYLE, the texts of
   lab.html and lab.css.

   `lab.setup` is all that one changes, and all that the link has. A change goes through `change`: the panels show it,
   a worker runs it, and the player shows the run at the moment that was shown before. */

const PAUSE = 150; // milliseconds between the last key and the run
const SOON = 200; // milliseconds until a run says that it runs

/** Open a laboratory in a host: `data` has its setup at first, `work` is the worker's text. */
function openLaboratory(host, data, work) {
  const root = host.attachShadow({ mode: "open" });
  root.append(make("style", "", STYLE), make("style", "", LABORATORY_STYLE), elementsOfText(LABORATORY));
  const lab = {
    host, root, data, setup: structuredClone(data.setup), linked: null, player: null, result: null, part: (id) => root.getElementById(id),
    fields: new Map(), built: {}, uses: {}, spare: {}, running: new Runner(work), measuring: new Runner(work), curve: null, link: "", ran: 0,
  };
  lab.editor = buildEditor(lab.part, {
    changed: (text) => change(lab, (setup) => { setup.text = text; }, PAUSE),
    chosen: (line) => followLine(lab, line),
  });
  for (const id of ["sizes", "inputs", "curve"]) foldable(lab, id);
  listenToCurve(lab);
  listenToSharing(lab);
  listenToTile(lab);
  lab.part("program-name").addEventListener("change", () => change(lab, (setup) => { setup.program = lab.part("program-name").value; }));
  lab.part("reset").addEventListener("click", () => {
    const before = lab.undone ? null : { ...structuredClone(lab.setup), view: viewOf(lab) };
    take(lab, lab.undone ?? structuredClone(lab.linked ?? data.setup));
    offerUndo(lab, before);
  });
  // The player's keys are for the player: not for what one types here.
  for (const id of ["bar", "bench", "tiles"]) {
    lab.part(id).addEventListener("keydown", (event) => {
      if (event.target.closest("textarea, input, select, button") && event.key !== "Escape") event.stopPropagation();
    });
  }
  lab.part("sharing").addEventListener("keydown", (event) => event.stopPropagation());
  addEventListener("hashchange", () => {
    if (location.hash !== lab.link) openLink(lab);
  });
  addEventListener("message", ({ source, data: said }) => { // Space, pressed on the page around this one
    if (source === parent && said?.mmsim === "play" && lab.player) play(lab.player.stage, !lab.player.stage.view.playing);
  });
  openLink(lab);
  return {
    get setup() { return structuredClone(lab.setup); },
    get result() { return lab.result; },
    get player() { return lab.player; },
    get runs() { return lab.ran; },
    get link() { return lab.link; },
    get curve() { return lab.curve; },
    get tile() { return lab.tile ?? null; },
    change: (edit) => change(lab, edit),
    python: () => pythonOf(lab.setup),
    picture: () => pictureOf(lab),
    Runner, pause: PAUSE,
  };
}

/** Let a panel be folded where there is little room; at first it is. */
function foldable(lab, id) {
  const panel = lab.part(`${id}-panel`);
  const button = make("button", "folds");
  const fold = (folded) => {
    panel.classList.toggle("folded", folded);
    button.textContent = folded ? "Show" : "Hide";
    button.setAttribute("aria-expanded", String(!folded));
    button.setAttribute("aria-label", `${button.textContent} ${lab.part(`${id}-heading`).firstChild.textContent.trim().toLowerCase()}`);
  };
  button.addEventListener("click", () => fold(!panel.classList.contains("folded")));
  panel.querySelector(".heading").append(button);
  fold(true);
}

/** Let the button that resets take the reset back: `before` is what there was; null for none. */
function offerUndo(lab, before) {
  const box = lab.part("reset");
  lab.undone = before;
  box.textContent = before ? "Undo reset" : "Reset";
  box.title = before ? "The program and all settings as they were before the reset" : "The program and all settings as they were at first";
  box.disabled = !before && sameSetup(lab.setup, lab.linked ?? lab.data.setup);
}

/** Show what the address leads to; without a link, the laboratory as it was at first. */
async function openLink(lab) {
  const hash = location.hash.slice(1);
  let setup = structuredClone(lab.data.setup);
  lab.part("stale").hidden = true;
  Object.assign(lab, { first: "", linked: null });
  if (hash.startsWith(LINKED)) {
    // The address follows the setup, and the page may be loaded again: its history has the link at first.
    const first = history.state?.first ?? hash;
    try {
      setup = await setupOfLink(hash.slice(LINKED.length));
      if (first) Object.assign(lab, { first, linked: await setupOfLink(first.slice(LINKED.length)) });
    } catch {
      lab.notice = "The link of this page is damaged, so the laboratory is as it was at first.";
    }
  }
  take(lab, setup);
}

/** Take over a whole setup. */
function take(lab, setup) {
  lab.setup = setup;
  offerUndo(lab, null);
  lab.spare = {}; // inputs whose parameters are gone from the text: they may come back
  lab.wanted = setup.view;
  setText(lab.editor, setup.text);
  showProgram(lab);
  drawSetup(lab);
  runSoon(lab, 0);
}

/** Let the program be in sight, if the editor has no room for all that is above it. */
function showProgram({ part, setup }) {
  const lines = setup.text.split("\n");
  const line = lines.findIndex((text, at) => text.startsWith("@mm.program") && lines.slice(at, at + 3).some((one) => one.startsWith(`def ${setup.program}(`)));
  const box = part("editor");
  if (line > 0 && box.scrollHeight > box.clientHeight) box.scrollTop = line * (parseFloat(getComputedStyle(box).lineHeight) || 20);
}

/** Change the setup, and run it. */
function change(lab, edit, wait = 0) {
  lab.setup.view = viewOf(lab);
  edit(lab.setup);
  if (lab.undone) offerUndo(lab, null);
  drawSetup(lab);
  setText(lab.editor, lab.setup.text);
  runSoon(lab, wait);
}

/** Run after a pause without another change; what runs now is of no use any more. */
function runSoon(lab, wait) {
  clearTimeout(lab.waiting);
  clearTimeout(lab.slow);
  lab.running.cancel();
  endCurve(lab);
  lab.waiting = setTimeout(() => runNow(lab), wait);
}

/** Run the setup, and show what comes of it. */
async function runNow(lab) {
  if (lab.setup.mode === "tile") {
    lab.host.classList.remove("running");
    runTile(lab);
    return;
  }
  // A time that changes all the while is not read aloud.
  const time = make("span");
  time.setAttribute("aria-hidden", "true");
  lab.slow = setTimeout(() => {
    lab.part("verdict").replaceChildren("running… ", time);
    lab.host.classList.add("running");
  }, SOON);
  const setup = { ...lab.setup, arguments: [...lab.setup.arguments, ...Object.values(lab.spare)] };
  const { known, result, fault, took } = await lab.running.ask({ setup }, (now) => {
    time.textContent = `time ${now.toLocaleString("en")}`;
  });
  clearTimeout(lab.slow);
  lab.host.classList.remove("running");
  if (known) learn(lab, known);
  const error = fault ?? result?.error;
  showFault(lab, error ?? null);
  if (result?.data) {
    try {
      showRun(lab, result, took);
    } catch (refused) {
      if (!(refused instanceof RangeError)) throw refused;
      lab.player?.close();
      lab.part("place").replaceChildren();
      lab.player = null;
      result.tooLarge = "this run is too large for the player";
      showTime(lab, result, took);
    }
  } else if (result?.tooLarge) showTime(lab, result, took);
  else lab.part("verdict").textContent = "no run";
  lab.ran++;
  stale(lab, error, result);
  keepAddress(lab);
  // The run is drawn before the curve is measured.
  if (!error) lab.drawing = requestAnimationFrame(() => { lab.drawing = setTimeout(() => measureCurve(lab)); });
}

/** Take over what the worker found in the text: its programs, and their parameters. */
function learn(lab, { names, program, arguments: all, uses }) {
  const { setup } = lab;
  lab.uses = Object.fromEntries(uses);
  const missing = setup.arguments.filter(({ name }) => !all.some((one) => one.name === name));
  for (const { name } of all) delete lab.spare[name];
  for (const one of missing) lab.spare[one.name] = one;
  setup.program = program;
  setup.arguments = all;
  const box = lab.part("program-name");
  hide(lab.part("program-choice"), names.length < 2);
  if (lab.built.names !== names.join()) {
    lab.built.names = names.join();
    box.replaceChildren(...names.map((name) => make("option", "", name)));
  }
  box.value = program;
  drawSetup(lab);
  document.title = `${program} in mmsim's laboratory`;
}

/** Say what is wrong, at its field or at its line. */
function showFault(lab, fault) {
  fault = fault && { ...fault, field: fault.field ?? fieldOfFault(lab, fault) };
  const inField = fault?.field ? markField(lab, fault.field, fault.message) : markField(lab, "", "");
  if (!fault || inField) {
    markFault(lab.editor, null);
    return;
  }
  const { place, thread } = fault;
  const message = (fault.message || fault.text).replace(/; if the program is meant to run longer, give run .*/, "; a run here has no more");
  const where = [place ? `line ${place.line}` : "", typeof thread === "number" ? `thread ${thread}` : ""].filter((one) => one).join(", ");
  const said = where ? `${where[0].toUpperCase()}${where.slice(1)}: ${message}` : message;
  markFault(lab.editor, { said, line: place?.line ?? 0, from: place?.column ?? 0, to: place?.end_column ?? 0 });
}

/** The field that an error of the engine is about, if it names none: a layout, or the threads. */
function fieldOfFault({ setup }, { kind, message, place }) {
  if (place) return null;
  if (kind === "LayoutError") {
    const placed = setup.arguments.filter(({ layout }) => layout && layout.kind !== "RAW");
    const said = ({ layout }) => message.includes(layout.kind === "Padded" ? "padding" : layout.kind);
    const own = placed.find(said) ?? placed[0];
    return own ? `arguments.${own.name}.layout` : null;
  }
  if (kind === "LaunchError") {
    if (/^[\d,]+ threads /.test(message)) return "grid" in setup.launch ? "launch.grid" : "launch.threads";
    const [named] = /(?<=')\w+(?=')/.exec(message) ?? [];
    if (argument(setup, named)) return `arguments.${named}.${argument(setup, named).kind === undefined ? "value" : "shape"}`;
  }
  return null;
}

/** Say when the run that is shown is not that of the settings. */
function stale(lab, error, result) {
  const box = lab.part("stale");
  box.className = error ? "fault" : "note";
  const old = lab.player && (!result?.data || result.tooLarge);
  lab.host.classList.toggle("stale", Boolean(old));
  lab.host.classList.toggle("failed", Boolean(old && error));
  const [, count = "", things = ""] = /^this trace has (\d+) ([a-z ]+), and/.exec(result?.tooLarge ?? "") ?? [];
  const limit = count ? `, which draws at most a million ${things}; it has ${Number(count).toLocaleString("en")}` : "";
  const large = `This run is too large for the player${limit}. Its time and its stages are as said.`;
  const said = result?.tooLarge ? `${large}${old ? " Below is a run before." : ""}` : old && error ? "This is the run before the mistake." : "";
  box.textContent = lab.notice ?? said;
  hide(box, !box.textContent);
  lab.notice = null;
}

/** What the player shows, as its link has it. */
function viewOf(lab) {
  if (!lab.player) return lab.setup.view;
  const { stage } = lab.player;
  const parts = linkParts(stage);
  if (stage.view.time === stage.end && stage.end > 0) parts.t = "end";
  return new URLSearchParams(parts).toString();
}

/** Show a run where the one before was, at the same moment. */
function showRun(lab, result, took) {
  const data = { ...result.data, ...lab.data.origin };
  const view = lab.wanted ?? viewOf(lab) ?? "";
  lab.wanted = null;
  if (lab.player) lab.player.show(data, view);
  else {
    const host = make("div", "player");
    lab.part("place").replaceChildren(host);
    lab.player = mount(host, data, { keys: document, style: PLAYER_STYLE, moved: () => seenTime(lab) });
    window.mmsim = lab.player;
    new MutationObserver(() => shareTheme(lab, host)).observe(host, { attributes: true, attributeFilter: ["data-theme"] });
    shareTheme(lab, host);
    restore(lab.player.stage, view);
  }
  seenTime(lab);
  showTime(lab, result, took);
}

/** Show the time of a run, and what its lines cost. */
function showTime(lab, result, took) {
  drawCosts(lab.editor, result.accesses ?? []);
  sayTime(lab, result, took);
  if (!result.error) lab.timeBefore = result.time;
  lab.result = result;
}

/** The whole page has the theme of the player. */
function shareTheme(lab, host) {
  if (host.dataset.theme) lab.host.dataset.theme = host.dataset.theme;
}

/** Say the time, and how it differs from the one before. */
function sayTime(lab, result, took) {
  const { time, error } = result;
  const before = lab.timeBefore;
  const less = error || before === undefined || before === time ? "" : before > time ? `${(before - time).toLocaleString("en")} fewer` : `${(time - before).toLocaleString("en")} more`;
  const box = lab.part("verdict");
  box.replaceChildren(make("b", "", time.toLocaleString("en")), ` time unit${time === 1 ? "" : "s"}${error ? " to the mistake" : ""}`);
  if (less) box.append(make("span", before > time ? "fewer" : "more", `, ${less}`));
  box.title = `${less ? `${less} than before; ` : ""}run in ${took < 10 ? took.toFixed(1) : Math.round(took)} ms`;
}

/** The editor shows where the warps wait at the time on the screen. */
function seenTime(lab) {
  const [player] = lab.player?.stage.players ?? [];
  if (!player) return;
  const here = new Map();
  for (const wait of player.waiting) {
    const line = player.data.waits.line[wait];
    here.set(line, [...(here.get(line) ?? []), player.data.waits.warp[wait]]);
  }
  const { follow } = player.view;
  drawWarpsHere(lab.editor, player, here, follow?.kind === "line" ? follow.line : null);
  clearTimeout(lab.seen);
  lab.seen = setTimeout(() => {
    lab.setup.view = viewOf(lab);
    keepAddress(lab);
  }, 500);
}

/** Follow a line of the text in the run. */
function followLine(lab, line) {
  const [player] = lab.player?.stage.players ?? [];
  const found = player?.data.sources.find(({ first, lines }) => line >= first && line < first + lines.length);
  if (found) toggle(player, { kind: "line", line, function: found.function });
  seenTime(lab);
}
