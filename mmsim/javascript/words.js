/*
 * The words of a program: fields of the thread, barriers, arrays to be made, exchanges, atomics and functions; and the
 * replacements for words that a program can't have.
 */
import { quotedText } from "./faults.js";
import { castNamed } from "./objects.js";
import { accessNode, binaryNode, callNode, constNode, statementNode, unaryNode } from "./scope.js";
import { TABLES } from "./table.js";
import { writtenNode } from "./written.js";

export const OWN_ARRAY = "an mm.registers array";
const THREAD_TRIPLES = ["threadIdx", "blockIdx", "blockDim", "gridDim"];
const THREAD_AXES = ["x", "y", "z"];

/** A noun with its article. */
export const withArticle = (noun) => (/^[aeiou]/i.test(noun) ? `an ${noun}` : `a ${noun}`);

const barrierNode = (place, scope, target = null, op = null, test = null) =>
  statementNode("Barrier", { place, scope, target, op, test });

const counting = (op) => ({
  word: "Effect", parameters: ["test"], hasValue: true, noun: "",
  emit: (target, [test], place) => barrierNode(place, "block", target, op, test),
});
const waiting = (scope) => ({
  word: "Effect", parameters: [], hasValue: false, noun: "a barrier",
  emit: (target, given, place) => barrierNode(place, scope),
});
/** The methods of T. */
const BARRIER_WORDS = new Map([
  ["barrier", waiting("block")], ["grid_barrier", waiting("grid")], ["barrier_or", counting("or")],
  ["barrier_and", counting("and")], ["barrier_count", counting("count")],
]);
const MAKERS = {
  shared: { word: "Maker", kind: "shared", called: "mm.shared", array: "an mm.shared array", shape: "shape" },
  registers: { word: "Maker", kind: "registers", called: "mm.registers", array: OWN_ARRAY, shape: "size" },
};

/** A function of the representation; some give an integer, as Python's do. */
function calledFunction(name, given, place) {
  const result = callNode(name, given, place);
  return TABLES.vocabulary.whole.includes(name) ? unaryNode("int", result, place) : result;
}

const intrinsic = (arities, value) => ({ word: "Intrinsic", arities, value });
const functionWord = (name, arity) => intrinsic([arity], (given, place) => calledFunction(name, given, place));
const scaledWord = (factor) => intrinsic([1], ([value], place) =>
  binaryNode("*", value, constNode({ float: factor }), place));

function logarithm(given, place) {
  const [value, base] = given.map((one) => callNode("log", [one], place));
  return base ? binaryNode("/", value, base, place) : value;
}

/** The word of mmsim that an object is, null for none. */
function wordOfMmsim({ is, module, name }) {
  if (is !== "word") return null;
  const { functions, exchanges, atomics } = TABLES.vocabulary;
  if (module === "mmsim.frontend.thread.atomic" && Object.hasOwn(atomics, name)) {
    const [op, parameters] = atomics[name];
    return { word: "Atomic", op, parameters };
  }
  if (module === "mmsim.frontend.thread.warp" && Object.hasOwn(exchanges, name)) {
    const emit = (target, operands, place) => statementNode("Exchange", { target, op: name, operands, place });
    const parameters = exchanges[name];
    return { word: "Effect", parameters, emit, hasValue: name !== "sync", noun: `mm.warp.${name}` };
  }
  if (module !== "mmsim") return null;
  if (Object.hasOwn(MAKERS, name)) return MAKERS[name];
  if (name === "vector") return { word: "Vectors", called: "mm.vector" };
  return Object.hasOwn(functions, name) ? functionWord(name, functions[name]) : null;
}

/** The function of Python's that an object is, null for none. */
export function functionOfPython(object) {
  const { module, name } = object;
  const { math } = TABLES.vocabulary;
  if (object.is === "builtin" && module === "math") {
    if (name === "log") return intrinsic([1, 2], logarithm);
    if (name === "degrees") return scaledWord(180 / Math.PI);
    if (name === "radians") return scaledWord(Math.PI / 180);
    return Object.hasOwn(math, name) ? functionWord(name, math[name]) : null;
  }
  if (object.is === "builtin" && module === "builtins" && name === "abs") {
    return intrinsic([1], ([value], place) => unaryNode("abs", value, place));
  }
  const cast = castNamed(object);
  if (cast === null) return null;
  const isComplex = cast === "complex";
  return intrinsic(isComplex ? [1, 2] : [1], (given, place) =>
    (given.length === 2 ? callNode("complex", given, place) : unaryNode(cast, given[0], place)));
}

/**
 * The word for a name, an attribute or a called expression; null if it is no word.
 *
 * T.id, T.threadIdx.x, T.barrier and the functions of mmsim are words. T itself has no value.
 */
export function wordFor(node, parser) {
  if (node.kind === "Name" && parser.isThread(node)) {
    throw parser.refuse(node, `${quotedText(node.id)} is the thread`, "use one of its fields, as T.id");
  }
  if (node.kind === "Attribute") {
    const owner = node.value;
    if (owner.kind === "Attribute" && THREAD_TRIPLES.includes(owner.attr)) {
      if (parser.isThread(owner.value)) {
        if (THREAD_AXES.includes(node.attr)) return { node: "ThreadField", field: `${owner.attr}.${node.attr}` };
        const message = `${quotedText(writtenNode(owner))} has no ${quotedText(node.attr)}`;
        throw parser.refuse(node, message, "it has .x, .y and .z");
      }
    } else if (parser.isThread(owner)) return BARRIER_WORDS.get(node.attr) ?? threadField(node, parser);
  }
  return wordOfMmsim(parser.captured(node));
}

