/* Sizes as one writes them: 64, n, n * n, 2 * w, min(n, 32). What is written is also Python. */

const SIZE_TOKEN = /\s*(?:(\d+)|([A-Za-z_]\w*)|(\*\*|\/\/|[-+*%(),]))/y;
const SIZE_CALLS = { min: Math.min, max: Math.max };
const LARGEST_SIZE = 2 ** 31;

/** The tokens of an expression; an error for what is none. */
function sizeTokens(text) {
  const found = [];
  SIZE_TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim(); at = SIZE_TOKEN.lastIndex) {
    const match = SIZE_TOKEN.exec(text);
    if (!match) throw new Error(`“${text.trim()}” is not a size; write a number, a name or a formula, such as n * n or 2 * w`);
    found.push(match[1] ?? match[2] ?? match[3]);
  }
  return found;
}

/** The names in an expression, each once. */
function sizeNames(text) {
  try {
    return [...new Set(sizeTokens(text).filter((one) => /^[A-Za-z_]/.test(one) && !SIZE_CALLS[one]))];
  } catch {
    return [];
  }
}

/** The value of an expression, a whole number, where names have the values of an object. */
function sizeOf(text, values) {
  const tokens = sizeTokens(text);
  let at = 0;
  const wrong = () => new Error(`“${text.trim()}” is not a size; write a number, a name or a formula, such as n * n or 2 * w`);
  const take = (...wanted) => (wanted.includes(tokens[at]) ? tokens[at++] : null);
  const atom = () => {
    const token = tokens[at++];
    if (token === undefined) throw wrong();
    if (/^\d/.test(token)) return Number(token);
    if (token === "(") {
      const inside = sum();
      if (!take(")")) throw wrong();
      return inside;
    }
    if (!/^[A-Za-z_]/.test(token)) throw wrong();
    if (SIZE_CALLS[token]) {
      if (!take("(")) throw wrong();
      const all = [sum()];
      while (take(",")) all.push(sum());
      if (!take(")")) throw wrong();
      return SIZE_CALLS[token](...all);
    }
    if (!Object.hasOwn(values, token)) throw new Error(`“${token}” has no value`);
    return values[token];
  };
  const power = () => {
    const base = atom();
    return take("**") ? base ** signed() : base;
  };
  const signed = () => (take("-") ? -signed() : power());
  const product = () => {
    let left = signed();
    for (let sign = take("*", "//", "%"); sign; sign = take("*", "//", "%")) {
      const right = signed();
      if (sign !== "*" && right === 0) throw new Error(`“${text.trim()}” divides by 0`);
      left = sign === "*" ? left * right : sign === "//" ? Math.floor(left / right) : left - right * Math.floor(left / right);
    }
    return left;
  };
  const sum = () => {
    let left = product();
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) left = sign === "+" ? left + product() : left - product();
    return left;
  };
  const value = sum();
  if (at < tokens.length) throw wrong();
  if (!Number.isInteger(value) || Math.abs(value) > LARGEST_SIZE) throw new Error(`“${text.trim()}” is ${value}; a size is a whole number of at most 2**31`);
  return value;
}

/** The extents of a shape as it is written: "n, 2 * w" or "(4, 4)"; commas inside brackets separate nothing. */
function shapeParts(text) {
  const own = text.trim();
  const parts = [""];
  let depth = 0;
  for (const letter of own) {
    if (letter === ")") depth--;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
    if (letter === "(") depth++;
  }
  if (parts.length === 1 && isBracketed(own) && own.includes(",")) return shapeParts(own.slice(1, -1)); // as Python shows it
  const trimmed = parts.map((part) => part.trim());
  if (trimmed.length > 1 && trimmed.at(-1) === "") trimmed.pop();
  return trimmed;
}

/** Whether a text is one pair of brackets with something inside: (n, n), but not (n) * (n). */
function isBracketed(text) {
  let depth = 0;
  const closes = [...text].findIndex((letter) => {
    depth += { "(": 1, ")": -1 }[letter] ?? 0;
    return depth === 0;
  });
  return text.startsWith("(") && closes === text.length - 1;
}

/** The extents of a written shape. */
function shapeOf(text, values) {
  return shapeParts(text).map((part) => {
    const extent = sizeOf(part, values);
    if (extent < 0) throw new Error(`“${part}” is ${extent}; an array has no negative extent`);
    return extent;
  });
}
