/*
 * Names of arrays: renaming where a name stands for one array on all paths to a line, variables that say which array
 * it is where that depends on the run.
 */
import { encodedInteger } from "./objects.js";
import { FIRST_PART, aliasOf, assignNode, binaryNode, chooseNode, compareNode, constNode } from "./scope.js";
import { extentNode, fixedAxes, ifNode, sameNode, spanOf, spansOf, varNode, viewOf } from "./scope.js";

/** The statement of `make` for the part that the alias stands for. */
export function chosenPart(alias, make, place) {
  const { parts } = alias;
  let statement = make(parts.at(-1));
  for (let position = parts.length - 2; position >= 0; position -= 1) {
    const test = compareNode("==", alias.which, constNode(position), place);
    statement = ifNode(test, [make(parts[position])], [statement], place);
  }
  return statement;
}

/** One of several values, by the number `which`. */
function chosenValue(which, values, place) {
  let value = values.at(-1);
  for (let position = values.length - 2; position >= 0; position -= 1) {
    const test = compareNode("==", which, constNode(position), place);
    value = chooseNode(test, values[position], value);
  }
  return value;
}

/** An extent of an alias, if it has `rank` axes. */
export function aliasExtent(alias, axis, rank, place) {
  const extent = (part) => {
    const spans = spansOf(part);
    if (axis >= 0 && axis < spans.length) return spans[Number(axis)].count;
    const fixed = fixedAxes(part);
    const own = encodedInteger(BigInt(axis) + BigInt(axis < 0 ? 0 : fixed));
    return extentNode(part.array, own, rank === null ? null : rank + fixed, place);
  };
  return chosenValue(alias.which, alias.parts.map(extent), place);
}

/** The number of elements of an alias. */
export function aliasSize(alias, place) {
  const size = (part) => {
    let value = extentNode(part.array, null, null, place);
    part.index.forEach((_, axis) => {
      value = binaryNode("//", value, extentNode(part.array, axis, null, place), place);
    });
    for (const span of spansOf(part)) value = binaryNode("*", value, span.count, place);
    return value;
  };
  return chosenValue(alias.which, alias.parts.map(size), place);
}

/** The number of axes of an alias. */
export function aliasDimensions(alias, place) {
  const dimensions = (part) => {
    const value = extentNode(part.array, "ndim", null, place);
    const fixed = fixedAxes(part);
    return fixed ? binaryNode("-", value, constNode(fixed), place) : value;
  };
  return chosenValue(alias.which, alias.parts.map(dimensions), place);
}

// Keys: a part without its numbers, and of each of its restricted leading axes whether a span remains

export const keyOfPart = (part) => ({ array: part.array, axes: part.index.map((one) => Boolean(one.span)) });
export const keysOfAlias = (alias) => (alias === null ? [] : alias.parts.map(keyOfPart));
export const textOfKey = ({ array, axes }) => `${array}:${axes.map(Number).join("")}`;

/** Whether a key is another one with fewer axes, as that of `a` is for `a[2:]`. */
function isKeyOf(one, other) {
  return one.array === other.array && one.axes.length < other.axes.length
    && other.axes.every((isSpan, at) => (at < one.axes.length ? isSpan === one.axes[at] : isSpan));
}

/** The keys without repetition, in the order in which an access tries them. */
function sortedKeys(keys, arrays) {
  const several = [...new Map(keys.map((one) => [textOfKey(one), one])).values()];
  const known = several.filter((one) => !several.some((other) => isKeyOf(one, other)));
  const text = ({ axes }) => axes.map(Number).join("");
  return known.sort((one, other) => {
    const way = arrays.indexOf(one.array) - arrays.indexOf(other.array);
    if (way) return way;
    return text(one) < text(other) ? -1 : 1;
  });
}

/** The numbers of a restricted axis: its index, or those of its span. */
const numbersOfAxis = (axis) => (axis.span ? [axis.start, axis.step, axis.count] : [axis]);

/** The numbers of so many restricted axes. */
function numbersOfPart(part, count, place) {
  const rest = [];
  for (let axis = part.index.length; axis < count; axis += 1) {
    rest.push(spanOf(constNode(0), constNode(1), extentNode(part.array, axis, null, place), place));
  }
  return [...part.index, ...rest].flatMap(numbersOfAxis);
}

/** A name whose array is known only when the program runs: variables identify the array. */
export class MergedName {
  constructor(keys, place, unit) {
    const variable = () => varNode(unit.unique("t"), place);
    this.keys = sortedKeys(keys, unit.arrays);
    this.indices = this.keys.map(({ axes }) =>
      axes.map((isSpan) => (isSpan ? spanOf(variable(), variable(), variable(), place) : variable())));
    this.which = variable();
  }

  /** The alias that the name stands for. */
  get alias() {
    const parts = this.keys.map((key, at) => viewOf(key.array, this.indices[at]));
    return aliasOf(parts, this.keys.length > 1 ? this.which : FIRST_PART);
  }

  position(part) {
    const own = keyOfPart(part);
    return this.keys.findIndex((key) => textOfKey(own) === textOfKey(key) || isKeyOf(own, key));
  }

  /** Whether the name can stand for an alias. */
  holds(alias) {
    return alias.parts.every((part) => this.position(part) >= 0);
  }

  /** The assignments by which the name stands for `alias`; the `first` time all variables get a value. */
  settings(alias, place, first) {
    const found = [];
    const positions = alias.parts.map((part) => Math.max(this.position(part), 0));
    if (this.keys.length > 1) {
      let which = chosenValue(alias.which, positions.map(constNode), place);
      if (positions.length > 1 && positions.every((one, at) => one === at)) which = alias.which;
      found.push([this.which, which]);
    }
    this.indices.forEach((axes, position) => {
      const here = positions.map((at) => at === position);
      if (!here.includes(true) && !first) return;
      const own = here.includes(true) ? alias.parts[here.indexOf(true)] : null;
      const parts = alias.parts.map((part, at) => (here[at] ? part : own));
      const variables = axes.flatMap(numbersOfAxis);
      const rows = parts.map((part) =>
        (part === null ? variables.map(() => FIRST_PART) : numbersOfPart(part, axes.length, place)));
      variables.forEach((variable, at) => {
        const values = rows.map((row) => row[at]);
        const isOne = values.every((value) => sameNode(value, values[0]));
        found.push([variable, isOne ? values[0] : chosenValue(alias.which, values, place)]);
      });
    });
    return found.map(([variable, value]) => assignNode(variable.name, value, place));
  }
}
