import { Concerned, accessAt, elementFinding } from "./lines.js";
import { Listener, cellOf } from "./listener.js";

/**
 * Finds reads of uninitialized memory: records what has been written, and the first read of anything else, line by
 * line.
 *
 * An `mm.shared` array is zero at first on the simulator, and has any contents on a GPU. The parameters come from the
 * caller and are initialized, except those named as `unset`.
 */
export class UnwrittenReads extends Listener {
  constructor(launch, lines, unset) {
    super();
    this.lines = lines;
    this.blocks = launch.grid.block;
    const arrays = Object.values(launch.arrays).filter((array) => array.shared || unset.includes(array.name));
    this.written = new Map(arrays.map((array) => [array.name, new Uint8Array(array.size * array.copies)]));
    this.arrays = launch.arrays;
    this.read = new Concerned(); // cell, thread, block, time
  }

  accessed({ site, array, threads, elements, times }) {
    const written = this.written.get(array.name);
    if (written === undefined) return;
    const line = this.lines.ofSite[site.number], { blocks } = this;
    const cell = (lane) => cellOf(array, elements[lane], blocks[threads[lane]]);
    for (let lane = 0; site.kind !== "write" && lane < elements.length; lane += 1) {
      if (written[cell(lane)]) continue;
      const thread = threads[lane], time = typeof times === "number" ? times : times[lane];
      this.read.note(line, array, cell(lane), thread, blocks[thread], time);
    }
    for (let lane = 0; site.kind !== "read" && lane < elements.length; lane += 1) written[cell(lane)] = 1;
  }

  /** A finding for each line that read uninitialized memory, in the order of the text. */
  findings() {
    return this.read.sorted().map(([line, [cell, thread, block, time]]) => {
      const site = this.lines.sites[line], access = accessAt(site, thread, block, time);
      const elements = this.read.count(line);
      return elementFinding("unwritten", this.arrays[site.array], cell, [access], { elements });
    });
  }
}
