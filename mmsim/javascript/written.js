/* Expressions and values as Python writes them, for messages. */
import { quotedText } from "./faults.js";

const [NAMED, TUPLE, YIELD, TEST, OR, AND, NOT, COMPARISON] = [1, 2, 3, 4, 5, 6, 7, 8];
const [BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM] = [9, 10, 11, 12, 13];
const [TERM, FACTOR, POWER, AWAIT, ATOM] = [14, 15, 16, 17, 18];
const BINARY_SIGNS = {
  Add: ["+", SUM], Sub: ["-", SUM], Mult: ["*", TERM], MatMult: ["@", TERM], Div: ["/", TERM], Mod: ["%", TERM],
  LShift: ["<<", SHIFT], RShift: [">>", SHIFT], BitOr: ["|", BIT_OR], BitXor: ["^", BIT_XOR], BitAnd: ["&", BIT_AND],
  FloorDiv: ["//", TERM], Pow: ["**", POWER],
};
const COMPARISON_SIGNS = {
  ...{ Eq: "==", NotEq: "!=", Lt: "<", LtE: "<=", Gt: ">", GtE: ">=", Is: "is", IsNot: "is not", In: "in" },
  NotIn: "not in",
};
/** The most digits of an integer that Python writes. */
const MOST_DIGITS = 4300;

