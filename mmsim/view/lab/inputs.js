/* A laboratory's setup: what one changes. And the setting of the engine that it stands for.

   setup = {text, program, sizes: {n: 8}, machine: {kind, width, latency | dmms, global_latency, shared_latency},
   schedule, launch: {threads, block_size} | {grid, block}, arguments: [array | number], view}.

   Sizes are texts, as "n * n": `sizeOf` gives their values. An array is {name, kind, shape, dtype, ...}, where
   `kind` is one of INPUTS, and `layout` one of LAYOUTS; a number is {name, value}. */

const INPUTS = {
  range: { name: "0, 1, 2, …", python: (size) => `np.arange(${size})` },
  reversed: { name: "…, 2, 1, 0", python: (size) => `np.arange(${size})[::-1]` },
  zeros: { name: "zeros", python: (size) => `np.zeros(${size}, int)` },
  ones: { name: "ones", python: (size) => `np.ones(${size}, int)` },
  permutation: { name: "permutation", fields: ["seed"], python: (size, { seed = 0 }) => `np.random.RandomState(${seed}).permutation(${size})` },
  random: {
    name: "random", fields: ["low", "high", "seed"],
    python(size, { low = 0, high, seed = 0, dtype }) {
      const draws = `np.random.RandomState(${seed})`;
      const most = high ?? (isWholeType(dtype) ? 10 : 1);
      if (isWholeType(dtype)) return `${draws}.randint(${low}, ${most}, ${size})`;
      return Number(low) === 0 && Number(most) === 1 ? `${draws}.random_sample(${size})` : `${low} + (${most} - ${low}) * ${draws}.random_sample(${size})`;
    },
  },
  values: { name: "values", fields: ["values"] },
};

const DTYPES = [
  "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "float64", "float32", "float16", "complex128",
  "complex64", "bool",
];

/* The layouts: their names, and their parameters with what these are at first. */
const LAYOUTS = {
  RAW: { name: "row by row", parameters: {} },
  Padded: { name: "padded", parameters: { by: "1" } },
  Swizzle: { name: "swizzle", parameters: { bits: "2", base: "0", shift: "2" } },
  XorRows: { name: "xor", parameters: { width: "w", vector: "1" } },
  Diagonal: { name: "diagonal", parameters: { width: "w" } },
  RAP: { name: "RAP", parameters: { width: "w", seed: "0" } },
  RAS: { name: "RAS", parameters: { width: "w", seed: "0" } },
};

/* The machines: their parameters, with the letter that formulas have for them, and what they are at first. */
const MACHINES = {
  DMM: { parameters: { width: "w", latency: "l" } },
  UMM: { parameters: { width: "w", latency: "l" } },
  HMM: { parameters: { dmms: "d", width: "w", global_latency: "L", shared_latency: "l" } },
};
const AT_FIRST = { dmms: 2, width: 4, latency: 3, global_latency: 10, shared_latency: 1 };

function isWholeType(dtype = "int64") {
  return /^(u?int|bool)/.test(dtype);
}

/** A wrong field of a setup: its name, as "arguments.a.shape", and what is wrong. */
class WrongField extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** What names have as values in the sizes of a setup: its sizes and the machine's parameters. */
function valuesOf({ sizes, machine }) {
  const own = Object.entries(MACHINES[machine.kind].parameters).map(([name, letter]) => [letter, machine[name]]);
  return { ...sizes, ...Object.fromEntries(own) };
}

/** All texts of sizes in a setup, each with its field. */
function sizeTexts({ launch, arguments: all }) {
  return [
    ...Object.entries(launch).filter(([, text]) => text).map(([name, text]) => [`launch.${name}`, text]),
    ...all.flatMap((one) => (one.kind === undefined
      ? [[`arguments.${one.name}.value`, plainNumber(one.value) === null ? one.value : ""]]
      : [
        [`arguments.${one.name}.shape`, one.shape],
        ...Object.entries(one.layout ?? {}).filter(([name]) => name !== "kind" && name !== "offsets").map(([name, text]) => [`arguments.${one.name}.${name}`, String(text)]),
      ])),
  ].filter(([, text]) => text !== "");
}

/** The names of the sizes that a setup has a use for, in order. */
function usedSizes(setup) {
  const letters = Object.values(MACHINES[setup.machine.kind].parameters);
  const names = sizeTexts(setup).flatMap(([, text]) => shapeParts(text).flatMap(sizeNames));
  const known = Object.keys(setup.sizes);
  const place = (name) => (known.includes(name) ? known.indexOf(name) : known.length);
  return [...new Set(names)].filter((name) => !letters.includes(name)).sort((one, other) => place(one) - place(other));
}

