/* What all panels are made of: elements, warp badges, and lists that the arrow keys walk through.

   Text of the run (names, source, values) only ever becomes textContent or a title. COLOURS are those of
   the warps, in order; warp numbers always stand next to them. */

/** A new element with a class, a text and a title. */
function make(tag, className = "", text = "", title = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== "") element.textContent = text;
  if (title) element.title = title;
  return element;
}

/** Hide an element, or show it, if it isn't so already. */
function hide(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** The class that gives something the colour of a warp. */
function colourClass(warp) {
  return `w${warp % COLOURS.length}`;
}

function badge(player, warp) {
  const [first, count, block] = player.data.warps[warp];
  const { follow } = player.view;
  const own = make(
    "button", `badge ${colourClass(warp)}`, `W${warp}`,
    `warp ${warp}: threads ${first} to ${first + count - 1}, block ${block}; click to follow`,
  );
  own.dataset.warp = warp;
  own.tabIndex = -1;
  if (follow?.kind === "warp" && follow.warp === warp) own.classList.add("followed");
  return own;
}

/** Numbers in ascending order as runs of consecutive ones: 0 1 2 5 as [0, 2] [5, 5]. */
function runsOf(numbers) {
  const runs = [];
  for (const number of numbers) {
    if (runs.length && runs[runs.length - 1][1] === number - 1) runs[runs.length - 1][1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

/* Walking. A box of many things is one tab stop: the thing that had the focus last. Up and down go
   to its neighbours; in a table left and right do, and up and down go by rows. */

function walkable(box, selector, isTable = false) {
  box.walk = { selector, at: 0 };
  box.addEventListener("focusin", (event) => {
    const at = things(box).indexOf(event.target.closest(selector));
    if (at >= 0) stopAt(box, at);
  });
  box.addEventListener("keydown", (event) => {
    const steps = { ArrowUp: -1, ArrowDown: 1, ...(isTable ? { ArrowLeft: -1, ArrowRight: 1 } : {}) };
    const step = steps[event.key];
    const here = event.target.closest(selector);
    if (!here || !step || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault(); // and so no step in time
    const byRow = isTable && (event.key === "ArrowUp" || event.key === "ArrowDown");
    const next = byRow ? inNextRow(here, step, selector) : things(box)[box.walk.at + step];
    if (next) next.focus();
  });
}

/** The cell above or below one, past rows that have none there. */
function inNextRow(cell, step, selector) {
  for (let row = cell.parentElement; row;) {
    row = step < 0 ? row.previousElementSibling : row.nextElementSibling;
    if (row?.cells[cell.cellIndex]?.matches(selector)) return row.cells[cell.cellIndex];
  }
  return null;
}

function things(box) {
  return [...box.querySelectorAll(box.walk.selector)];
}

/** Make element number `at` of a box, or the last one, its only tab stop. */
function stopAt(box, at) {
  const all = things(box);
  box.walk.at = Math.max(0, Math.min(at, all.length - 1));
  const stop = all[box.walk.at];
  if (stop === box.walk.stop && stop?.tabIndex === 0) return stop;
  if (box.walk.stop) box.walk.stop.tabIndex = -1;
  if (stop) stop.tabIndex = 0;
  box.walk.stop = stop;
  return stop;
}

/** Put elements into a box that the arrow keys move in, except for those that are there; the focus keeps its place. */
function refill(box, ...children) {
  keepFocus(box, () => {
    const kept = new Set(children);
    for (const child of [...box.childNodes]) if (!kept.has(child)) child.remove();
    let next = box.firstChild;
    for (const child of children) {
      if (child === next) next = next.nextSibling;
      else box.insertBefore(child, next);
    }
  });
}

/** Put elements into a box; those stay that look as the ones before in their places. */
function renew(box, ...children) {
  const before = [...box.childNodes];
  refill(box, ...children.map((child, at) => (before[at]?.isEqualNode(child) ? before[at] : child)));
}

/** Change what is in a box that the arrow keys move in; the focus keeps its place. */
function keepFocus(box, change) {
  const focused = box.walk && box.contains(box.getRootNode().activeElement);
  change();
  if (!box.walk) return;
  const stop = stopAt(box, box.walk.at);
  if (focused && stop) stop.focus({ preventScroll: true });
}
