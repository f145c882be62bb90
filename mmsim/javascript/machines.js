import { MMSimFault } from "./faults.js";
import { shownNumber } from "./grid.js";
import { Banks, Groups } from "./conflicts.js";

/** The largest width, latency or number of DMMs. */
const LARGEST_NUMBER = 2 ** 31 - 1;
/** A trace of a machine with more units names only the units that the run can reach. */
const MANY_UNITS = 1 << 12;

/** The kinds of machines, each with its numbers in the order of Python's class. */
const MACHINE_NUMBERS = {
  DMM: ["width", "latency"],
  UMM: ["width", "latency"],
  HMM: ["dmms", "width", "global_latency", "shared_latency"],
};

/** Refuse a number of a machine that isn't whole, or out of range. */
const checkMachineNumber = (kind, name, value) => {
  const fault = (message) => new MMSimFault("MachineError", message);
  if (!Number.isInteger(value)) {
    throw fault(`${name} of a ${kind} must be a whole number, not ${shownNumber(value)}`);
  }
  if (value < 1 || value > LARGEST_NUMBER) {
    const bound = value < 1 ? "at least 1" : `at most ${LARGEST_NUMBER}`;
    throw fault(`${name}=${BigInt(value)}, but the ${name} of a ${kind} must be ${bound}`);
  }
};

/**
 * A machine: its units, each {name, rule, latency, dmm, space}. `memory` is the unit in front of the array parameters;
 * an HMM has another unit for the shared memory of each of its `dmms` DMMs, whose number in `unit` follows.
 */
class MachineModel {
  constructor(given) {
    const names = MACHINE_NUMBERS[given.kind];
    if (!names) throw new MMSimFault("MachineError", `there is no machine ${given.kind}`);
    const numbers = { shared_latency: 1, ...given };
    for (const name of names) checkMachineNumber(given.kind, name, numbers[name]);
    this.kind = given.kind;
    this.repr = `${given.kind}(${names.map((name) => `${name}=${numbers[name]}`).join(", ")})`;
    this.width = numbers.width;
    const isHMM = given.kind === "HMM";
    this.dmms = isHMM ? numbers.dmms : 0;
    this.sharedLatency = numbers.shared_latency;
    this.memory = {
      name: isHMM ? "global" : "memory",
      rule: new (given.kind === "DMM" ? Banks : Groups)(this.width),
      latency: isHMM ? numbers.global_latency : numbers.latency,
      dmm: null,
      space: isHMM ? "global" : "memory",
    };
    this.sharedRule = isHMM ? new Banks(this.width) : null;
  }

  /** The unit of a number: 0 is the memory, 1 the shared memory of DMM 0. */
  unit(number) {
    if (number === 0) return this.memory;
    const dmm = number - 1;
    return { name: `shared[${dmm}]`, rule: this.sharedRule, latency: this.sharedLatency, dmm, space: "shared" };
  }

  /** The units that a trace names, for a launch of `blocks` blocks: idle ones too, unless there are thousands. */
  units(blocks) {
    const count = 1 + this.dmms;
    const named = count <= MANY_UNITS ? count : Math.min(count, 1 + blocks);
    return Array.from({ length: named }, (_, number) => this.unit(number));
  }

  /** The units that the blocks of a launch can reach. */
  reached(blocks) {
    return Array.from({ length: 1 + Math.min(this.dmms, blocks) }, (_, number) => this.unit(number));
  }
}

/** The machine of a setting: {kind, width, latency}, an HMM {kind, dmms, width, global_latency, shared_latency}. */
export const makeMachine = (given) => new MachineModel(given);
