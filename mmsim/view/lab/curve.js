/* The curve: the time over one setting, measured point by point. A point that one chooses becomes the run. */

const CURVE = { height: 168, left: 46, right: 14, top: 12, bottom: 28 };

/** The settings that a curve may be over: [key, name]. */
function curveChoices({ machine, arguments: all, sizes }, names) {
  return [
    ...Object.entries(MACHINES[machine.kind].parameters).map(([name, letter]) => [`machine.${name}`, `${letter}, ${NAMES_OF_SETTINGS[name]}`]),
    ...names.filter((name) => name in sizes).map((name) => [`sizes.${name}`, name]),
    ...all.filter(({ kind, layout }) => kind !== undefined && !layout?.offsets && ["RAW", "Padded"].includes(layout?.kind ?? "RAW"))
      .map(({ name }) => [`padding.${name}`, `padding of ${name}`]),
  ];
}

/** The value of what a curve is over, in a setup; null if it has none there. */
function curveValue(setup, key) {
  const [where, name] = key.split(".");
  if (where !== "padding") return setup[where][name];
  const { layout } = argument(setup, name);
  if (!layout) return 0;
  try {
    return sizeOf(layout.by, valuesOf(setup));
  } catch {
    return null;
  }
}

/** A setup with another value there. */
function withCurveValue(setup, key, value) {
  const [where, name] = key.split(".");
  if (where !== "padding") return { ...setup, [where]: { ...setup[where], [name]: value } };
  const padded = (one) => (one.name === name ? { ...one, layout: value ? { kind: "Padded", by: String(value) } : undefined } : one);
  return { ...setup, arguments: setup.arguments.map(padded) };
}

/** The values at which a curve is measured: round about the present one. */
function curveValues(setup, key) {
  const here = curveValue(setup, key) ?? 0;
  const among = (...values) => [...new Set([...values, here])].filter((value) => value >= (key.startsWith("padding") ? 0 : 1)).sort((a, b) => a - b);
  if (key === "machine.width") return among(1, 2, 4, 8, 16, 32, ...(here > 32 ? [64] : []));
  if (key === "machine.dmms") return among(1, 2, 4, 8, 16);
  if (key.startsWith("machine")) return among(1, 2, 4, 6, 8, 12, 16, 20, ...(here > 20 ? [32, 64] : []));
  if (key.startsWith("padding")) return among(...Array.from({ length: Math.min(setup.machine.width, 16) + 1 }, (_, by) => by));
  if (here <= 12) return among(...Array.from({ length: Math.max(12, 2 * here) }, (_, i) => i + 1));
  return among(...[0.125, 0.25, 0.5, 2, 4].map((part) => here * part).filter(Number.isInteger));
}

/** Whether a curve's axis is in powers of two. */
function inPowers(key) {
  return key === "machine.width" || key === "machine.dmms";
}

/** Offer what the curve may be over. */
function drawOver(lab) {
  const { setup } = lab;
  const choices = curveChoices(setup, usedSizes(setup));
  if (!choices.some(([key]) => key === setup.over)) setup.over = "machine.width";
  const box = lab.part("curve-over");
  const key = JSON.stringify(choices);
  if (lab.built.over !== key) {
    lab.built.over = key;
    box.replaceChildren(...choices.map(([value, name]) => {
      const option = make("option", "", name);
      option.value = value;
      return option;
    }));
  }
  box.value = setup.over;
}

/** Measure the curve of the present setup, point by point; the next change ends it. */
async function measureCurve(lab) {
  const { setup } = lab;
  const key = setup.over;
  const values = curveValues(setup, key);
  const shape = JSON.stringify([{ ...setup, view: "" }, key]);
  if (lab.curve?.shape === shape) return;
  const points = new Map();
  const curve = { key, values, points, shape, here: curveValue(setup, key), faults: 0, whole: false };
  lab.curve = curve;
  const began = performance.now();
  for (const value of values) {
    if (performance.now() > began + 20000) break;
    const { result, fault } = await lab.measuring.ask({ setup: withCurveValue(setup, key, value), timeOnly: true });
    if (lab.curve !== curve) return;
    if (result && !result.error) points.set(value, result.time);
    else curve.faults++;
    curve.fault ??= fault ?? result?.error;
    drawCurve(lab);
  }
  curve.whole = true;
  drawCurve(lab);
}

/** End the measuring; what is not whole is measured anew, even if the setup is the same again. */
function endCurve({ curve, measuring, drawing }) {
  cancelAnimationFrame(drawing);
  clearTimeout(drawing);
  measuring.cancel();
  if (curve && !curve.whole) curve.shape = "";
}

