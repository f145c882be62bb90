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
  /** @param {any} facts */
  constructor(kind, message, facts = {}) {
    const whole = facts.advice ? `${message}; ${facts.advice}` : message;
    super(whole);
    this.name = kind;
    this.kind = kind;
    this.program = facts.program ?? null;
    for (const fact of ["place", "array", "thread", "other", "index", "position"]) {
      this[fact] = facts[fact] ?? null;
    }
    if (facts.program !== undefined) this.text = textOfFault(message, facts);
    else this.text = facts.place ? textOfRefusal(whole, facts.place) : message;
  }
}

/** A float as Python's repr shows it. */
export const floatText = (number) => {
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  if (Object.is(number, -0)) return "-0.0";
  const [digits, exponent] = number.toExponential().split("e");
  if (number === 0 || (exponent >= -4 && exponent < 16)) {
    const plain = exponent < 0 ? number.toFixed(digits.replace(/\D/g, "").length - 1 - exponent) : String(number);
    return plain.includes(".") ? plain : `${plain}.0`;
  }
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
};

/** A value as Python's repr shows it: text, a number (a whole one is an integer), an array (a tuple), true, null. */
export const valueText = (value) => {
  if (Array.isArray(value)) return `(${value.map(valueText).join(", ")}${value.length === 1 ? "," : ""})`;
  if (typeof value === "string") return quotedText(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null || value === undefined) return "None";
  return typeof value === "bigint" || Number.isInteger(value) ? String(value) : floatText(value);
};

/** A value as text for a message; a long one is shortened. */
export const shownValue = (value) => {
  if (typeof value === "bigint" || Number.isInteger(value)) {
    const bits = BigInt(value).toString(2).replace("-", "").length;
    return bits > 256 ? `of ${bits} bits` : BigInt(value).toString();
  }
  const text = valueText(value).split(/\s+/).filter(Boolean).join(" "), letters = [...text];
  return letters.length <= 200 ? text : `${letters.slice(0, 200).join("")}...`;
};
