/* The editor: a text area over its own picture in colours. Left of each line is its number with the warps
   that wait there, right of it what its accesses cost. */

const INDENT = "    ";

/** An editor in a box; `changed` is called after each change of the text, `chosen` with a line that one clicks. */
function buildEditor(part, { changed, chosen }) {
  const editor = {
    area: part("text"), paint: part("paint"), gutter: part("gutter"), costs: part("costs"), error: part("program-error"),
    lines: [], drawn: [], fault: null, leaving: false,
  };
  const { area } = editor;
  area.addEventListener("input", () => {
    editor.leaving = false;
    drawText(editor);
    changed(area.value);
  });
  area.addEventListener("keydown", (event) => typed(editor, event));
  walkable(editor.gutter, "button");
  editor.gutter.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-line]");
    if (button) chosen(Number(button.dataset.line));
  });
  return editor;
}

/** Tab indents, Shift+Tab takes it back, Enter keeps the indentation; after Escape, Tab leaves. */
function typed(editor, event) {
  const { area } = editor;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    editor.leaving = true;
    return;
  }
  if (event.key === "Tab" && !editor.leaving) {
    event.preventDefault();
    indent(area, event.shiftKey);
  } else if (event.key === "Enter" && !event.shiftKey) {
    const before = area.value.slice(0, area.selectionStart).split("\n").at(-1);
    const own = /^ */.exec(before)[0];
    const more = /:\s*(#.*)?$/.test(before) ? INDENT : "";
    if (!own && !more) return;
    event.preventDefault();
    insert(area, `\n${own}${more}`);
  } else if (event.key === "Backspace" && area.selectionStart === area.selectionEnd) {
    const before = area.value.slice(0, area.selectionStart).split("\n").at(-1);
    if (!before || before.trim() || before.length % INDENT.length) return;
    event.preventDefault();
    area.setSelectionRange(area.selectionStart - INDENT.length, area.selectionEnd);
    insert(area, "");
  }
  if (event.key !== "Shift" && event.key !== "Tab") editor.leaving = false;
}

/** Put a text where the selection is; one can undo it. */
function insert(area, text) {
  if (!document.execCommand(text ? "insertText" : "delete", false, text)) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  }
}

/** Indent the selected lines, or take an indentation away. */
function indent(area, back) {
  const { value, selectionStart: start, selectionEnd: end } = area;
  const first = value.lastIndexOf("\n", start - 1) + 1;
  if (!back && !value.slice(start, end).includes("\n")) {
    insert(area, INDENT.slice((start - first) % INDENT.length));
    return;
  }
  const until = value.indexOf("\n", Math.max(start, end - 1));
  const last = until < 0 ? value.length : until;
  const lines = value.slice(first, last).split("\n");
  const moved = lines.map((line) => (back ? line.replace(/^ {1,4}/, "") : line && INDENT + line));
  if (moved.join("\n") === lines.join("\n")) return;
  area.setSelectionRange(first, last);
  insert(area, moved.join("\n"));
  const shift = moved[0].length - lines[0].length;
  if (start === end) area.setSelectionRange(Math.max(first, start + shift), Math.max(first, start + shift));
  else area.setSelectionRange(first, first + moved.join("\n").length);
}

/** Show a text, if it is another. */
function setText(editor, text) {
  if (editor.area.value === text && editor.lines.length) return;
  editor.area.value = text;
  drawText(editor);
}

