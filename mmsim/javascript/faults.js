/** Text as Python's repr shows it. */
export const quotedText = (text) => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const names = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", [quote]: `\\${quote}` };
  const escaped = (letter) => {
    if (letter === " ") return letter;
    if (Object.hasOwn(names, letter)) return names[letter];
    const code = letter.codePointAt(0), digits = code.toString(16);
    if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  };
  const shown = (letter) => (`'"`.includes(letter) && letter !== quote ? letter : escaped(letter));
  return quote + text.replace(/[\\'"]|[\p{C}\p{Z}]/gu, shown) + quote;
};

/** A place's source line, and below it a line with carets under the text; empty if the text isn't known. */
const excerptOf = (place) => {
  if (!place.text) return "";
  const letters = [...place.text];
  const isBlank = (letter) => /[\t-\r\x1c-\x1f\x85\p{Z}]/u.test(letter);
  let indent = 0, end = letters.length;
  while (indent < letters.length && isBlank(letters[indent])) indent += 1;
  while (end > indent && isBlank(letters[end - 1])) end -= 1;
  const start = Math.max(place.column - indent, 0);
  const wanted = Math.max(place.end_column - place.column, 1);
  const length = Math.max(Math.min(wanted, letters.length - indent - start), 1);
  return `\n    ${letters.slice(indent, end).join("")}\n    ${" ".repeat(start)}${"^".repeat(length)}`;
};

/** A thread in a message, with its place in a launch that has a shape: [threadIdx, blockIdx], each along x, y, z. */
const threadNamed = (thread, position) => {
  if (!position) return `thread ${thread}`;
  const [index, block] = position.map((sides) => `(${sides.join(", ")})`);
  return `thread ${thread} (threadIdx ${index}, blockIdx ${block})`;
};

/** The whole text of a failure of a program. */
const textOfFault = (message, { program, place, thread = null, position }) => {
  let where = `program ${quotedText(program)}`;
  if (place) {
    where += `, line ${place.line}`;
    if (place.function !== program) where += ` (in ${quotedText(place.function)})`;
  }
  if (thread !== null) where += `, ${threadNamed(thread, position)}`;
  const source = place ? `\n  File ${quotedText(place.file)}, line ${place.line}${excerptOf(place)}` : "";
  return `${where}: ${message}${source}`;
};

/** The whole text of a refusal of the language: text that isn't in it. */
const textOfRefusal = (message, place) =>
  `${message}\n  File ${quotedText(place.file)}, line ${place.line}, in ${place.function}${excerptOf(place)}`;

/**
 * An error of mmsim. `kind` is the name of Python's class, `text` what Python prints: of a failure of a `program`, and
 * of a refusal of the language, with the place; of any other error the message. `facts` are those of Python's class:
 * program, place, array, thread, other, index, position, advice. The same names are fields here; null does not apply.
 */
export class MMSimFault extends Error {
  constructor(kind, message, facts = {}) {
    const whole = facts.advice ? `${message}; ${facts.advice}` : message;
    super(whole);
    this.name = kind;
    this.kind = kind;
    for (const fact of ["program", "place", "array", "thread", "other", "index", "position"]) {
      this[fact] = facts[fact] ?? null;
    }
    if (facts.program !== undefined) this.text = textOfFault(message, facts);
    else this.text = facts.place ? textOfRefusal(whole, facts.place) : message;
  }
}