/** A number as Python writes it, encoded for the engine; null for any other text. */
function plainNumber(text, dtype) {
  const own = String(text).trim();
  if (own === "True" || own === "False") return own === "True";
  const complex = /^\(?([-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf)?(?:([-+]?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf))j)\)?$/i.exec(own);
  if (complex) return { complex: [floatOf(complex[1] ?? "0"), floatOf(complex[2])] };
  if (/^[-+]?\d+$/.test(own)) {
    if (dtype && !isWholeType(dtype)) return inType(Number(own), dtype);
    const value = Number(own);
    return Number.isSafeInteger(value) ? value : { int: String(BigInt(own)) };
  }
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(own) || /^[-+]?(nan|inf)$/i.test(own)) {
    const value = floatOf(own);
    return dtype?.startsWith("complex") ? { complex: [value, 0] } : { float: value };
  }
  return null;
}

/** A float: JSON has no nan and no inf, which stay texts. */
function floatOf(text) {
  const named = /^([-+]?)(nan|inf)$/i.exec(text);
  if (named) return named[2].toLowerCase() === "nan" ? "nan" : `${named[1] === "-" ? "-" : ""}inf`;
  return Number(text);
}

/** A number in an array of a type, encoded for the engine. */
function inType(value, dtype) {
  if (dtype === "bool") return Boolean(value);
  const bits = Number(/\d+$/.exec(dtype)[0]);
  if (dtype.startsWith("complex")) return { complex: [value, 0] };
  if (dtype.startsWith("float")) return { float: bits === 32 ? Math.fround(value) : value };
  if (bits === 64) return dtype.startsWith("u") && value < 0 ? { int: String(BigInt.asUintN(64, BigInt(value))) } : value;
  const moved = value << (32 - bits);
  return dtype.startsWith("u") ? moved >>> (32 - bits) : moved >> (32 - bits);
}

/** A number from 0 to 1, as `random_sample` of NumPy draws it. */
function randomFloat(draws) {
  const [high, low] = [draws.next() >>> 5, draws.next() >>> 6];
  return (high * 67108864 + low) / 9007199254740992;
}

/** The numbers of an array of `size` elements, encoded. */
function numbersOf(input, size) {
  const { kind, dtype = "int64", name } = input;
  const wrong = (field, message) => new WrongField(`arguments.${name}.${field}`, message);
  const whole = (field, otherwise) => {
    const value = Number(input[field] ?? otherwise);
    if (String(input[field] ?? otherwise).trim() === "" || !Number.isFinite(value)) throw wrong(field, `${field} is not a number`);
    return value;
  };
  const seed = () => {
    const value = whole("seed", 0);
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) throw wrong("seed", "a seed is a whole number from 0 to 2**32 - 1");
    return new FrozenRandom(value);
  };
  const fill = (of) => Array.from({ length: size }, (_, i) => inType(of(i), dtype));
  switch (kind) {
    case "range": return fill((i) => i);
    case "reversed": return fill((i) => size - 1 - i);
    case "zeros": return fill(() => 0);
    case "ones": return fill(() => 1);
    case "permutation": {
      const drawn = seed().permutation(size);
      return fill((i) => drawn[i]);
    }
    case "random": {
      const isWhole = isWholeType(dtype);
      const [low, high, draws] = [whole("low", 0), whole("high", isWhole ? 10 : 1), seed()];
      if (!(low < high)) throw wrong("high", `random numbers from ${low} to below ${high}: there are none`);
      if (isWhole && !(Number.isInteger(low) && Number.isInteger(high))) throw wrong("high", `random numbers of ${dtype} need whole bounds`);
      if (isWhole) return fill(() => low + draws.upTo(high - 1 - low));
      return fill(() => (low === 0 && high === 1 ? randomFloat(draws) : low + (high - low) * randomFloat(draws)));
    }
    default: {
      const words = String(input.values ?? "").split(/[\s,]+/).filter((word) => word);
      if (words.length === 0) throw wrong("values", "there are no values; write numbers with spaces between them");
      const numbers = words.map((word) => {
        const number = plainNumber(word, dtype);
        if (number === null) throw wrong("values", `“${word}” is not a number`);
        if (isWholeType(dtype) && typeof number === "object" && !number.int) throw wrong("values", `“${word}” is not a number of ${dtype}`);
        return typeof number === "number" ? inType(number, dtype) : number;
      });
      return Array.from({ length: size }, (_, i) => numbers[i % numbers.length]);
    }
  }
}

