import { TABLES } from "./table.js";

/** The place of operations outside of any text. They always have a value. */
export const NOWHERE = Object.freeze({
  node: "Place", function: "T", file: "", line: 0, column: 0, end_column: 0, text: "",
});

/** The fields of a node that hold parts of a kind: "Expr", "Block", "Target". */
const fieldsOf = (node, part) => TABLES.nodes[node.node][part] ?? [];

/** Whether a node belongs to a class of nodes, as "Access" or "Setting". */
export const isOf = (node, name) => TABLES.classes[name].includes(node.node);

/** The contents of the fields of a kind, in their order. */
const partsIn = (node, part) => {
  const names = fieldsOf(node, part);
  if (names.length === 1 && Array.isArray(node[names[0]])) return node[names[0]];
  const found = [];
  for (const name of names) {
    const held = node[name];
    if (Array.isArray(held)) found.push(...held);
    else if (held !== null && held !== undefined) found.push(held);
  }
  return found;
};

/** The blocks inside a statement, in the order of the text. */
export const blocksOf = (statement) => fieldsOf(statement, "Block").map((name) => statement[name]);

/** The variables that a statement itself sets. */
export const targetsOf = (statement) => partsIn(statement, "Target");

/** The expressions that a node itself evaluates, without those inside them. */
export const expressionsOf = (node) => partsIn(node, "Expr");

/** A node with other fields; itself if these are what it has. */
const replaced = (node, changes) => {
  for (const [name, changed] of changes) {
    const old = node[name];
    const several = Array.isArray(old) && old.length === changed.length;
    const isSame = several ? old.every((one, k) => one === changed[k]) : old === changed;
    if (!isSame) return { ...node, ...Object.fromEntries(changes) };
  }
  return node;
};

/** A node with changed contents of the fields of a kind. */
const withParts = (node, part, change) => {
  const changes = [];
  for (const name of fieldsOf(node, part)) {
    const held = node[name];
    if (Array.isArray(held)) changes.push([name, held.map((one) => change(one))]);
    else if (held !== null && held !== undefined) changes.push([name, change(held)]);
  }
  return replaced(node, changes);
};

/** A statement with other blocks inside, changed in the order of the text. */
export const withBlocks = (statement, change) =>
  replaced(statement, fieldsOf(statement, "Block").map((name) => [name, change(statement[name])]));

/** A node with changed expressions; the statements inside it stay. */
export const withExpressions = (node, change) => withParts(node, "Expr", change);

/** A statement that sets other variables. */
export const withTargets = (statement, change) => withParts(statement, "Target", change);

/** The values that a statement brings to an array. */
export const storedOf = (statement) =>
  isOf(statement, "Access") || statement.node === "RegisterWrite"
    ? expressionsOf(statement).slice(statement.index.length)
    : [];

/** A program with numbered statements, and separately numbered accesses. */
export const numberedBody = (body) => {
  let numbers = 0, sites = 0;
  const block = (old) => old.map((statement) => {
    const number = numbers++;
    const whole = withBlocks(statement, block);
    return isOf(whole, "Access") ? { ...whole, number, site: sites++ } : { ...whole, number };
  });
  return block(body);
};

/** All statements of a block and of the blocks inside, in the order of the text. */
export const statementsOf = (block, found = []) => {
  for (const statement of block) {
    found.push(statement);
    for (const inner of blocksOf(statement)) statementsOf(inner, found);
  }
  return found;
};

/** All memory accesses of a block, in the order of the text. */
export const accessesOf = (block) => statementsOf(block).filter((one) => isOf(one, "Access"));

/**
 * Whether a statement of a block does more than local work: it accesses memory, waits at a barrier, exchanges values,
 * or ends the program with an error.
 */
export const hasEffect = (block) => statementsOf(block).some((one) =>
  isOf(one, "Access") || one.node === "Barrier" || one.node === "Exchange"
  || (one.node === "Return" && one.message !== null));

/** The arrays that a block's statements may change. */
export const writtenArrays = (block) => {
  const writes = accessesOf(block).filter(({ node }) => node !== "Load" && node !== "VectorLoad");
  return new Set(writes.map((one) => one.array));
};

/** An expression and all expressions inside. */
export const partsOf = (value, found = []) => {
  found.push(value);
  for (const operand of expressionsOf(value)) partsOf(operand, found);
  return found;
};

/** The expressions of a block's statements and of those inside, with all expressions inside. */
export const allParts = (block) =>
  statementsOf(block).flatMap((one) => expressionsOf(one)).flatMap((value) => partsOf(value));

/** Remember a function's result for each node; the key of a node is its identity, not its parts. */
export const memoOf = (find) => {
  const found = new Map();
  return (node) => {
    let result = found.get(node);
    if (result === undefined) found.set(node, (result = find(node)));
    return result;
  };
};

/** The number and the extents from which an index of CUDA's is computed. */
const NUMBERS_OF = { threadIdx: ["index", "blockDim"], blockIdx: ["block", "gridDim"] };
const SIDES = ["x", "y", "z"];

/**
 * A program with numbers instead of CUDA's indices. `block` and `grid` say along which of x, y and z there is more than
 * one place. Thread (x, y, z) of a block of (X, Y, Z) has the index x + X (y + Y z).
 */
export const withoutIndices = (body, block, grid) => {
  const sides = { threadIdx: block, blockIdx: grid }, made = {};
  const field = (name) => ({ node: "ThreadField", field: name });
  const binary = (op, left, right) => ({ node: "Binary", op, left, right, place: NOWHERE });
  const index = (name, axis) => {
    const [number, extents] = NUMBERS_OF[name], own = sides[name];
    if (!own[axis]) return { node: "Const", value: 0 };
    /** @type {import("./scope.js").ProgramNode} */
    let value = field(number);
    for (let before = 0; before < axis; before += 1) {
      if (own[before]) value = binary("//", value, field(`${extents}.${SIDES[before]}`));
    }
    return own.slice(axis + 1).some(Boolean) ? binary("%", value, field(`${extents}.${SIDES[axis]}`)) : value;
  };
  const of = memoOf((value) => {
    if (value.node !== "ThreadField") return withExpressions(value, of);
    const [name, axis] = value.field.split(".");
    return name in NUMBERS_OF ? (made[value.field] ??= index(name, SIDES.indexOf(axis))) : value;
  });
  const changed = (old) => old.map((one) => withBlocks(withExpressions(one, of), changed));
  return changed(body);
};
