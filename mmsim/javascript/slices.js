/** The part of a list that Python's slice takes; the bounds are BigInts, or null. */
export function sliceOf(items, lower, upper, step) {
  const length = BigInt(items.length);
  const by = step ?? 1n;
  const clipped = (bound, low, high) => {
    const at = bound < 0n ? bound + length : bound;
    return at < low ? low : at > high ? high : at;
  };
  const [low, high] = by > 0n ? [0n, length] : [-1n, length - 1n];
  const start = lower === null ? (by > 0n ? low : high) : clipped(lower, low, high);
  const stop = upper === null ? (by > 0n ? high : low) : clipped(upper, low, high);
  const found = [];
  for (let at = start; by > 0n ? at < stop : at > stop; at += by) found.push(items[Number(at)]);
  return found;
}
