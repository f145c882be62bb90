/** The characters that do not print, as Python sees it. */
const UNPRINTED = /[^\P{C}]|[^\P{Z} ]/gu;

/** Text with spaces instead of tabs, up to each next multiple of eight letters. */
const withoutTabs = (text) => {
  let column = 0, whole = "";
  for (const letter of text) {
    const part = letter === "\t" ? " ".repeat(8 - (column % 8)) : letter;
    whole += part;
    column = letter === "\n" || letter === "\r" ? 0 : column + part.length;
  }
  return whole;
};

/** A character's escape in Python. */
const escapeOf = (letter) => {
  const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[letter];
  if (named) return named;
  const code = letter.codePointAt(0), digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
};

/** Text in which every character that does not print is shown as its escape; tabs are spaces. */
export const printableText = (text) => withoutTabs(text).replace(UNPRINTED, escapeOf);

/** The same of text whose lines stay lines. */
export const printableLines = (text) => text.split("\n").map(printableText).join("\n");