/** T.id and the like; other fields are refused. */
function threadField(node, parser) {
  const { numbers, remedies, attributes } = TABLES.vocabulary;
  const { attr } = node;
  if (numbers.includes(attr)) return { node: "ThreadField", field: attr };
  const thread = writtenNode(node.value);
  if (THREAD_TRIPLES.includes(attr)) {
    const text = writtenNode(node);
    throw parser.refuse(node, `${quotedText(text)} is three numbers`, `write ${text}.x, ${text}.y or ${text}.z`);
  }
  const lacks = `the thread has no ${quotedText(attr)}`;
  if (Object.hasOwn(remedies, attr)) throw parser.refuse(node, lacks, remedies[attr]);
  if (attributes.includes(attr)) parser.refuseNoArray(node.value);
  const known = [...numbers, ...THREAD_TRIPLES.map((name) => `${name}.x`)].map((name) => `${thread}.${name}`);
  const barriers = [...BARRIER_WORDS.keys()].filter((name) => name !== "grid_barrier");
  const methods = barriers.map((name) => `${thread}.${name}()`).join(", ");
  throw parser.refuse(node, lacks, `it has ${known.join(", ")}, ${methods} and ${thread}.grid_barrier()`);
}

/** The value of a word that is not called, null for no word; other words are refused. */
export function valueOfWord(word, node, parser) {
  if (word === null) return null;
  if (word.word === "Effect") {
    if (!word.hasValue) throw noValue(word, node, parser);
    const takes = word.parameters.map(withArticle).join(" and ") || "()";
    const text = writtenNode(node);
    const advice = `write ${text}(${word.parameters.join(", ")})`;
    throw parser.refuse(node, `${quotedText(text)} is called with ${takes}`, advice);
  }
  return word.word ? null : word;
}

/** The error for a call without a value where a value must stand. */
export function noValue(word, node, parser) {
  const text = writtenNode(node);
  const noun = word.noun || quotedText(text);
  return parser.refuse(node, `${noun} has no value`, `write ${text}() as a statement of its own`);
}

/** The arguments of a call for these parameters, in order or by name; null if some don't fit. */
export function givenTo(call, parameters) {
  const given = new Map(parameters.slice(0, call.args.length).map((name, at) => [name, call.args[at]]));
  for (const { arg, value } of call.keywords) {
    if (parameters.includes(arg) && !given.has(arg)) given.set(arg, value);
  }
  return given.size === call.args.length + call.keywords.length ? given : null;
}

/** The arguments of a call that takes these, in order or by name. */
export function argumentsOf(call, name, parameters, parser) {
  const given = givenTo(call, parameters);
  if (given === null || given.size !== parameters.length) {
    const takes = parameters.join(" and ") || "no arguments";
    throw parser.refuse(call, `${name} takes ${takes}`, `write ${writtenNode(call.func)}(${parameters.join(", ")})`);
  }
  return parameters.map((one) => given.get(one));
}

/** The statement of an atomic. */
export const atomicNode = (fields) => accessNode("Atomic", fields);

// Replacements

const USELESS_PREFIX = /^(?:(?:[\p{L}\p{N}_]+\.)*(?:cuda|cg|cooperative_groups|numba)\.|__)/u;
const NUMPY_PREFIX = /^(?:np|numpy|cp|cupy)\./;

/** The replacement for a word that a program can't have; null for an unknown one. */
export function remedyFor(node, parser) {
  let text = fullName(node, parser);
  if (text === null) return null;
  const ofNumpy = NUMPY_PREFIX.exec(text);
  if (ofNumpy) return numpyRemedy(text.slice(ofNumpy[0].length));
  const { remedies, "of c": ofC } = TABLES.vocabulary;
  const known = (name) => (Object.hasOwn(remedies, name) ? remedies[name] : null);
  let found = known(text);
  while (found === null) {
    const prefix = USELESS_PREFIX.exec(text);
    if (!prefix) break;
    text = text.slice(prefix[0].length);
    found = known(text);
  }
  if (found !== null) return found;
  const name = [text, text.replace(/f$/, "")].find((one) => Object.hasOwn(ofC, one));
  return name === undefined ? null : `write ${ofC[name]}`;
}

function numpyRemedy(name) {
  const { "of c": ofC, makers } = TABLES.vocabulary;
  const text = name === "power" ? "pow" : name.replace(/^arc/, "a");
  if (Object.hasOwn(ofC, text)) return `write ${ofC[text]}`;
  if (makers.includes(name)) return "make arrays outside, or by mm.shared(shape) and mm.registers(size)";
  return "programs compute with one number at a time: write a loop, or call it outside";
}

/** A dotted name with the real name of its module; null for the user's own objects. */
function fullName(node, parser) {
  let root = node;
  while (root.kind === "Attribute") root = root.value;
  const text = writtenNode(node);
  if (root.kind !== "Name") return text;
  const entity = parser.entity(root.id);
  if (entity.entity === "Missing") return text;
  if (entity.entity !== "Captured") return null;
  const { value } = entity;
  if (value.is === "module") return value.name + text.slice(root.id.length);
  return value.module === "builtins" && value.name === "print" ? text : null;
}

/** What isn't in the language, and what to write instead. */
export function adviceForKind(kind, isStatement) {
  const { refused, "refused statements": statements } = TABLES.vocabulary;
  const [known, unknown] = isStatement ? [statements, "leave it out"] : [refused, "see the language page of the docs"];
  return Object.hasOwn(known, kind) ? known[kind] : [`Python's '${kind}'`, unknown];
}

