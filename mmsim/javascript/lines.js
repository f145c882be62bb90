/**
 * The lines of a program that access memory. Accesses of one kind to one array in one source line count as one line.
 * `sites` are the first access of each line, `ofSite` the line of each access of the text.
 */
export class Lines {
  constructor(launch) {
    const numbers = new Map();
    this.sites = [];
    this.ofSite = launch.meaning.sites.map((site) => {
      const { file, line, function: name } = site.place;
      const key = JSON.stringify([file, line, name, site.array, site.kind]);
      if (!numbers.has(key)) {
        numbers.set(key, this.sites.length);
        this.sites.push(site);
      }
      return numbers.get(key);
    });
  }
}

/** The work of a thread at a place of the text; a `time` below 0 isn't known. */
export const foundAccess = (place, kind, thread, block, time = -1) => ({
  thread, block, kind, function: place.function, file: place.file, line: place.line, time: time >= 0 ? time : null,
});

/** An access of a thread at a site of the text. */
export const accessAt = (site, thread, block, time) => foundAccess(site.place, site.kind, thread, block, time);

/** Whether two accesses are in the same line and of the same kind. */
export const sameWhere = (one, other) =>
  one.line === other.line && one.kind === other.kind && one.function === other.function && one.file === other.file;

/** The line of an access and its kind, whichever thread it is of, as a key. */
export const whereKey = (one) => JSON.stringify([one.function, one.file, one.line, one.kind]);

/** The logical index of an element. */
export const indexIn = (shape, element) => {
  const index = [];
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    index.unshift(element % shape[axis]);
    element = Math.floor(element / shape[axis]);
  }
  return index;
};

/** A finding without an element. */
export const plainFinding = (kind, accesses, more = {}) =>
  ({ kind, array: null, index: null, copy: null, accesses, scope: null, elements: 1, note: "", ...more });

/** A finding for an element; `cell` is its number, counted over all copies of the array. */
export const elementFinding = (kind, array, cell, accesses, more = {}) => plainFinding(kind, accesses, {
  array: array.name,
  index: indexIn(array.shape, cell % array.size),
  copy: array.shared ? Math.floor(cell / array.size) : null,
  ...more,
});

/**
 * The elements that a line, or a pair of lines, concerns, and the first of them. An entry of `first` has its cell, two
 * numbers by which elements are in order, and further numbers.
 */
export class Concerned {
  first = new Map();
  marked = new Map();

  /** Note an element of an array, with its numbers. */
  note(line, array, cell, one, other, ...rest) {
    const first = this.first.get(line);
    if (first === undefined) {
      this.marked.set(line, { cells: new Uint8Array(array.size * array.copies), count: 0 });
    }
    const marked = this.marked.get(line);
    if (!marked.cells[cell]) {
      marked.cells[cell] = 1;
      marked.count += 1;
    }
    if (first === undefined || (cell - first[0] || one - first[1] || other - first[2]) < 0) {
      this.first.set(line, [cell, one, other, ...rest]);
    }
  }

  /** The number of elements. */
  count(line) {
    return this.marked.get(line).count;
  }

  /** The lines with their first elements, in the order of the text. */
  sorted() {
    return [...this.first].sort(([one], [other]) => one - other);
  }
}

/** The latest lane of one access that has touched each cell of an array. */
export class LanesOfCells {
  constructor({ size, copies }) {
    this.latest = new Float64Array(size * copies).fill(-1);
    this.base = 0;
    this.lanes = 0;
  }

  /** Begin with the next access, of so many lanes. */
  begin(lanes) {
    this.base += this.lanes;
    this.lanes = lanes;
  }

  /** The latest lane that touched a cell; negative without one. */
  of(cell) {
    return this.latest[cell] - this.base;
  }

  /** Note that a lane touches a cell. */
  set(cell, lane) {
    this.latest[cell] = this.base + lane;
  }
}

/** A map whose missing values are made. */
export const madeFor = (map, key, make) => {
  let found = map.get(key);
  if (found === undefined) map.set(key, (found = make()));
  return found;
};
