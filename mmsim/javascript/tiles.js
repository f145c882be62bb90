import { cuteLayout, integerOf, layoutError, layoutOf, swizzleOfBytes } from "./layouts.js";
import { quotedText, valueText } from "./faults.js";
import { MATRIX_BYTES, MATRIX_KINDS, TILE_KINDS, searchPadding, searchSwizzles, tileQuestion } from "./questions.js";

/*
 * What `mmsim conflicts` says about a tile, from the same texts: see `mmsim/cli/tile_conflicts.py`.
 */

/** Types by the names of CUDA, NumPy and CUTLASS, with or without `_t` at the end, by their bytes. */
export const TILE_TYPES = {
  1: ["int8", "uint8", "char", "fp8", "float_e4m3", "float_e5m2"],
  2: ["half", "bfloat16", "int16", "uint16", "short"],
  4: ["float", "int", "int32", "uint32", "tf32", "tfloat32", "half2"],
  8: ["double", "int64", "uint64", "complex64", "float2"],
  16: ["complex128", "float4", "int4", "double2"],
};

/** The most swizzles that are shown. */
const MOST_SWIZZLES = 20;

/** The bytes of a type. */
const bytesOfType = (name) => {
  const plain = name.split("::").at(-1).replace(/_t$/, "");
  const found = Object.entries(TILE_TYPES).find(([, names]) => names.includes(plain));
  if (found) return Number(found[0]);
  const known = Object.values(TILE_TYPES).flat().join(", ");
  throw layoutError(`${quotedText(name)} is not a known type; write one of ${known}`);
};

/** The layout of a text: "RAW", "padded 1", "xor 8", "128B", or as CuTe prints it. */
export const tileLayoutOf = (text, size) => {
  if (text.toUpperCase() === "RAW") return layoutOf({ kind: "RAW" });
  const known = /^(padded|xor) (\d+)$/.exec(text);
  if (known?.[1] === "padded") return layoutOf({ kind: "Padded", by: integerOf(known[2]) });
  if (known) return layoutOf({ kind: "XorRows", width: integerOf(known[2]) });
  return /^(32|64|128)B$/.test(text) ? swizzleOfBytes(Number(text.slice(0, -1)), size) : cuteLayout(text);
};

/** The tile's shape: that of a text such as 64x64, or that of the layout. */
const tileShapeOf = (layout, text) => {
  if (text !== null) {
    if (!/^[1-9]\d{0,5}x[1-9]\d{0,5}$/.test(text)) {
      throw layoutError(`${quotedText(text)} is not a tile; write ROWSxCOLUMNS, such as 64x64`);
    }
    return text.split("x").map(Number);
  }
  const { extents } = layout.kind === "Swizzle" && layout.layout ? layout.layout : layout;
  if (extents) return extents;
  throw layoutError(`${layout.text} holds tiles of any shape; say which, as in shape=(64, 64)`);
};

/** The access to a whole tile by "rows" or "columns", and the number of values a thread. */
const alongTile = (shape, way, vector, threads = 32) => {
  if (shape.length !== 2) {
    throw layoutError(`a tile has rows and columns, but its shape is ${valueText(shape)}`);
  }
  const rows = shape[0], columns = Math.floor(shape[1] / vector);
  if (columns * vector !== shape[1]) {
    throw layoutError(`rows of ${shape[1]} elements are not a whole number of vectors of ${vector}`);
  }
  const access = (thread, value) => {
    const number = value * threads + thread;
    if (number >= rows * columns) return null;
    const [length, isByRows] = way === "rows" ? [columns, true] : [rows, false];
    const [line, at] = [Math.floor(number / length), number % length];
    return isByRows ? [line, at * vector] : [at, line * vector];
  };
  return [access, Math.ceil((rows * columns) / threads)];
};

