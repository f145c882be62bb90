/* Compares a result of the engine with what Python's gives. */

/** Of a case {setting, expected}: what differs between the expected result and the one here, null if nothing does. */
const disagreement = (() => {
  /** The first difference of two values, null without one. */
  const difference = (one, other, path) => {
    if (Object.is(one, other)) return null;
    const shown = (value) => String(JSON.stringify(value)).slice(0, 80);
    if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
      return `${path}: ${shown(one)}, but ${shown(other)}`;
    }
    const names = Object.keys(one);
    const others = Object.keys(other);
    if (names.length !== others.length) return `${path}: ${names.length} and ${others.length}: ${names} | ${others}`;
    for (const name of names) {
      const found = difference(one[name], other[name], `${path}.${name}`);
      if (found !== null) return found;
    }
    return null;
  };

  /** Some fields of an object. */
  const only = (whole, names) => Object.fromEntries(names.map((name) => [name, whole[name]]));

  return ({ setting, expected }, options = {}) => {
    const { time, arrays, data, accesses, rounds, error } = simulate(setting, options);
    if ((error === null) !== (expected.error === null)) {
      return `error: ${JSON.stringify(expected.error)}, but ${JSON.stringify(error)}`;
    }
    const mine = {
      time,
      arrays,
      data: data && { ...data, findings: [] },
      accesses: accesses.map((row) => only(row, ACCESS_FIELDS)),
      rounds: rounds.map((row) => only(row, ROUND_FIELDS)),
      error,
    };
    if (error !== null) {
      const facts = { ...error, index: error.index ?? [], line: error.place?.line ?? null };
      mine.error = only(facts, Object.keys(expected.error));
    }
    for (const part of Object.keys(expected)) {
      const found = difference(expected[part], mine[part], part);
      if (found !== null) return found;
    }
    return null;
  };
})();