/** Do something for a field; an error there is the field's. */
function inField(field, act) {
  try {
    return act();
  } catch (error) {
    throw error instanceof WrongField ? error : new WrongField(field, error.message);
  }
}

/** An argument of the engine. */
function argumentOf(input, values) {
  const { name, kind, dtype = "int64" } = input;
  if (kind === undefined) {
    const number = plainNumber(input.value);
    const value = number ?? inField(`arguments.${name}.value`, () => sizeOf(input.value, values));
    return { name, value, dtype: input.dtype ?? null };
  }
  const shape = inField(`arguments.${name}.shape`, () => shapeOf(input.shape, values));
  const size = shape.reduce((product, extent) => product * extent, 1);
  if (size > 2 ** 22) throw new WrongField(`arguments.${name}.shape`, `${name} has ${size} elements; the laboratory takes at most ${2 ** 22}`);
  return { name, dtype, shape, data: numbersOf(input, size), layout: layoutOf(input, values), offsets: input.layout?.offsets ?? null };
}

/** A layout of the engine; null for row-major order. */
function layoutOf({ name, layout }, values) {
  if (!layout || layout.kind === "RAW" || layout.offsets) return null;
  const parameters = Object.entries(LAYOUTS[layout.kind].parameters).map(([one, first]) => (
    [one, inField(`arguments.${name}.${one}`, () => sizeOf(String(layout[one] ?? first), values))]));
  const more = { RAP: { shifts: null }, RAS: { shifts: null }, Swizzle: { layout: null } }[layout.kind];
  return { kind: layout.kind, ...Object.fromEntries(parameters), ...more };
}

/** The machine of the engine. */
function machineOf({ machine }) {
  const { parameters } = MACHINES[machine.kind];
  const own = Object.keys(parameters).map((name) => {
    const value = Number(machine[name]);
    if (!Number.isInteger(value) || value < 1) throw new WrongField(`machine.${name}`, `${name.replace("_", " ")} is a whole number of at least 1`);
    return [name, value];
  });
  return { kind: machine.kind, ...Object.fromEntries(own) };
}

/** Threads and blocks of the engine. */
function launchOf({ launch }, values) {
  if ("grid" in launch) {
    const [grid, block] = ["grid", "block"].map((name) => {
      const extents = inField(`launch.${name}`, () => shapeOf(launch[name], values));
      if (extents.length > 3 || extents.some((extent) => extent < 1)) throw new WrongField(`launch.${name}`, "give one to three extents, each at least 1");
      return [...extents, 1, 1].slice(0, 3);
    });
    const count = (extents) => extents.reduce((product, extent) => product * extent, 1);
    return { threads: count(grid) * count(block), block_size: count(block), shape: { grid, block } };
  }
  const threads = inField("launch.threads", () => sizeOf(launch.threads, values));
  if (threads < 1) throw new WrongField("launch.threads", `${threads} threads; there is at least 1`);
  const size = launch.block_size ? inField("launch.block_size", () => sizeOf(launch.block_size, values)) : null;
  if (size !== null && (size < 1 || threads % size)) throw new WrongField("launch.block_size", `blocks of ${size} don't divide ${threads} threads`);
  return { threads, block_size: size, shape: null };
}

/** The setting of the engine for a program's code. Throws `WrongField`. */
function settingOf(setup, code) {
  const values = valuesOf(setup);
  return {
    code, name: code.name, machine: machineOf(setup), ...launchOf(setup, values), schedule: setup.schedule,
    arguments: setup.arguments.map((input) => argumentOf(input, values)),
  };
}

/** The arguments for a program's parameters: those that are there by name, a renamed one at its place, and new ones. */
function argumentsFor(parameters, before) {
  const like = before.find(({ kind }) => kind !== undefined);
  const names = parameters.map((one) => one.name);
  return parameters.map(({ name, use, default: given }, at) => {
    const fits = (one) => one && (use === "unused" || (one.kind === undefined) === (use === "number"));
    const own = before.find((one) => one.name === name);
    if (fits(own)) return own;
    if (fits(before[at]) && !names.includes(before[at].name)) return { ...before[at], name };
    if (use === "array") return { name, kind: "zeros", shape: like?.shape ?? "n", dtype: like?.dtype ?? "int64" };
    return { name, value: given === null || given === undefined ? "1" : writtenNumber(given) };
  });
}

/** An encoded number as text. */
function writtenNumber(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return String(value);
  if (value.int) return value.int;
  if (value.complex) return `(${value.complex[0]}+${value.complex[1]}j)`.replace("+-", "-");
  return Number.isInteger(value.float) ? value.float.toFixed(1) : String(value.float);
}
