/* Python's tokens, with their places: rows count from 1, columns in UTF-16 units from 0. */

/** A text that is not Python. `row` and `column` say where, `end` is the column after the text. */
export class NotPython extends Error {
  constructor(message, row, column, end = column + 1) {
    super(message);
    this.row = row;
    this.column = column;
    this.end = end;
  }
}

const PYTHON_OPERATORS = [
  ...["**=", "//=", ">>=", "<<=", "...", "!=", "<=", ">=", "==", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|="],
  ...["^=", "@=", ":=", "**", "//", "<<", ">>", ..."+-*/%@&|^~<>()[]{},:;.="],
];
const OPENING = { "(": ")", "[": "]", "{": "}" };
const NAME_START = /[\p{XID_Start}_]/u;
const NAME_PATTERN = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
const PYTHON_NUMBER = new RegExp(
  [
    String.raw`0[xX](?:_?[0-9a-fA-F])+`,
    String.raw`0[oO](?:_?[0-7])+`,
    String.raw`0[bB](?:_?[01])+`,
    String.raw`(?:\d(?:_?\d)*\.(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?[jJ]?`,
    String.raw`\d(?:_?\d)*[eE][+-]?\d(?:_?\d)*[jJ]?`,
    String.raw`\d(?:_?\d)*[jJ]?`,
  ].join("|"),
  "y",
);
const STRING_START = /(?:[rRuUbBfF]|[rR][bBfF]|[bBfF][rR])?("""|'''|"|')/y;
/** Words that may follow a number without a space between. */
const AFTER_NUMBER = /(?:and|else|for|if|in|is|not|or)(?![\p{XID_Continue}])/uy;
const MOST_OPEN = 200;
const MOST_INDENTS = 100;

/** The lines of a text, as Python reads them. */
export function linesOfText(text) {
  const whole = text.replace(/\r\n?/g, "\n").replace(/^\ufeff/, "");
  const lines = whole.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * The tokens of a text: objects with `type`, `text`, `row`, `column`, `endRow` and `endColumn`.
 *
 * The types are those of Python's module `tokenize`, so comments and empty lines are tokens as well.
 */
export function tokensOf(lines) {
  return new Tokenizer(lines).run();
}

class Tokenizer {
  constructor(lines) {
    this.lines = lines;
    this.tokens = [];
    this.open = [];
    this.indents = [[0, 0]];
    this.row = 1;
    this.column = 0;
  }

  get line() {
    return this.lines[this.row - 1];
  }

  fault(message, column = this.column, end = column + 1) {
    return new NotPython(message, this.row, column, end);
  }

  add(type, text, column, endColumn, row = this.row) {
    this.tokens.push({ type, text, row, column, endRow: this.row, endColumn });
  }

  run() {
    this.lines.forEach((line, number) => {
      const at = line.indexOf("\0");
      if (at >= 0) throw new NotPython("source code cannot contain null bytes", number + 1, at);
    });
    let isFresh = true; // a statement may begin here
    while (this.row <= this.lines.length) {
      if (isFresh && !this.indentation()) continue;
      isFresh = this.restOfLine();
    }
    if (this.open.length) {
      const last = this.open.at(-1);
      throw new NotPython(`'${last.text}' was never closed`, last.row, last.column);
    }
    if (!isFresh) throw new NotPython("unexpected EOF while parsing", this.row - 1, this.lines.at(-1).length);
    for (; this.indents.length > 1; this.indents.pop()) this.add("DEDENT", "", 0, 0);
    this.add("ENDMARKER", "", 0, 0);
    return this.tokens;
  }

  /** Read the indentation of a line; return whether there is a statement on it. */
  indentation() {
    let [column, alternative, first] = [0, 0, null];
    this.column = 0;
    for (; ; this.column += 1) {
      const character = this.line[this.column];
      if (character === " ") [column, alternative] = [column + 1, alternative + 1];
      else if (character === "\t") [column, alternative] = [(Math.floor(column / 8) + 1) * 8, alternative + 1];
      else if (character === "\f") column = alternative = 0;
      else if (character === "\\" && this.column + 1 === this.line.length && this.row < this.lines.length) {
        first ??= [column, alternative];
        this.row += 1;
        this.column = -1;
        [column, alternative] = [0, 0];
      } else break;
    }
    if (first) [column, alternative] = first;
    if (this.column >= this.line.length || this.line[this.column] === "#") {
      this.comment();
      this.add("NL", "\n", this.line.length, this.line.length + 1);
      this.nextRow();
      return false;
    }
    const last = () => this.indents.at(-1);
    const tabs = () => this.fault("inconsistent use of tabs and spaces in indentation", 0, this.line.length);
    if (column === last()[0]) {
      if (alternative !== last()[1]) throw tabs();
    } else if (column > last()[0]) {
      if (alternative <= last()[1]) throw tabs();
      if (this.indents.length >= MOST_INDENTS) throw this.fault("too many levels of indentation");
      this.indents.push([column, alternative]);
      this.add("INDENT", this.line.slice(0, this.column), 0, this.column);
    } else {
      while (column < last()[0]) {
        this.indents.pop();
        this.add("DEDENT", "", this.column, this.column);
      }
      if (column !== last()[0]) {
        const wrong = "unindent does not match any outer indentation level";
        throw this.fault(wrong, this.line.length);
      }
      if (alternative !== last()[1]) throw tabs();
    }
    return true;
  }

  comment() {
    if (this.line[this.column] !== "#") return;
    this.add("COMMENT", this.line.slice(this.column), this.column, this.line.length);
    this.column = this.line.length;
  }

  nextRow() {
    this.row += 1;
    this.column = 0;
  }

  /** Read the tokens of the rest of a line; return whether a new statement begins after it. */
  restOfLine() {
    for (;;) {
      while (" \t\f".includes(this.line[this.column] ?? "-")) this.column += 1;
      this.comment();
      if (this.column >= this.line.length) {
        const type = this.open.length ? "NL" : "NEWLINE";
        this.add(type, "\n", this.column, this.column + 1);
        this.nextRow();
        return type === "NEWLINE";
      }
      if (this.line[this.column] === "\\") {
        if (this.column + 1 < this.line.length) {
          throw this.fault("unexpected character after line continuation character", this.column + 1);
        }
        if (this.row === this.lines.length) throw this.fault("unexpected EOF while parsing");
        this.nextRow();
        if (this.line.length === 0 && !this.open.length) { // the statement ends on this empty line
          this.add("NEWLINE", "\n", 0, 1);
          this.nextRow();
          return true;
        }
        continue;
      }
      this.token();
    }
  }

  match(pattern) {
    pattern.lastIndex = this.column;
    return pattern.exec(this.line);
  }

  token() {
    const start = this.column;
    const string = this.match(STRING_START);
    if (string) return this.string(string[0], string[1]);
    const character = this.line[start];
    if (/[0-9]/.test(character) || (character === "." && /[0-9]/.test(this.line[start + 1] ?? ""))) {
      return this.number();
    }
    const name = this.match(NAME_PATTERN);
    if (name) {
      this.column += name[0].length;
      return this.add("NAME", name[0].normalize("NFKC"), start, this.column);
    }
    const operator = PYTHON_OPERATORS.find((one) => this.line.startsWith(one, start));
    if (operator === undefined) throw this.unknown();
    if (operator in OPENING) {
      if (this.open.length >= MOST_OPEN) throw this.fault("too many nested parentheses");
      this.open.push({ text: operator, row: this.row, column: start });
    } else if (")]}".includes(operator)) {
      const last = this.open.pop();
      if (!last) throw this.fault(`unmatched '${operator}'`);
      if (OPENING[last.text] !== operator) {
        const where = last.row === this.row ? "" : ` on line ${last.row}`;
        throw this.fault(`closing parenthesis '${operator}' does not match opening parenthesis '${last.text}'${where}`);
      }
    }
    this.column += operator.length;
    return this.add("OP", operator, start, this.column);
  }

  unknown() {
    const character = String.fromCodePoint(this.line.codePointAt(this.column));
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const end = this.column + character.length;
    if ("!$?`".includes(character)) return this.fault("invalid syntax", this.column, end);
    if (/[\p{C}\p{Z}]/u.test(character)) {
      return this.fault(`invalid non-printable character U+${code}`, this.column, end);
    }
    return this.fault(`invalid character '${character}' (U+${code})`, this.column, end);
  }

  number() {
    const start = this.column;
    const [text] = this.match(PYTHON_NUMBER);
    const after = () => this.line[this.column] ?? "";
    this.column += text.length;
    const based = { x: "hexadecimal", o: "octal", b: "binary" }[(text[1] ?? "").toLowerCase()];
    const kind = based ?? (/[jJ]$/.test(text) ? "imaginary" : "decimal");
    if (/^0+_?[0-9_]*[1-9][0-9_]*$/.test(text)) {
      const wrong = "leading zeros in decimal integer literals are not permitted; "
        + "use an 0o prefix for octal integers";
      throw this.fault(wrong, start, this.column);
    }
    if (kind !== "hexadecimal" && this.match(AFTER_NUMBER)) return this.add("NUMBER", text, start, this.column);
    if (kind === "hexadecimal" && this.match(AFTER_NUMBER) && !/[a-f]/.test(after())) {
      return this.add("NUMBER", text, start, this.column);
    }
    if (based && /[0-9]/.test(after())) throw this.fault(`invalid digit '${after()}' in ${based} literal`);
    const rest = this.line.slice(this.column);
    if (NAME_START.test(String.fromCodePoint(rest.codePointAt(0) ?? 32))) {
      const wrong = text === "0" && /^[xXoObB]/.test(rest)
        ? { x: "hexadecimal", o: "octal", b: "binary" }[rest[0].toLowerCase()] : kind;
      throw this.fault(`invalid ${wrong} literal`, start, this.column);
    }
    return this.add("NUMBER", text, start, this.column);
  }

  string(head, quote) {
    const [row, start] = [this.row, this.column];
    const wrong = (message) => new NotPython(message, row, start);
    const parts = [];
    let from = start;
    this.column += head.length;
    for (;;) {
      const { line } = this;
      if (line.startsWith(quote, this.column)) {
        this.column += quote.length;
        parts.push(line.slice(from, this.column));
        return this.add("STRING", parts.join("\n"), start, this.column, row);
      }
      const isEscape = line[this.column] === "\\";
      if (this.column + Number(isEscape) >= line.length) {
        if (quote.length === 1 && !isEscape) throw wrong(`unterminated string literal (detected at line ${this.row})`);
        if (this.row === this.lines.length) {
          const kind = quote.length === 1 ? "string literal" : "triple-quoted string literal";
          throw wrong(`unterminated ${kind} (detected at line ${this.row})`);
        }
        parts.push(line.slice(from));
        this.nextRow();
        from = 0;
      } else this.column += isEscape ? 2 : 1;
    }
  }
}
