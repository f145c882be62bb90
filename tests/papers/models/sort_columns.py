"""Sort by columns, partition, permutation and merging of two lists: docs/algorithms/sorting.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmsim_algorithms.sorting.claims import INPUTS
from mmsim_algorithms.sorting.column_claims import permutation
from models.cost import RULES, Rounds, Rule, banks, warps

Table = list[list[int]]
"""The words of each column, from row 0 on."""
Place = tuple[int, int]
"""A row and a column."""
Words = list[int]
Reads = list[tuple[int, int]]
Source = Callable[[int, int], int]
Target = Callable[[int, int], Place]


class Lanes:
    """Threads of whole warps on one unit: all of them read, or all of them write, in a round."""

    def __init__(self, w: int, l: int, rule: Rule = banks) -> None:
        self.rounds, self.w, self.l, self.rule = Rounds(w), w, l, rule

    def access(self, kind: str, addresses: Sequence[int | None]) -> None:
        """A round, given the address of each thread, or None for an idle one."""
        self.rounds.add(self.rule, self.l, warps(addresses, self.w), kind)

    def cells(self, kind: str, places: Sequence[Place | None]) -> None:
        """A round, given a row and a column of rows of w words."""
        self.access(kind, [None if at is None else at[0] * self.w + at[1] for at in places])

    @property
    def stages(self) -> int:
        """Of all accesses."""
        return sum(self.rounds.stages.values())

    @property
    def congestion(self) -> int:
        """The stages of a request, on average over the reads or the writes, rounded up."""
        stages, requests = self.rounds.stages, self.rounds.requests
        return max(-(-stages[kind] // requests[kind]) for kind in requests)


def search(ours: Words, theirs: Words, d: int) -> tuple[int, list[tuple[int, int]]]:
    """The number of our words among the first d merged ones, and a search's reads of either run.

    The range shrinks from k places to k // 2, whatever the words are.
    """
    low, asked = max(0, d - len(theirs)), []
    k = min(d, len(ours) + len(theirs) - d)
    while k:
        middle = low + (k - 1) // 2
        asked.append((middle, d - 1 - middle))
        if ours[middle] < theirs[d - 1 - middle]:
            low = middle + 1
        k //= 2
    return low, asked


def serial(ours: Words, theirs: Words, alpha: int, beta: int, count: int) -> tuple[Reads, Words]:
    """The reads of a serial merge of `count` words, as (run, place), and the words that it takes.

    It reads two words, and then one after each that it takes but the last. At the end of a run it
    reads the last word again.
    """
    runs, at = (ours, theirs), [alpha, beta]
    reads, taken = [(side, min(at[side], len(runs[side]) - 1)) for side in range(2)], []
    for _ in range(count):
        side = int(at[0] == len(ours) or (at[1] < len(theirs) and theirs[at[1]] < ours[at[0]]))
        taken.append(runs[side][at[side]])
        at[side] += 1
        reads.append((side, min(at[side], len(runs[side]) - 1)))
    return reads[:-1], taken


def in_turn(lanes: Lanes, kind: str, threads: Sequence[Sequence[Place]]) -> None:
    """Rounds in which each thread goes through its places, until the last one is done."""
    for step in range(max(map(len, threads))):
        lanes.cells(kind, [places[step] if step < len(places) else None for places in threads])


def merge_pass(lanes: Lanes, table: Table, p: int, run: int) -> Table:
    """Merge the pairs of runs in each column.

    Thread t has column t mod w, and writes E words of it, in as many pairs as these are.
    """
    w, h = lanes.w, len(table[0])
    E = h * w // p
    piece = min(E, 2 * run)
    merged = [[0] * h for _ in range(w)]
    for k in range(0, E, piece):
        searches, reads, writes = [], [], []
        for t in range(p):
            c, row = t % w, t // w * E + k
            first, d = row - row % (2 * run), row % (2 * run)
            ours, theirs = table[c][first : first + run], table[c][first + run : first + 2 * run]
            alpha, asked = search(ours, theirs, d)
            read, taken = serial(ours, theirs, alpha, d - alpha, piece)
            merged[c][row : row + piece] = taken
            searches.append([(first + side * run + x[side], c) for x in asked for side in (0, 1)])
            reads.append([(first + side * run + x, c) for side, x in read])
            writes.append([(row + j, c) for j in range(piece)])
        in_turn(lanes, "read", searches)
        in_turn(lanes, "read", [read[:1] for read in reads])
        in_turn(lanes, "read", [read[1:] for read in reads])
        in_turn(lanes, "write", writes)
    return merged


def move(lanes: Lanes, table: Table, p: int, source: Source, target: Target) -> Table:
    """Move all words: `source` is the row that lane c takes of diagonal i, `target` its place."""
    w, h = lanes.w, len(table[0])
    moved = [[0] * h for _ in range(w)]
    for i in range(0, h, p // w):
        taken = [(source(i + t // w, t % w), t % w) for t in range(p)]
        places = [target(row, c) for row, c in taken]
        lanes.cells("read", taken)
        lanes.cells("write", places)
        for (row, c), (to, column) in zip(taken, places, strict=True):
            moved[column][to] = table[c][row]
    return moved


def spread(lanes: Lanes, table: Table, p: int) -> Table:
    """The columns, one behind the other, over the rows."""
    w, h = lanes.w, len(table[0])
    return move(
        lanes,
        table,
        p,
        lambda i, c: i // w * w + (i + c) % w,
        lambda row, c: ((c * h + row) // w, row % w),
    )


def columns(n: int, p: int, w: int, l: int, words: str, on: str = "DMM") -> Lanes:
    """Leighton's steps, with the page's three changes."""
    lanes, numbers, h = Lanes(w, l, RULES[on]), [int(x) for x in INPUTS[words](n)], n // w
    table = [numbers[c::w] for c in range(w)]

    def merge(run: int) -> None:
        nonlocal table
        while run < h:
            table = merge_pass(lanes, table, p, run)
            run *= 2

    part = h // w
    merge(1)
    table = spread(lanes, table, p)
    merge(part)
    table = move(
        lanes,
        table,
        p,
        lambda i, c: i // w + (i + c) % w * part,
        lambda row, c: (c * part + row % part, row // part),
    )
    merge(part)
    table = move(
        lanes,
        table,
        p,
        lambda i, _: i,
        lambda row, c: ((row + h // 2) % h, (c + (row >= h // 2)) % w),
    )
    table = merge_pass(lanes, table, p, h // 2)

    def place(row: int, c: int) -> Place:
        if c == 0:
            return divmod(row if row < h // 2 else n - h + row, w)
        return divmod(c * h + row - h // 2, w)

    table = move(lanes, table, p, lambda i, c: i // w * w + (i + c) % w, place)
    assert [x for row in zip(*table, strict=True) for x in row] == list(range(n))
    return lanes


def by_class(lanes: Lanes, words: Table, classes: Table) -> tuple[Table, Table, Table]:
    """Sort each column by counting. Also the ends of the classes in each column."""
    w, h = lanes.w, len(words[0])
    rows = [[0] * h for _ in range(w)]
    ends = [[0] * w for _ in range(w)]
    for c in range(w):
        order = sorted(range(h), key=classes[c].__getitem__)
        rows[c] = [order.index(row) for row in range(h)]
        ends[c] = [sum(x <= v for x in classes[c]) for v in range(w)]
    every = range(w)

    def access(kind: str, row: Callable[[int], int]) -> None:
        lanes.cells(kind, [(row(c), c) for c in every])

    for v in range(w):
        access("write", lambda c, v=v: v)
    for i in range(h):
        access("read", lambda c, i=i: i)
        access("read", lambda c, i=i: classes[c][i])
        access("write", lambda c, i=i: classes[c][i])
    for v in range(w):
        access("read", lambda c, v=v: v)
        access("write", lambda c, v=v: v)
    for i in range(h):
        access("read", lambda c, i=i: i)
        access("read", lambda c, i=i: classes[c][i])
        access("write", lambda c, i=i: classes[c][i])
        access("read", lambda c, i=i: i)
        access("write", lambda c, i=i: rows[c][i])
        access("write", lambda c, i=i: rows[c][i])

    def put(table: Table) -> Table:
        return [[x for _, x in sorted(zip(rows[c], table[c], strict=True))] for c in every]

    return put(words), put(classes), ends


def parted(n: int, w: int, l: int, words: str, places: bool) -> Lanes:
    """Partition by classes, or a permutation (`places`), which is one by banks."""
    lanes, d = Lanes(w, l), [int(x) for x in permutation(words, n, w)]
    h = n // w
    table = [list(range(c, n, w)) for c in range(w)]
    classes = [[d[i] % w for i in column] for column in table]
    table, classes, _ = by_class(lanes, table, classes)
    table, classes = spread(lanes, table, w), spread(lanes, classes, w)
    table, classes, ends = by_class(lanes, table, classes)
    filled = [0] * w
    got: dict[Place, int] = {}
    for s in range(w):
        whence = [(v + s) % w for v in range(w)]
        lanes.cells("read", [(max(v - 1, 0), c) for v, c in enumerate(whence)])
        lanes.cells("read", [(v, c) for v, c in enumerate(whence)])
        begins = [ends[c][v - 1] if v else 0 for v, c in enumerate(whence)]
        counts = [ends[c][v] - begins[v] for v, c in enumerate(whence)]
        assert max(counts) <= h // w + w - 1
        assert min(counts) >= 1
        for j in range(h // w + w - 1):
            now = [min(j, count - 1) for count in counts]
            taken = [(begins[v] + now[v], whence[v]) for v in range(w)]
            found = [table[c][row] for row, c in taken]
            lanes.cells("read", taken)
            goals = [(filled[v] + now[v], v) for v in range(w)]
            if places:
                lanes.cells("read", taken)
                goals = [divmod(d[x], w) for x in found]
            lanes.cells("write", goals)
            got.update(zip(goals, found, strict=True))
        filled = [filled[v] + counts[v] for v in range(w)]
    assert sorted(got.values()) == list(range(n))
    assert all(column == d[x] % w for (_, column), x in got.items())
    return lanes


def merging(n: int, p: int, w: int, l: int, words: str) -> Lanes:
    """Merge two sorted lists of n/2 words."""
    lanes, E, half = Lanes(w, l), n // p, n // 2
    numbers = [int(x) for x in INPUTS[words](n)]
    ours, theirs = sorted(numbers[:half]), sorted(numbers[half:])
    every = range(p)
    for first in range(0, n, p):
        ids = range(first, first + p)
        lanes.access("read", ids)
        lanes.access("write", [x if x < half else n - 1 - (x - half) for x in ids])
    searched = [search(ours, theirs, t * E) for t in every]
    reads = [[a for x, y in asked for a in (x, n - 1 - y)] for _, asked in searched]
    for lane in range(w):
        for step in range(max(len(reads[t]) for t in range(lane, p, w))):
            asked = [step < len(reads[t]) and t % w == lane for t in every]
            lanes.access("read", [reads[t][step] if asked[t] else None for t in every])
    lanes.access("write", every)
    lanes.access("read", range(1, p + 1))
    begins = [*(alpha for alpha, _ in searched), half]
    mine = [
        [
            *range(begins[t], begins[t + 1]),
            *range(n - (t + 1) * E + begins[t + 1], n - t * E + begins[t]),
        ]
        for t in every
    ]
    for s in range(E):
        places = [next(x for x in mine[t] if x % E == (s + t) % E) for t in every]
        lanes.access("read", places)
        lanes.cells("write", [divmod(mine[t].index(places[t]) * p + t, w) for t in every])
    merges = []
    merged: list[int] = []
    for t in every:
        alpha, end = begins[t], begins[t + 1]
        first, second = ours[alpha:end], theirs[t * E - alpha : t * E + E - end]
        found, taken = serial(first or [n], second or [n], 0, 0, E)
        merged += taken
        rows = [x if side == 0 else E - 1 - x for side, x in found]
        merges.append([divmod(row * p + t, w) for row in rows])
    assert merged == sorted(numbers)
    in_turn(lanes, "read", merges)
    in_turn(lanes, "write", [[divmod(row * p + t, w) for row in range(E)] for t in every])
    for s in range(E):
        lanes.cells("read", [divmod((s + t) % E * p + t, w) for t in every])
        lanes.access("write", [t * E + (s + t) % E for t in every])
    return lanes


def sort_time(n: int, p: int, w: int, l: int, words: str) -> int:
    """The time of a sort by columns."""
    return columns(n, p, w, l, words).rounds.time


def sort_stages(n: int, p: int, w: int, l: int, words: str) -> int:
    """Its stages."""
    return columns(n, p, w, l, words).stages


def partition_time(n: int, w: int, l: int, words: str) -> int:
    """The time of a partition."""
    return parted(n, w, l, words, places=False).rounds.time


def permute_time(n: int, w: int, l: int, words: str) -> int:
    """The time of a permutation."""
    return parted(n, w, l, words, places=True).rounds.time


def merging_time(n: int, p: int, w: int, l: int, words: str) -> int:
    """The time to merge two lists."""
    return merging(n, p, w, l, words).rounds.time


def merging_stages(n: int, p: int, w: int, l: int, words: str) -> int:
    """The stages of that."""
    return merging(n, p, w, l, words).stages


def congestion(way: str, n: int, p: int, w: int, l: int, words: str) -> int:
    """The congestion of one of the four programs."""
    if way in ("sort", "merge"):
        return (columns if way == "sort" else merging)(n, p, w, l, words).congestion
    return parted(n, w, l, words, places=way == "permute").congestion


MODELS = {
    "SORT-columns": sort_time,
    "SORT-columns.stages": sort_stages,
    "SORT-columns.O": sort_time,
    "SORT-free": congestion,
    "SORT-partition": partition_time,
    "SORT-partition.O": partition_time,
    "SORT-permute": permute_time,
    "SORT-permute.O": permute_time,
    "SORT-merging": merging_stages,
    "SORT-merging.time": merging_time,
    "SORT-merging.O": merging_time,
}
