import { quotedText } from "./faults.js";
import { unravelled } from "./evaluation.js";

/* Vectors: a lane reads or writes n adjacent elements of an array in one access. A vector is aligned: its words are
   adjacent, and the first one lies at a multiple of n words from the beginning of its array. */

/** The fault of a layout that splits vectors, and the remedy. */
const misplacedText = (array, count) =>
  `the layout of ${quotedText(array)} does not put the ${count} elements of a vector side by side at a multiple of `
  + `${count} words; take a layout that moves groups of ${count} elements as a whole, or access the elements `
  + "one by one";

/** Whether the words of a vector's elements, from `first` on, are not adjacent or do not begin at a multiple. */
const isUnaligned = (offsets, first, count) => {
  if (offsets[first] % count !== 0) return true;
  for (let part = 1; part < count; part += 1) if (offsets[first + part] !== offsets[first] + part) return true;
  return false;
};

/** Refuse the first active lane's vector that the layout of its array splits; `numbers` are those of the vectors. */
export const refuseUnaligned = (meaning, frame, mask, numbers, { array, place }, count) => {
  const offsets = frame.offsets[array];
  if (!offsets) return;
  const k = numbers.findIndex((number) => isUnaligned(offsets, number * count, count));
  if (k < 0) return;
  const axes = unravelled(numbers[k] * count, meaning.shapes[array]);
  const index = [...axes.slice(0, -1), axes.at(-1) / count];
  const message = `vector [${index.join(", ")}] of ${quotedText(array)} is not aligned: ${misplacedText(array, count)}`;
  meaning.fault("VectorError", message, place, frame, mask === true ? k : mask[k], { array, index });
};
