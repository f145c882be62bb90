/** A heap of items, of which `pop` takes the least. `comesFirst(one, other)` says whether `one` is less. */
export class Heap {
  constructor(comesFirst) {
    this.comesFirst = comesFirst;
    this.items = [];
  }

  get size() {
    return this.items.length;
  }

  push(item) {
    const { items, comesFirst } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!comesFirst(item, items[above])) break;
      items[at] = items[above];
      at = above;
    }
    items[at] = item;
  }

  pop() {
    const { items, comesFirst } = this;
    const least = items[0];
    const item = items.pop();
    const count = items.length;
    if (count === 0) return least;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= count) break;
      if (below + 1 < count && comesFirst(items[below + 1], items[below])) below += 1;
      if (!comesFirst(items[below], item)) break;
      items[at] = items[below];
      at = below;
    }
    items[at] = item;
    return least;
  }
}

const isLess = (one, other) => one < other;

/** The first ready warp after the one dispatched last, in circular order, starting with warp 0. */
export class WarpsInTurn {
  constructor() {
    this.last = -1;
    this.ahead = new Heap(isLess); // the ready warps after the last one
    this.around = new Heap(isLess); // those before it
  }

  get size() {
    return this.ahead.size + this.around.size;
  }

  /** Note that a warp has become ready. */
  push(warp) {
    (warp > this.last ? this.ahead : this.around).push(warp);
  }

  /** Take the next warp in turn, null if none is ready. */
  pop() {
    if (this.ahead.size === 0) {
      if (this.around.size === 0) return null;
      [this.ahead, this.around] = [this.around, this.ahead];
    }
    this.last = this.ahead.pop();
    return this.last;
  }
}

/** Groups of warps in turn, and within each group its warps in turn: the DMMs at an HMM's global unit. */
export class GroupsInTurn {
  constructor(groupOfWarp) {
    this.groupOfWarp = groupOfWarp;
    this.groups = new WarpsInTurn(); // the same rule, one floor up
    this.within = new Map();
  }

  push(warp) {
    const group = this.groupOfWarp(warp);
    if (!this.within.has(group)) this.within.set(group, new WarpsInTurn());
    const warps = this.within.get(group);
    if (warps.size === 0) this.groups.push(group);
    warps.push(warp);
  }

  pop() {
    const group = this.groups.pop();
    if (group === null) return null;
    const warps = this.within.get(group);
    const warp = warps.pop();
    if (warps.size > 0) this.groups.push(group);
    return warp;
  }
}