/** Draw the text: only lines that have changed. */
function drawText(editor) {
  const { area, paint, gutter, costs } = editor;
  const lines = highlighted(area.value);
  const texts = lines.map((line) => JSON.stringify(line));
  lines.forEach((parts, number) => {
    if (texts[number] === editor.drawn[number]) return;
    const line = make("div", "line");
    line.append(...parts.map(([kind, text]) => (kind ? make("span", kind, text) : text)), "\n");
    if (paint.children[number]) paint.children[number].replaceWith(line);
    else paint.append(line);
    if (editor.lines[number]) editor.lines[number].shown = ""; // its mark of warps is gone
  });
  while (paint.children.length > lines.length) paint.lastChild.remove();
  editor.drawn = texts;
  while (editor.lines.length < lines.length) {
    const number = editor.lines.length + 1;
    const row = make("div", "row");
    const button = make("button", "", String(number), "follow this line in the run");
    button.dataset.line = number;
    button.tabIndex = -1;
    const warps = make("span", "warps");
    row.append(warps, button);
    gutter.append(row);
    costs.append(make("div", "row"));
    editor.lines.push({ row, button, warps, cost: costs.lastChild, shown: "" });
  }
  while (editor.lines.length > lines.length) {
    const { row, cost } = editor.lines.pop();
    row.remove();
    cost.remove();
  }
  stopAt(gutter, gutter.walk.at);
  markFault(editor, editor.fault);
}

/** Mark the line of an error, and say below what is wrong; null for none. */
function markFault(editor, fault) {
  editor.fault = fault;
  const { area, error, paint, lines } = editor;
  for (const line of paint.querySelectorAll(".wrong")) line.classList.remove("wrong");
  for (const { button } of lines) button.classList.remove("wrong");
  paint.parentElement.querySelector(".squiggle")?.remove();
  area.setAttribute("aria-invalid", String(Boolean(fault)));
  hide(error, !fault);
  const said = fault ? fault.said : "";
  if (error.textContent !== said) error.textContent = said; // a new text is read aloud
  const number = (fault?.line ?? 0) - 1;
  if (!paint.children[number]) return;
  paint.children[number].classList.add("wrong");
  lines[number].button.classList.add("wrong");
  if (!(fault.to > fault.from)) return;
  const squiggle = make("div", "squiggle");
  squiggle.style.setProperty("--line", number);
  squiggle.style.setProperty("--from", fault.from);
  squiggle.style.setProperty("--letters", fault.to - fault.from);
  paint.parentElement.append(squiggle);
}

/** Show the warps that wait in each line now: `here` gives their numbers by line. */
function drawWarpsHere(editor, player, here, followed) {
  editor.lines.forEach((line, at) => {
    const warps = (here.get(at + 1) ?? []).sort((a, b) => a - b);
    const shown = `${warps.join(" ")}|${followed === at + 1}|${player?.view.follow?.warp}`;
    if (shown === line.shown) return;
    line.shown = shown;
    line.row.classList.toggle("here", warps.length > 0);
    editor.paint.children[at]?.classList.toggle("here", warps.length > 0);
    line.button.setAttribute("aria-pressed", String(followed === at + 1));
    line.warps.replaceChildren(...warps.slice(0, 1).map((warp) => badge(player, warp)));
    if (warps.length > 1) line.warps.append(`+${warps.length - 1}`);
  });
}

/** Show what the accesses of each line cost, from the rows of a run. */
function drawCosts(editor, rows, file) {
  const byLine = new Map();
  for (const row of rows) byLine.set(row.line, [...(byLine.get(row.line) ?? []), row]);
  const total = rows.reduce((sum, { stages }) => sum + stages, 0);
  editor.lines.forEach(({ cost }, at) => {
    const own = byLine.get(at + 1) ?? [];
    const stages = own.reduce((sum, row) => sum + row.stages, 0);
    const least = own.reduce((sum, row) => sum + row.least, 0);
    cost.replaceChildren();
    cost.className = own.length ? `row cost ${stages > least ? "conflict" : ""}` : "row";
    if (own.length === 0) return;
    cost.style.setProperty("--share", total ? stages / total : 0);
    cost.append(make("span", "", String(stages)));
    cost.title = own.map((row) => (
      `${row.array} ${{ read: "read", write: "written", atomic: "changed" }[row.kind]}: ${many(row.requests, "request")}, ${many(row.stages, "stage")}, ${
        row.stages > row.least ? `${row.least} without conflicts` : "the fewest"}`)).join("\n");
    cost.append(make("span", "unseen", `: ${cost.title}`));
  });
}