/** The question about an access: "rows", "columns" or a thread-value layout of CuTe. */
const tileQuestionOf = (kind, way, shape, size, given) => {
  const vector = MATRIX_KINDS.includes(kind) ? Math.floor(MATRIX_BYTES / size) : given;
  if (way === "rows" || way === "columns") {
    const [access, values] = alongTile(shape, way, vector);
    return tileQuestion(access, shape, { size, vector, kind, values });
  }
  const layout = cuteLayout(way);
  if (layout.kind !== "Strided") throw layoutError(`${quotedText(way)} is not a layout of threads and values`);
  return tileQuestion(layout, shape, { size, vector, kind });
};

/** The result of a search, a padding or swizzles, and the lines that say it. */
/** @type {(what: string, layout: any, questions: any[], vector: number) => [any, string[]]} */
const tileSearch = (what, layout, questions, vector) => {
  if (what === "padding") {
    if (layout.kind !== "RAW") throw layoutError("a padding is searched for plain rows; leave out the layout");
    const by = searchPadding(questions, vector);
    return [by, [by === null ? "no padding frees them" : `padding each row by ${by} frees them`]];
  }
  if (layout.kind !== "RAW" && layout.kind !== "Strided") {
    throw layoutError("swizzles are searched for a layout that isn't swizzled; give its strides");
  }
  const found = searchSwizzles(questions, layout.kind === "RAW" ? null : layout).map((one) => layoutOf(one).text);
  const more = found.length > MOST_SWIZZLES ? `, of which ${MOST_SWIZZLES} are shown` : "";
  const many = found.length === 1 ? "1 swizzle frees them" : `${found.length} swizzles free them`;
  return [found, [...found.slice(0, MOST_SWIZZLES), `${many}${more}`]];
};

/** A line for each bank with several words in one request. */
const collisionLines = (answer) => answer.collisions.map(({ value, phase, bank, words }) => {
  const wants = words.map(([word, threads]) =>
    `word ${word} by thread${threads.length > 1 ? "s" : ""} ${threads.join(", ")}`);
  return `value ${value}, phase ${phase}, bank ${bank}: ${wants.join(", ")}`;
});

/** An answer as plain data. */
const plainAnswer = (way, answer) => {
  const { kind, bytes, phases, stages, least, free } = answer;
  const collisions = answer.collisions.map((one) => ({ ...one, words: Object.fromEntries(one.words) }));
  return { access: way, kind, bytes, requests: answer.requests.length, phases, stages, least, free, collisions };
};

/**
 * What `mmsim conflicts` answers: {lines, free, data}. `lines` are the printed texts, `free` says that all accesses are
 * free of conflicts, or that the search found something, and `data` is the answer that it saves as JSON.
 *
 * The texts are those of its options: `layout`, `tile` ("64x64", or null), `type`; `vector` is a number; `accesses` is
 * a list of [kind, way], as ["read", "columns"]; `search` is "padding", "swizzles" or null; `collisions` asks for their
 * lines.
 */
export const tileAnswer = (asked) => {
  const { layout: text = "RAW", tile = null, type = "float", vector = 1, search = null } = asked;
  const size = bytesOfType(type), layout = tileLayoutOf(text, size), shape = tileShapeOf(layout, tile);
  const accesses = asked.accesses?.length ? asked.accesses : [["read", "rows"], ["read", "columns"]];
  const inOrder = TILE_KINDS.flatMap((kind) => accesses.filter(([own]) => own === kind));
  const questions = inOrder.map(([kind, way]) => tileQuestionOf(kind, way, shape, size, vector));
  const about = { shape, type, vector };
  if (search !== null) {
    const [found, lines] = tileSearch(search, layout, questions, vector);
    return { lines, free: found !== null && found.length !== 0, data: { ...about, search, found } };
  }
  const answers = questions.map((question) => question.ask(layout)), free = answers.every((answer) => answer.free);
  const lines = answers.flatMap((answer, at) => [
    `${inOrder[at].join(" ")}: ${answer.text}`, ...(asked.collisions ? collisionLines(answer) : []),
  ]);
  const plain = answers.map((answer, at) => plainAnswer(inOrder[at][1], answer));
  return { lines, free, data: { layout: text, ...about, free, accesses: plain } };
};
