import { TABLES, rowOf } from "./table.js";
import { holdsAll, isInt, isWhole, kindOf, noIndex } from "./dtypes.js";
import { LOWERED_RULES, eachOf, typeOfExpression, typingOf } from "./types.js";
import { NOWHERE, expressionsOf, isOf, memoOf, numberedBody, targetsOf } from "./walk.js";
import { withBlocks, withExpressions, withTargets } from "./walk.js";

/*
 * Lowering: from a typed program to one in which all that Python leaves implicit is a node. What a node of the lowered
 * form means follows from its operator and the types of its parts alone.
 */

/** Whether a node is the check of an operand. */
export const isCheck = (value) => value.node === "Unary" && rowOf(value).kind === "check";

/** A number of an index as the program has it: a negative one may count from the end. */
export const asWritten = (index) => (index.node === "Binary" && rowOf(index).kind === "index" ? index.left : index);

/** Whether a number is known to be positive, whatever the arguments are. */
const isPositive = (value) => {
  if (value.node === "ThreadField") return TABLES.fields.uniform.includes(value.field);
  if (value.node !== "Const") return false;
  const number = value.value;
  if (typeof number === "object") return number.float === "inf" || Number(number.int ?? number.float) > 0;
  return number > 0;
};

/** An encoded number as a type has it, which can hold it. */
const encodedAs = (number, type) => {
  const parts = number.complex ?? [number.float ?? number.int ?? number];
  if (kindOf(type) === "b") return number;
  if (isInt(type)) return typeof number === "boolean" ? Number(number) : number;
  const floats = parts.map((part) => (Number.isFinite(Number(part)) ? Number(part) : part));
  return kindOf(type) === "f" ? { float: floats[0] } : { complex: [floats[0], floats[1] ?? 0] };
};

/** A lowered program of its code, the types of its names, and that of each node. */
const loweredWith = (code, types, of) => {
  const withBody = (body) => loweredWith({ ...code, body }, types, of);
  return { code, ...types, of, withBody };
};

