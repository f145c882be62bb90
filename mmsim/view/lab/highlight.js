/* The colours of a program's text. */

const WORDS_OF_PYTHON = "and as assert break class continue def elif else for from global if import in is lambda not or pass return while with yield True False None";
const PYTHON_TOKENS = new RegExp([
  String.raw`(?<comment>#.*)`,
  String.raw`(?<string>[rbf]?(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
  String.raw`(?<mark>@[\w.]+)`,
  String.raw`(?<word>\b(?:${WORDS_OF_PYTHON.replaceAll(" ", "|")})\b)`,
  String.raw`(?<number>\b\d[\w.]*|\.\d\w*)`,
  String.raw`(?<name>\b[A-Za-z_]\w*(?=\s*\())`,
  String.raw`(?<other>\w+)`,
].join("|"), "g");

/** The lines of a text: each a list of [kind, text], where kind is one of the groups above or "". */
function highlighted(text) {
  const lines = [[]];
  const add = (kind, part) => part.split("\n").forEach((piece, number) => {
    if (number) lines.push([]);
    if (piece) lines.at(-1).push([kind, piece]);
  });
  let at = 0;
  for (const match of text.matchAll(PYTHON_TOKENS)) {
    add("", text.slice(at, match.index));
    const [kind] = Object.entries(match.groups).find(([, part]) => part !== undefined);
    add(kind === "other" ? "" : kind, match[0]);
    at = match.index + match[0].length;
  }
  add("", text.slice(at));
  return lines;
}