/** A number that ends an axis well: 10, 20, 50 and so on. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((part) => part * power).find((one) => one >= value);
}

/** An element of a drawing. */
function drawnElement(name, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** Draw the points that there are, with the line of the claim. */
function drawCurve(lab) {
  const { curve, setup } = lab;
  const box = lab.part("curve");
  const width = Math.max(240, box.clientWidth || 400);
  const { height, left, right, top, bottom } = CURVE;
  const { key, values, points, whole } = curve;
  const name = lab.part("curve-over").selectedOptions[0]?.textContent ?? key;
  const letter = name.split(",")[0];
  const claim = claimOver(lab, curve);
  const highest = roundUp(Math.max(1, ...points.values(), ...claim.points.map(([, time]) => time)));
  const scale = inPowers(key) ? Math.log2 : (value) => value;
  const [low, high] = [scale(values[0]), scale(values.at(-1))];
  const x = (value) => left + 8 + ((scale(value) - low) / (high - low || 1)) * (width - left - right - 16);
  const y = (time) => height - bottom - (time / highest) * (height - top - bottom);
  const image = drawnElement("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Time over ${name}: ${many(points.size, "point")}` });
  for (const part of [0, 0.5, 1]) {
    const time = part * highest;
    image.append(
      drawnElement("line", { class: "grid", x1: left, x2: width - right, y1: y(time), y2: y(time) }),
      drawnElement("text", { class: "tick", x: left - 6, y: y(time) + 4, "text-anchor": "end" }, shortNumber(time)),
    );
  }
  let free = -Infinity;
  for (const value of values) {
    if (x(value) < free && value !== curve.here) continue;
    image.append(drawnElement("text", { class: value === curve.here ? "tick now" : "tick", x: x(value), y: height - bottom + 17, "text-anchor": "middle" }, value));
    free = x(value) + 24;
  }
  image.append(drawnElement("polyline", { class: "measured", points: [...points].map(([value, time]) => `${x(value)},${y(time)}`).join(" ") }));
  if (claim.points.length > 1) {
    image.append(drawnElement("polyline", { class: "claim", points: claim.points.map(([value, time]) => `${x(value)},${y(time)}`).join(" ") }));
  }
  const focused = lab.root.activeElement?.dataset?.value;
  for (const [value, time] of points) {
    const now = value === curve.here;
    const dot = drawnElement("circle", {
      class: now ? "dot now" : "dot", cx: x(value), cy: y(time), r: now ? 6 : 4.5, role: "button", tabindex: now ? 0 : -1,
      "aria-label": `${letter} = ${value}: ${many(time, "time unit")}${now ? ", the run" : ""}`, "data-value": value,
    });
    dot.append(drawnElement("title", {}, `${letter} = ${value}: ${many(time, "time unit")}`));
    image.append(dot);
  }
  if (points.size && !points.has(curve.here)) image.querySelector(".dot").setAttribute("tabindex", 0);
  box.replaceChildren(image);
  if (focused !== undefined && focused !== "") box.querySelector(`[data-value="${focused}"]`)?.focus();
  const { note } = claim;
  hide(lab.part("curve-claim"), !note);
  lab.part("curve-claim").replaceChildren(...(note ? [make("i", "claim-key"), note] : []));
  const lacking = whole && curve.faults ? `no run at ${many(curve.faults, "value")}` : "";
  lab.part("curve-note").textContent = whole || points.size === values.length ? lacking : "measuring…";
  lab.part("curve-note").title = lacking ? curve.fault?.message ?? "" : "";
  if (setup.over !== key) lab.part("curve-note").textContent = "";
}

/** A number of an axis: 12000 as 12k. */
function shortNumber(value) {
  if (value < 10000) return String(value);
  return value < 1e6 ? `${value / 1000}k` : `${value / 1e6}M`;
}

/** The arrow keys go from point to point, Enter makes one the run. */
function listenToCurve(lab) {
  const box = lab.part("curve");
  const choose = (target) => {
    const dot = target.closest("[data-value]");
    if (dot) change(lab, (setup) => Object.assign(setup, withCurveValue(setup, lab.curve.key, Number(dot.dataset.value))));
  };
  box.addEventListener("click", (event) => choose(event.target));
  box.addEventListener("keydown", (event) => {
    const dots = [...box.querySelectorAll("[data-value]")];
    const at = dots.indexOf(event.target);
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") choose(event.target);
    else if (step) dots[at + step]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  lab.part("curve-over").addEventListener("change", () => {
    lab.setup.over = lab.part("curve-over").value;
    measureCurve(lab);
    keepAddress(lab);
  });
  new ResizeObserver(() => lab.curve && drawCurve(lab)).observe(box);
}

/** The claims on the program of a setup: those that it had at first, if its text and its layouts are as they were. */
function claimsFor({ setup, linked, data: { setup: own } }) {
  const first = linked ?? own;
  const key = ({ text, program, arguments: all }) => JSON.stringify([text, program, all.map(({ layout }) => layout)]);
  return key(setup) === key(first) ? first.claims : undefined;
}

/** The claimed times at the points of a curve, and what claims them: a formula of the paper. */
function claimOver(lab, curve) {
  const { setup } = lab;
  const claim = claimsFor(lab)?.find(({ machine }) => machine === setup.machine.kind);
  if (!claim || setup.schedule !== "synchronous") return { points: [], note: "" };
  const formula = claim.text.replace(/^.*?= /, "");
  const points = [];
  for (const value of curve.values) {
    const own = withCurveValue(setup, curve.key, value);
    try {
      const numbers = claimNumbers(claim, own);
      if (!claim.conditions.every((condition) => calculated(condition, numbers))) continue;
      const time = calculated(formula, numbers);
      if (Number.isFinite(time)) points.push([value, time]);
    } catch {
      // no such run
    }
  }
  return { points, note: points.length ? `${claim.text}, ${claim.source}` : "" };
}

/** The parameters of a claim in a setup. */
function claimNumbers(claim, setup) {
  const values = valuesOf(setup);
  const { threads } = launchOf(setup, values);
  const found = {};
  for (const [name, from] of Object.entries(claim.parameters)) {
    if (from === "threads") found[name] = threads;
    else if (from in MACHINES[setup.machine.kind].parameters) found[name] = setup.machine[from];
    else {
      const [array, axis] = from.split(".");
      const shape = shapeOf(argument(setup, array).shape, values);
      found[name] = axis === "size" ? shape.reduce((product, extent) => product * extent, 1) : shape[Number(axis)];
    }
  }
  return found;
}