/** A float as Python writes it. */
export function writtenFloat(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x < 0 ? "-inf" : "inf";
  if (Object.is(x, -0)) return "-0.0";
  const [digits, exponent] = x.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = x.toString();
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** An object of Python's as its repr, if this is one that texts can hold. */
export function writtenObject({ is, value, re, im }) {
  if (is === "int") return value.toString();
  if (is === "bool") return value ? "True" : "False";
  if (is === "none") return "None";
  if (is === "ellipsis") return "Ellipsis";
  if (is === "float") return writtenFloat(value);
  if (is === "complex") {
    const part = (x) => writtenFloat(x).replace(/\.0$/, "");
    if (Object.is(re, 0)) return `${part(im)}j`;
    return `(${part(re)}${im < 0 || Object.is(im, -0) ? "" : "+"}${part(im)}j)`;
  }
  if (is !== "bytes") return quotedText(value);
  return `b${quotedText(value).replace(/[^\0-\x7f]/g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)}`;
}

class TooLong extends Error {}

/** An expression as Python's `ast.unparse` writes it. */
export function writtenNode(node) {
  try {
    return written(node, TEST);
  } catch (error) {
    if (error instanceof TooLong) return "...";
    throw error;
  }
}

const inside = (text, isNeeded) => (isNeeded ? `(${text})` : text);

function written(node, level = TEST) {
  const form = WRITTEN_FORMS[node.kind];
  return form ? form(node, level) : "...";
}

const listed = (nodes) => nodes.map((one) => written(one)).join(", ");
const itemsOf = (nodes) => (nodes.length === 1 ? `${written(nodes[0])},` : listed(nodes));
const loopsOf = (node) => node.generators.map((one) => written(one)).join("");

function writtenParameters({ posonly, args, vararg, kwonly, kwDefaults, kwarg, defaults }) {
  const all = [...posonly, ...args];
  const parts = all.map((one, at) => {
    const value = defaults[at - (all.length - defaults.length)];
    const slash = at + 1 === posonly.length ? ", /" : "";
    return written(one) + (value ? `=${written(value)}` : "") + slash;
  });
  if (vararg || kwonly.length) parts.push(`*${vararg ? written(vararg) : ""}`);
  kwonly.forEach((one, at) => parts.push(written(one) + (kwDefaults[at] ? `=${written(kwDefaults[at])}` : "")));
  if (kwarg) parts.push(`**${written(kwarg)}`);
  return parts.join(", ");
}

const WRITTEN_FORMS = {
  Name: ({ id }) => id,
  Constant: ({ value }) => {
    if (value.is === "ellipsis") return "...";
    const text = writtenObject(value);
    if (value.is === "int" && text.length > MOST_DIGITS) throw new TooLong();
    return value.is === "float" || value.is === "complex" ? text.replace("inf", "1e309") : text;
  },
  JoinedStr: ({ text }) => text,
  NamedExpr: ({ target, value }, level) => inside(`${written(target, ATOM)} := ${written(value, ATOM)}`, level > NAMED),
  Await: ({ value }, level) => inside(`await ${written(value, ATOM)}`, level > AWAIT),
  Yield: ({ value }, level) => inside(value ? `yield ${written(value, ATOM)}` : "yield", level > YIELD),
  YieldFrom: ({ value }, level) => inside(`yield from ${written(value, ATOM)}`, level > YIELD),
  List: ({ elts }) => `[${listed(elts)}]`,
  ListComp: (node) => `[${written(node.elt)}${loopsOf(node)}]`,
  GeneratorExp: (node) => `(${written(node.elt)}${loopsOf(node)})`,
  SetComp: (node) => `{${written(node.elt)}${loopsOf(node)}}`,
  DictComp: (node) => `{${written(node.key)}: ${written(node.value)}${loopsOf(node)}}`,
  comprehension: ({ target, iter, ifs, isAsync }) => {
    const tests = ifs.map((one) => ` if ${written(one, OR)}`).join("");
    return `${isAsync ? " async" : ""} for ${written(target, TUPLE)} in ${written(iter, OR)}${tests}`;
  },
  IfExp: ({ test, body, orelse }, level) =>
    inside(`${written(body, OR)} if ${written(test, OR)} else ${written(orelse, TEST)}`, level > TEST),
  Set: ({ elts }) => `{${listed(elts)}}`,
  Dict: ({ keys, values }) => {
    const items = keys.map((key, at) =>
      (key ? `${written(key)}: ${written(values[at])}` : `**${written(values[at], BIT_OR)}`));
    return `{${items.join(", ")}}`;
  },
  Tuple: ({ elts }, level) => inside(itemsOf(elts), !elts.length || level > TUPLE),
  UnaryOp: ({ op, operand }, level) => {
    if (op === "Not") return inside(`not ${written(operand, NOT)}`, level > NOT);
    return inside({ Invert: "~", UAdd: "+", USub: "-" }[op] + written(operand, FACTOR), level > FACTOR);
  },
  BinOp: ({ left, op, right }, level) => {
    const [sign, own] = BINARY_SIGNS[op];
    const isPower = op === "Pow";
    const text = `${written(left, own + isPower)} ${sign} ${written(right, own + !isPower)}`;
    return inside(text, level > own);
  },
  Compare: ({ left, ops, comparators }, level) => {
    const rest = ops.map((op, at) => ` ${COMPARISON_SIGNS[op]} ${written(comparators[at], BIT_OR)}`);
    return inside(written(left, BIT_OR) + rest.join(""), level > COMPARISON);
  },
  BoolOp: ({ op, values }, level) => {
    const own = op === "And" ? AND : OR;
    const parts = values.map((one, at) => written(one, Math.min(own + at + 1, ATOM)));
    return inside(parts.join(op === "And" ? " and " : " or "), level > own);
  },
  Attribute: ({ value, attr }) => {
    const isWhole = value.kind === "Constant" && ["int", "bool"].includes(value.value.is);
    return `${written(value, ATOM)}${isWhole ? " " : ""}.${attr}`;
  },
  Call: ({ func, args, keywords }) => `${written(func, ATOM)}(${listed([...args, ...keywords])})`,
  Subscript: ({ value, slice }) => {
    const isTuple = slice.kind === "Tuple" && slice.elts.length;
    return `${written(value, ATOM)}[${isTuple ? itemsOf(slice.elts) : written(slice)}]`;
  },
  Starred: ({ value }) => `*${written(value, BIT_OR)}`,
  Slice: ({ lower, upper, step }) =>
    `${lower ? written(lower) : ""}:${upper ? written(upper) : ""}${step ? `:${written(step)}` : ""}`,
  keyword: ({ arg, value }) => `${arg === null ? "**" : `${arg}=`}${written(value)}`,
  arg: ({ arg, annotation }) => (annotation ? `${arg}: ${written(annotation)}` : arg),
  Lambda: ({ args, body }, level) => {
    const parameters = writtenParameters(args);
    return inside(`lambda${parameters ? ` ${parameters}` : ""}: ${written(body, TEST)}`, level > TEST);
  },
};
