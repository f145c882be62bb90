"""The script that compares values in a page, to the last bit and the sign of a zero."""

DIFFERENCE = """
const asText = (value) => JSON.stringify(value, (name, held) => {
  if (Object.is(held, -0)) return "-0";
  const isNamed = held !== null && typeof held === "object" && !Array.isArray(held);
  if (!isNamed) return held;
  return Object.fromEntries(Object.keys(held).sort().map((key) => [key, held[key]]));
});

/** Where the texts of two values begin to differ, null if they are equal. */
const differenceIn = (expected, found) => {
  const [one, other] = [expected, found].map(asText);
  if (one === other) return null;
  const at = [...one].findIndex((letter, place) => letter !== other[place]);
  const [here, there] = [one, other].map((text) => text.slice(Math.max(at - 80, 0), at + 80));
  return `expected ...${here}..., but found ...${there}...`;
};
"""
