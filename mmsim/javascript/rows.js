/** The line, the array and the kind of an access. */
const whereOf = ({ place: { function: name, file, line }, array, kind }) =>
  ({ function: name, file, line, array, kind });

/** Counts requests, stages and least stages of every access of the text, and lists the rounds. */
export class Tally {
  constructor(launch) {
    this.launch = launch;
    this.rounds = [];
    const zeros = () => launch.meaning.sites.map(() => 0);
    this.requests = zeros();
    this.stages = zeros();
    this.least = zeros();
  }

  /** The unit in front of an array; of a shared one, that of the first block. */
  unitOf(array) {
    return this.launch.machine.unit(this.launch.arrays[array].unitOfCopy[0]);
  }

  /** Add requests of one access with the sum of their stages, and of their least stages. */
  count(site, requests, stages, least) {
    this.requests[site.number] += requests;
    this.stages[site.number] += stages;
    this.least[site.number] += least;
  }

  /** Note that a round of the synchronous schedule has ended. */
  round(site, start, time, requests, stages, least) {
    this.count(site, requests, stages, least);
    const { space, rule } = this.unitOf(site.array);
    const where = { ...whereOf(site), space };
    const access_class = rule.classify(least, stages);
    this.rounds.push({ number: this.rounds.length, start, time, ...where, requests, stages, least, access_class });
  }

  /** A row for each executed line, array and kind. */
  accesses() {
    const rows = new Map();
    this.launch.meaning.sites.forEach((site, number) => {
      if (this.requests[number] === 0) return;
      const where = whereOf(site);
      const key = JSON.stringify(where);
      const { space } = this.unitOf(site.array);
      if (!rows.has(key)) rows.set(key, { ...where, space, requests: 0, stages: 0, least: 0 });
      const row = rows.get(key);
      row.requests += this.requests[number];
      row.stages += this.stages[number];
      row.least += this.least[number];
    });
    for (const row of rows.values()) row.access_class = this.unitOf(row.array).rule.classify(row.least, row.stages);
    return [...rows.values()];
  }
}

/** The program's source, line by line, with the cost of each; `time` is null where lines overlap. */
export const profileOf = (sources, accesses, rounds, schedule) => {
  const sum = (rows, field) => rows.reduce((total, row) => total + row[field], 0);
  return sources.flatMap((source) =>
    source.lines.map((text, at) => {
      const line = source.first + at;
      const isHere = (row) => row.line === line && row.file === source.file;
      const here = accesses.filter(isHere);
      const time = schedule === "synchronous" ? sum(rounds.filter(isHere), "time") : null;
      const counts = { requests: sum(here, "requests"), stages: sum(here, "stages"), least: sum(here, "least") };
      return { function: source.function, file: source.file, line, text, ...counts, time };
    })
  );
};
