/* A unit's pipeline: what its registers hold, and what is still to enter. */

const REGISTERS = 96; // drawn of a pipeline, at most
const FEW = 12; // registers of a pipeline that are drawn one by one, the empty ones too
const REQUESTS = 8; // requests written into a register

/** What a stage asks for: elements as b[2, 0–3], or on request addresses; → is a write. */
function asked(player, dispatch, lanes) {
  const { data, model, stage: { view } } = player;
  const [, , array, kind] = data.sites[data.dispatches.site[dispatch]];
  const { name, shape } = data.arrays[array];
  const texts = view.addresses
    ? [...new Set(lanes.map((lane) => addressOf(model, dispatch, lane)))].map(String)
    : indexTexts(shape, lanes.map((lane) => data.lanes.element[lane])).map((index) => name + index);
  const more = texts.length > REQUESTS ? `+${texts.length - REQUESTS}` : "";
  const parts = [...(view.addresses ? [`${name} at`] : []), ...texts.slice(0, REQUESTS), ...(more ? [more] : [])];
  if (kind !== "read") parts[0] = `→${parts[0]}`;
  return parts.flatMap((text) => [make("span", "", text), " "]);
}

/** A register's box, for a stage or empty, and the text in it that is the register's number. */
function registerBox(player, held) {
  const { data, model } = player;
  const box = make("div", "register");
  const heading = make("div", "name");
  const number = document.createTextNode("");
  heading.append(make("span", "word", "register "), number);
  box.append(heading);
  if (!held) return { box, number };
  const { dispatch, stage } = held;
  const [name, line, array, kind] = data.sites[data.dispatches.site[dispatch]];
  const who = make("div");
  who.append(badge(player, data.dispatches.warp[dispatch]));
  if (data.dispatches.stages[dispatch] > 1) who.append(` ${stage + 1}/${data.dispatches.stages[dispatch]}`);
  box.append(who);
  const lanes = lanesOf(model, dispatch, stage);
  const phase = lanes.length ? phaseText(model, dispatch, lanes[0]) : "";
  if (phase) box.append(make("div", "phase", phase.slice(2)));
  const copy = data.dispatches.copy[dispatch];
  const requests = make("div", "requests");
  requests.append(...asked(player, dispatch, lanes));
  box.append(requests);
  box.title = [
    `warp ${data.dispatches.warp[dispatch]}, ${name}, line ${line}: ${kind}, dispatched at ${data.dispatches.time[dispatch]}, completes at ${data.dispatches.completion[dispatch]}${phase}`,
    ...lanes.slice(0, 64).map((lane) => `thread ${data.lanes.thread[lane]}: ${elementName(data, array, copy, data.lanes.element[lane])} at address ${addressOf(model, dispatch, lane)}`),
  ].join("\n");
  if (follows(player, player.view.follow, dispatch)) box.classList.add("followed");
  return { box, number };
}

/** What of a request is still to enter. */
function drawOutside(player, panel) {
  const { data, model, view } = player;
  const entering = inRegister(model, panel.u, 0, view.time);
  const left = entering ? data.dispatches.stages[entering.dispatch] - entering.stage - 1 : 0;
  if (left === 0) {
    panel.outside.replaceChildren();
    return;
  }
  panel.outside.replaceChildren(
    make("div", "name", "to enter"), badge(player, data.dispatches.warp[entering.dispatch]), ` ${many(left, "stage")}`,
  );
}

/** What stands for registers in a row. */
function foldOf(first, last, how) {
  const box = make("div", "fold");
  const several = last > first;
  box.append(make("span", "word", several ? "registers " : "register "), several ? `${first + 1}–${last + 1}` : `${first + 1}`, ` ${how}`);
  return box;
}

/** Stages go from register to register: the box of one that was in sight is moved on, not made anew. */
function drawPipeline(player, panel) {
  const { model, view, stage: { view: { addresses } } } = player;
  const { unit, u, drawn } = panel;
  const boxes = panel.queues ? [panel.outside] : []; // always, so that the registers keep their places
  const how = JSON.stringify([view.follow, addresses]);
  const registers = new Map();
  let empty = 0; // in a row, up to here
  for (let j = 0; j < unit.latency; j++) {
    const held = inRegister(model, u, j, view.time);
    if (!held && unit.latency > FEW) {
      empty++;
      continue;
    }
    if (empty) boxes.push(foldOf(j - empty, j - 1, "empty"));
    empty = 0;
    if (registers.size === REGISTERS) {
      boxes.push(foldOf(j, unit.latency - 1, "not drawn"));
      break;
    }
    const what = held ? `${held.dispatch} ${held.stage} ${how}` : "";
    const before = drawn.registers.get(j - view.time + drawn.time);
    const own = before?.what === what ? before : { what, ...registerBox(player, held) };
    const number = String(j + 1);
    if (own.number.data !== number) own.number.data = number;
    registers.set(j, own);
    boxes.push(own.box);
  }
  if (empty) boxes.push(foldOf(unit.latency - empty, unit.latency - 1, "empty"));
  panel.drawn = { time: view.time, registers };
  keepFocus(panel.pipeline, () => {
    if (panel.queues) drawOutside(player, panel);
    refill(panel.pipeline, ...boxes);
  });
}
