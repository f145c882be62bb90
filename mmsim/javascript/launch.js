import { MMSimFault, quotedText } from "./faults.js";
import { kindOf, typeOfNumber } from "./dtypes.js";
import { launchError, makeGrid, productOf, requireWhole } from "./grid.js";
import { loweredOf } from "./lower.js";
import { offsetsOf } from "./layouts.js";
import { makeMachine } from "./machines.js";
import { meaningOf } from "./meaning.js";
import { layOut } from "./memory.js";
import { programsOf } from "./module.js";
import { decodedNumber, textOf, toHalf } from "./numbers.js";
import { registersOf } from "./registers.js";
import { TABLES } from "./table.js";
import { withoutIndices, writtenArrays } from "./walk.js";

/** The most accesses and iterations of a sequencer, unless a setting gives another number. */
const MOST_ACCESSES = 100_000;
const HELD_TYPES = "bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128";

/** The most threads, and the most words of all arrays, for which a page has the memory. */
const MOST_HERE = 2 ** 24;

/** Refuse what a page has no memory for. */
const refuseLarge = (count, what) => {
  if (count <= MOST_HERE) return;
  const many = `${count.toLocaleString("en-US")} ${what}`;
  throw new MMSimFault("RoomError", `${many} are more than a page has memory for; take at most ${MOST_HERE}`);
};

/** The words of an array argument, rounded to its type. */
const wordsOf = (data, dtype) => {
  const words = data.map(decodedNumber);
  if (dtype === "float32") return words.map(Math.fround);
  return dtype === "float16" ? words.map(toHalf) : words;
};

/** An argument that isn't an array, or has no shape that fits, in a message. */
const describedArgument = (argument) => {
  if (argument.shape !== undefined) {
    const { shape } = argument;
    return `an array of shape (${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
  }
  const type = typeOfNumber(argument.value);
  return type === "complex128" ? "a complex" : textOf(decodedNumber(argument.value), type);
};

/** The word offsets of an argument's elements, null without a layout, and its words; an argument may have `offsets`. */
const placeOfArgument = ({ layout, offsets, shape }, size) => {
  if (offsets) return { offsets, words: offsets.reduce((most, offset) => Math.max(most, offset + 1), 0) };
  return layout ? offsetsOf(layout, shape) : { offsets: null, words: size };
};

/** An array argument, checked: {name, shape, dtype, data, offsets, written, words}. */
const arrayArgument = (code, parameter, argument, written) => {
  const { name, place } = parameter;
  const where = `argument ${quotedText(name)} of program ${quotedText(code.name)}`;
  const refuse = (why) => {
    throw launchError(`${where} ${why} (line ${place.line} of ${place.file})`);
  };
  if (parameter.use === "number") refuse(`must be a number, not ${describedArgument(argument)}`);
  if (argument.shape === undefined) refuse(`must be an array, not ${describedArgument(argument)}`);
  const { shape, dtype } = argument;
  if (shape.length === 0) refuse("must have at least one dimension");
  if (!(dtype in TABLES.types)) refuse(`holds ${dtype}; arrays hold ${HELD_TYPES}: convert it with astype`);
  const data = wordsOf(argument.data, dtype);
  if (data.length !== productOf(shape)) refuse(`has ${data.length} elements, but its shape ${productOf(shape)}`);
  return { name, shape, dtype, data, written, ...placeOfArgument(argument, data.length) };
};

/** The arguments by name: the arrays, and the numbers with their types. */
const checkedArguments = (code, given) => {
  const written = writtenArrays(code.body);
  const parameters = [];
  const numbers = {};
  const types = {};
  const named = new Map(given.map((argument) => [argument.name, argument]));
  for (const parameter of code.parameters) {
    const { name } = parameter;
    let argument = named.get(name);
    if (argument === undefined) {
      if (parameter.default === null) {
        const signature = `${code.name}(${["T", ...code.parameters.map((one) => one.name)].join(", ")})`;
        throw launchError(`${signature} is missing argument ${quotedText(name)}`);
      }
      argument = { name, value: parameter.default };
    }
    if (argument.shape !== undefined || parameter.use === "array") {
      parameters.push(arrayArgument(code, parameter, argument, written.has(name)));
    } else {
      types[name] = typeOfNumber(argument.value);
      numbers[name] = decodedNumber(argument.value);
    }
  }
  for (const [name, value] of Object.entries(numbers)) {
    if (kindOf(types[name]) !== "i" && kindOf(types[name]) !== "u") continue;
    const exact = BigInt(value);
    if (exact < -(2n ** 63n) || exact >= 2n ** 64n) {
      throw launchError(`${name}=${exact} of program ${quotedText(code.name)} doesn't fit into 64 bits`);
    }
  }
  return { parameters, numbers, types };
};

