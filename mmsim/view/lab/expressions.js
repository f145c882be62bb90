/* Sizes as one writes them: 64, n, n * n, 2 * w, min(n, 32). What is written is also Python. So are the formulas of
   claims and their conditions, which have more signs and functions. */

const SIZE_TOKEN = /\s*(?:(\d+)|([A-Za-z_]\w*)|(\*\*|\/\/|[<>=!]=|[-+*/%(),<>]))/y;
const SIZE_CALLS = { min: Math.min, max: Math.max };
const CLAIM_CALLS = {
  ...SIZE_CALLS, Min: Math.min, Max: Math.max, gcd: greatestDivisor, sqrt: Math.sqrt, isqrt: (x) => Math.floor(Math.sqrt(x)),
  ceiling: Math.ceil, floor: Math.floor, log2: Math.log2, log: Math.log,
};
const CLAIM_SIGNS = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "==": (a, b) => a === b, "!=": (a, b) => a !== b,
};
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

/** The greatest common divisor of two whole numbers. */
function greatestDivisor(a, b) {
  return b ? greatestDivisor(b, a % b) : a;
}

/** The value of an expression, a whole number, where names have the values of an object. */
function sizeOf(text, values) {
  const value = calculated(text, values, SIZE_CALLS);
  if (!Number.isInteger(value) || Math.abs(value) > LARGEST_SIZE) throw new Error(`“${text.trim()}” is ${value}; a size is a whole number of at most 2**31`);
  return value;
}

/** The value of an expression; with the calls of claims, it may also compare and divide. */
function calculated(text, values, calls = CLAIM_CALLS) {
  const ofClaim = calls === CLAIM_CALLS;
  const tokens = sizeTokens(text);
  let at = 0;
  const wrong = () => new Error(`“${text.trim()}” is not a size; write a number, a name or a formula, such as n * n or 2 * w`);
  const take = (...wanted) => (wanted.includes(tokens[at]) ? tokens[at++] : null);
  const atom = () => {
    const token = tokens[at++];
    if (token === undefined) throw wrong();
    if (/^\d/.test(token)) return Number(token);
    if (token === "(") {
      const inside = whole();
      if (!take(")")) throw wrong();
      return inside;
    }
    if (!/^[A-Za-z_]/.test(token)) throw wrong();
    if (Object.hasOwn(calls, token)) {
      if (!take("(")) throw wrong();
      const all = [sum()];
      while (take(",")) all.push(sum());
      if (!take(")")) throw wrong();
      return calls[token](...all);
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
    const signs = ofClaim ? ["*", "//", "%", "/"] : ["*", "//", "%"];
    for (let sign = take(...signs); sign; sign = take(...signs)) {
      const right = signed();
      if (sign !== "*" && right === 0) throw new Error(`“${text.trim()}” divides by 0`);
      left = sign === "*" ? left * right : sign === "/" ? left / right : sign === "//" ? Math.floor(left / right) : left - right * Math.floor(left / right);
    }
    return left;
  };
  const sum = () => {
    let left = product();
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) left = sign === "+" ? left + product() : left - product();
    return left;
  };
  const compared = () => {
    let left = sum();
    let holds = null;
    for (let sign = take(...Object.keys(CLAIM_SIGNS)); sign; sign = take(...Object.keys(CLAIM_SIGNS))) {
      const right = sum();
      holds = (holds ?? true) && CLAIM_SIGNS[sign](left, right);
      left = right;
    }
    return holds ?? left;
  };
  const both = () => {
    let found = compared();
    while (take("and")) found = compared() && found;
    return found;
  };
  const either = () => {
    let found = both();
    while (take("or")) found = both() || found;
    return found;
  };
  const whole = ofClaim ? either : sum;
  const value = whole();
  if (at < tokens.length) throw wrong();
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
