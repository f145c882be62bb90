/** The tables of Python's representation; `useTable` fills them before anything else runs. */
export const TABLES = {};

/** Take over the data that `mmsim.javascript.table.table()` gives; a row gets the columns that it leaves out. */
export const useTable = (json) => {
  Object.assign(TABLES, json, { operations: {} });
  for (const [node, rows] of Object.entries(json.operations)) {
    const whole = Object.entries(rows).map(([op, row]) => [op, { ...json.defaults, ...row }]);
    TABLES.operations[node] = Object.fromEntries(whole);
  }
};

/** The row of an operation, also of one that only the lowered form has. */
export const rowOf = (value) => TABLES.operations[value.node][value.op];