/** A program bound to its arguments on a machine. Throws a LaunchError for an argument that doesn't fit. */
class Launch {
  constructor(setting, code) {
    const { schedule } = setting;
    if (schedule !== "synchronous" && schedule !== "asynchronous") {
      const shown = typeof schedule === "string" ? quotedText(schedule) : String(schedule);
      throw launchError(`schedule=${shown}, but schedule must be 'synchronous' or 'asynchronous'`);
    }
    this.machine = makeMachine(setting.machine);
    this.schedule = schedule;
    this.code = code;
    this.name = code.name;
    this.maxAccesses = setting.max_accesses ?? MOST_ACCESSES;
    requireWhole("max_accesses", this.maxAccesses);
    const { width, dmms } = this.machine;
    this.grid = makeGrid(setting.threads, setting.block_size ?? null, width, Math.max(dmms, 1), setting.shape ?? null);
    refuseLarge(this.grid.threads, "threads");
    const { parameters, numbers, types } = checkedArguments(code, setting.arguments);
    const dtypes = Object.fromEntries(parameters.map((one) => [one.name, one.dtype]));
    this.numbers = numbers;
    this.shapes = Object.fromEntries(parameters.map((one) => [one.name, one.shape]));
    this.layouts = Object.fromEntries(setting.arguments.map((one) => [one.name, one.layout]));
    this.parameters = parameters.map((one) => one.name);
    const lowered = loweredOf(code, dtypes, types);
    this.lowered = lowered.withBody(withoutIndices(lowered.code.body, ...this.grid.sides));
    this.meaning = meaningOf(this.lowered, this);
    const shared = code.locals
      .filter((local) => local.kind === "shared")
      .map(({ name }) => ({ name, shape: this.meaning.locals[name], dtype: lowered.arrays[name] }));
    refuseLarge(this.grid.blocks * shared.reduce((sum, { shape }) => sum + productOf(shape), 0), "shared words");
    this.arrays = layOut(this.machine, this.grid, parameters, shared);
    const placed = Object.values(this.arrays).filter((array) => array.offsets !== null);
    this.offsets = Object.fromEntries(placed.map((array) => [array.name, array.offsets]));
  }

  /** Whether a loop may repeat forever, so that changes of memory are counted. */
  get mayChange() {
    return this.meaning.maySpin;
  }

  /** The registers that a thread needs: {data, words}. */
  get registers() {
    const locals = Object.entries(this.meaning.locals);
    const sizes = Object.fromEntries(locals.map(([name, shape]) => [name, productOf(shape)]));
    return registersOf(withoutIndices(this.code.body, ...this.grid.sides), sizes);
  }

  /** Let all arrays hold their first contents again. */
  rewind() {
    for (const array of Object.values(this.arrays)) array.contents = null;
  }

  /** The state of a warp's lanes, or (null) of all threads; with `changes` the sequencer says if it spins. */
  frame(warp, changes) {
    const frame = this.meaning.frame(this.grid, warp);
    frame.changes = changes;
    frame.offsets = this.offsets;
    return frame;
  }
}

/** The code of a setting: given, or from its text. */
const codeOf = (setting) => {
  if (setting.code) return setting.code;
  const { programs } = programsOf(setting.text, setting.file ?? "program.py");
  const names = Object.keys(programs);
  const name = setting.name ?? names[0];
  if (!Object.hasOwn(programs, name)) {
    const known = names.length > 0 ? `there are ${names.join(", ")}` : "there is none";
    throw new MMSimFault("LaunchError", `the text has no program ${quotedText(String(name))}; ${known}`);
  }
  return programs[name];
};

/** The launch of a setting. */
export const makeLaunch = (setting) => new Launch(setting, codeOf(setting));
