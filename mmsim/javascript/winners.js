import { Concerned, LanesOfCells, accessAt, elementFinding, madeFor } from "./lines.js";
import { Listener, cellOf } from "./listener.js";
import { sameBits } from "./memory.js";

/**
 * Records the first concurrent writes of different values of each line.
 *
 * If several writes of one request go to one element, the lowest-numbered thread's value stays. A GPU promises only
 * that one of them stays.
 */
export class ConcurrentWrites extends Listener {
  constructor(launch, lines) {
    super();
    this.lines = lines;
    this.arrays = launch.arrays;
    this.blocks = launch.grid.block;
    this.warps = launch.grid.warp;
    this.touched = new Map();
    this.found = new Concerned(); // cell, winner, loser, block, time
  }

  accessed({ site, array, threads, elements, values, times }) {
    if (site.kind !== "write") return;
    const { blocks, warps } = this, line = this.lines.ofSite[site.number];
    const touched = madeFor(this.touched, array.name, () => new LanesOfCells(array));
    touched.begin(elements.length);
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane], cell = cellOf(array, elements[lane], blocks[thread]), winner = touched.of(cell);
      if (winner < 0 || warps[threads[winner]] !== warps[thread]) touched.set(cell, lane);
      else if (!sameBits(values[lane], values[winner])) {
        const time = typeof times === "number" ? times : times[lane];
        this.found.note(line, array, cell, threads[winner], thread, blocks[thread], time);
      }
    }
  }

  /** A finding that the results depend on the winner in a line. */
  finding(line, note) {
    const site = this.lines.sites[line], [cell, winner, loser, block, time] = this.found.first.get(line);
    const writes = [winner, loser].map((thread) => accessAt(site, thread, block, time));
    return elementFinding("winner", this.arrays[site.array], cell, writes, { elements: this.found.count(line), note });
  }
}

/**
 * Store the words of a write, of one warp or of several in order, but let another one of concurrent writes of different
 * values stay: that of the "lowest"- or the "highest"-numbered thread with another value than the rule's.
 */
export const writeOtherwise = (array, elements, threads, values, grid, other) => {
  const { data } = array;
  for (let begin = 0, end; begin < elements.length; begin = end) {
    const warp = grid.warp[threads[begin]], first = new Map();
    for (end = begin; end < elements.length && grid.warp[threads[end]] === warp; end += 1) {
      const cell = cellOf(array, elements[end], grid.block[threads[end]]);
      if (!first.has(cell)) first.set(cell, { rule: values[end], stays: values[end] });
      const words = first.get(cell), isRule = sameBits(words.rule, values[end]);
      if (!isRule && (other === "highest" || sameBits(words.rule, words.stays))) words.stays = values[end];
    }
    for (const [cell, { stays }] of first) data[cell] = stays;
  }
};