/** Lower a program of known types, node by node. */
const lowered = (code, typing) => {
  const { operation } = typing, known = LOWERED_RULES.element;
  const weak = (names) => eachOf(names, ({ type }) => known(type));
  const types = { variables: weak(typing.variables), arrays: weak(typing.arrays), numbers: weak(typing.numbers) };
  const { variables } = types;
  const find = memoOf((value) => typeOfExpression(value, types, find, LOWERED_RULES));
  const of = (value) => find(value).type;
  const unary = (op, operand, place = NOWHERE) => ({ node: "Unary", op, operand, place });
  let adds = false; // statements, which need numbers

  // Expressions

  /** A value before a conversion: those of float16 go by float32, except from wider floats. */
  const bySingle = (value, wanted) => {
    const held = of(value), both = [held, wanted];
    if (!both.includes("float16") || both.includes("float32")) return value;
    return kindOf(held) === "f" && wanted === "float16" ? value : unary("float32", value);
  };

  /** A lowered expression converted to a type that can hold it, if it has another one. */
  const convert = (value, wanted) => (of(value) === wanted ? value : unary(wanted, bySingle(value, wanted)));

  /** An expression converted to a type. */
  const into = (old, wanted) => convert(value(old), wanted);

  /** The truth value of an expression. */
  const truth = memoOf((old) => {
    if (old.node === "Logic") return { ...old, left: truth(old.left), right: truth(old.right) };
    return into(old, "bool");
  });

  /** The numbers of an index as 64-bit integers; with `extents` negative ones count from the end. */
  const whole = (index, extents = null, place = NOWHERE) => {
    const fault = noIndex(index.map((one) => typing.of(one))); // an error if a thread gets there
    if (fault !== null) return index.map((one) => value(one));
    return index.map((one, axis) => {
      const at = into(one, "int64");
      if (extents === null || kindOf(typing.of(one)) !== "i") return at;
      return { node: "Binary", op: "from end", left: at, right: extents[axis], place };
    });
  };

  const lowerUnary = (old) => {
    const how = operation(old), row = rowOf(old);
    if (row.gives === "bool") {
      const test = truth(old.operand);
      return old.op === "bool" ? test : { ...old, operand: test };
    }
    if (row.gives !== null) {
      const inner = value(old.operand), wanted = how.result.type;
      if (of(inner) === wanted) return inner;
      return unary(row.gives === wanted ? old.op : wanted, bySingle(inner, wanted), old.place);
    }
    const [type] = how.operands, inner = into(old.operand, type);
    if (row.kind === "same" || (row.kind === "absolute" && kindOf(type) === "u")) return inner;
    return unary(type === "bool" ? "not" : old.op, inner, old.place);
  };

  /** An operation in one type, on a right operand that is checked unless all pass. */
  const lowerBinary = (old) => {
    const how = operation(old), row = rowOf(old), { op, place } = old;
    const type = how.result.type === "float16" ? "float32" : how.result.type;
    const left = into(old.left, type), right = into(old.right, type);
    const binary = (name, checked) => ({ node: "Binary", op: name, left, right: checked, place });
    if (!row.refused || (how.ieee && !isWhole(type))) return binary(op, right);
    if (row.kind === "power" && !isWhole(type)) return binary(`finite ${op}`, right);
    const isPassed = kindOf(type) === "u" && TABLES.operations.Unary[row.refused].sign === "< 0";
    return binary(op, isPassed || isPositive(old.right) ? right : unary(row.refused, right, place));
  };

  /** An expression in its own type, or that in which it is computed. */
  const computed = (old) => {
    switch (old.node) {
      case "Unary": return lowerUnary(old);
      case "Binary": return lowerBinary(old);
      case "Compare": case "Call": {
        const wanted = operation(old).operands.values();
        return withExpressions(old, (one) => into(one, wanted.next().value));
      }
      case "Logic": {
        const own = typing.of(old);
        return withExpressions(old, (one) => into(one, own));
      }
      case "Choose": {
        const own = typing.of(old);
        return { node: "Choose", test: truth(old.test), then: into(old.then, own), other: into(old.other, own) };
      }
      case "RegisterRead": return { ...old, index: whole(old.index) };
      case "Lookup": {
        const own = typing.of(old), extents = old.shape.map((extent) => ({ node: "Const", value: extent }));
        const values = old.values.map((one) => encodedAs(one, own));
        return { ...old, values, index: whole(old.index, extents, old.place) };
      }
      default: return withExpressions(old, value);
    }
  };

  /** An expression in its own type. */
  const value = memoOf((old) => {
    const found = computed(old);
    return isOf(old, "Operating") && typing.of(old) === "float16" ? convert(found, "float16") : found;
  });

  // Statements

  /** A value as an array holds it; a store itself checks integers that may not fit. */
  const stored = (array, old) => {
    const held = types.arrays[array].type, found = value(old), own = of(found);
    return isInt(held) && isInt(own) && !holdsAll(held, own) ? found : convert(found, held);
  };

  /** An access whose index is whole, and whose values have the type of the array. */
  const access = (statement) => {
    const { array, index } = statement;
    const brought = expressionsOf(statement).slice(index.length).map((one) => stored(array, one));
    const values = [...whole(index), ...brought].values();
    return withExpressions(statement, () => values.next().value);
  };

  /** A statement with lowered expressions. */
  const withOperands = (statement) => {
    switch (statement.node) {
      case "Assign": return { ...statement, value: into(statement.value, variables[statement.target].type) };
      case "If": case "While": case "Barrier": return withExpressions(statement, truth);
      case "For": return withExpressions(statement, (one) => into(one, "int64"));
      case "Exchange": { // shuffles take a lane or a distance, votes take tests, matches any value
        const { op, operands } = statement;
        if (["ballot", "any", "all"].includes(op)) return withExpressions(statement, truth);
        return { ...statement, operands: operands.map((one, k) => (k ? into(one, "int64") : value(one))) };
      }
      default: {
        const isIndexed = isOf(statement, "Access") || statement.node === "RegisterWrite";
        return isIndexed ? access(statement) : withExpressions(statement, value);
      }
    }
  };

  /** A new variable of a type. */
  const fresh = (name, type) => {
    let k = 1;
    while ([variables, types.arrays, types.numbers].some((taken) => `${name}_as_read_${k}` in taken)) k += 1;
    variables[`${name}_as_read_${k}`] = known(type);
    return `${name}_as_read_${k}`;
  };

  /** A statement and the conversions of its results, which follow it. */
  const lowerStatement = (old) => {
    const statement = withBlocks(withOperands(old), lowerBlock);
    if (old.node === "Assign" || !isOf(old, "Setting")) return [statement];
    const given = targetsOf(old).length ? typing.settingType(old).type : null;
    const own = new Map();
    for (const name of targetsOf(old)) {
      if (variables[name].type !== given && !own.has(name)) own.set(name, fresh(name, given));
    }
    if (own.size === 0) return [statement];
    adds = true;
    const more = [...own].map(([name, read]) => {
      const converted = convert({ node: "Var", name: read, place: NOWHERE }, variables[name].type);
      return { node: "Assign", number: -1, target: name, value: converted, place: NOWHERE };
    });
    const set = withTargets(statement, (name) => own.get(name) ?? name);
    return old.node === "For" ? [{ ...set, body: [...more, ...set.body] }] : [set, ...more];
  };

  const lowerBlock = (block) => block.flatMap(lowerStatement);

  const locals = code.locals.map((one) => ({ ...one, shape: one.shape.map((extent) => value(extent)) }));
  const body = lowerBlock(code.body);
  const names = Object.entries(types).map(([kind, held]) => [kind, eachOf(held, ({ type }) => type)]);
  return loweredWith({ ...code, locals, body: adds ? numberedBody(body) : body }, Object.fromEntries(names), of);
};

/**
 * The lowered form of a program: {code, variables, arrays, numbers, of(node), withBody(body)}, with the names of
 * NumPy's types. `arrayTypes` and `numberTypes` map the names of parameters to them. Throws an MMSimFault for a fault
 * of types.
 */
export const loweredOf = (code, arrayTypes, numberTypes) =>
  lowered(code, typingOf(code, arrayTypes, numberTypes));
