"""Bitonic sort and pairwise merge sort: docs/algorithms/sorting.md."""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise, product

from mmsim_algorithms.sorting.claims import shuffled
from models.cost import RULES, Rounds, banks, stages, warps
from models.sort_columns import Lanes, columns, merge_pass


def network(on: str, n: int, p: int, w: int, l: int, free: bool = False) -> Rounds:
    """The bitonic network; `free`: of a pair that begins in an odd row the second comes first."""
    rounds, size = Rounds(w), 2
    while size <= n:
        h = size // 2
        while h:
            for first in range(0, n // 2, p):
                pairs = range(first, min(first + p, n // 2))
                words = [(pair // h * 2 * h + pair % h, h) for pair in pairs]
                if free:
                    words = [(x + h, -h) if x // w % 2 else (x, h) for x, h in words]
                one = warps([x for x, _ in words], w)
                other = warps([x + step for x, step in words], w)
                for kind, access in product(("read", "write"), (one, other)):
                    rounds.add(RULES[on], l, access, kind)
            h //= 2
        size *= 2
    return rounds


def compared(by: str, on: str, n: int, p: int, w: int, l: int) -> Rounds:
    """One of the sorts that the lower bound is held against."""
    if by == "one bank":
        lanes, table, run = Lanes(1, l), [contents(n, "random")], 1
        while run < n:
            table = merge_pass(lanes, table, 1, run)
            run *= 2
        return lanes.rounds
    if by == "columns":
        return columns(n, p, w, l, "random", on).rounds
    return network(on, n, p, w, l, free=by == "bitonic free")


Part = tuple[int, int]


@cache
def parts(ours: int, theirs: int, a: int, b: int, w: int, E: int) -> tuple[Part, ...] | None:
    """The number of words of each run that the threads take in turn; None if no turns do.

    `ours` and `theirs` are rows not yet begun, a and b the words left in the rows begun. A row is
    begun by a thread that takes E words of it, and of nothing else.
    """
    if not (ours or theirs or a or b):
        return ()
    choices: list[tuple[Part, tuple[int, int, int, int]]] = []
    if not a and ours:
        choices.append(((E, 0), (ours - 1, theirs, w - E, b)))
    if not b and theirs:
        choices.append(((0, E), (ours, theirs - 1, a, w - E)))
    for x in range(E + 1):
        if x <= a and E - x <= b and (x in (0, a, E) or E - x == b):
            choices.append(((x, E - x), (ours, theirs, a - x, b - (E - x))))
    for part, rest in choices:
        if (following := parts(*rest, w, E)) is not None:
            return (part, *following)
    return None


def wide(w: int, E: int, first: int) -> list[list[Part]]:
    """The run and the count of each thread's words, in order, for w/2 < E < w."""
    second = 1 - first
    pair = [[(first, E)], [(second, 2 * E - w), (first, w - E)]]
    return [*([[(second, E)]] if w % 2 else []), *(pair * (w // 2))]


def worst(n: int, w: int, E: int, run: int, l: int) -> int:
    """The stages of the reads of a pass that merges two runs, each row begun by a thread.

    A warp merges E rows. Where E is odd, one run has a row more, in turn. Where E > w/2, the runs
    change their parts from warp to warp. A thread reads its words in the order of the merged run,
    one at each step.
    """
    rounds, taken = Rounds(w), [0, run]
    for warp in range(n // (w * E)):
        if w < 2 * E:
            found = wide(w, E, warp % 2)
        else:
            rows = ((E + warp % 2) // 2, (E + 1 - warp % 2) // 2)
            narrow = parts(*rows, 0, 0, w, E)
            assert narrow is not None
            found = [[(0, first), (1, second)] for first, second in narrow]
        assert len(found) == w
        threads = []
        for pieces in found:
            words = []
            for side, count in pieces:
                words += range(taken[side], taken[side] + count)
                taken[side] += count
            threads.append(words)
        for step in range(E):
            rounds.add(banks, l, [[words[step] for words in threads]])
    assert taken == [run, n]
    return rounds.stages[""]


def contents(n: int, words: str) -> list[int]:
    """Numbers to be sorted. Only the time of searches depends on them.

    The random ones are the claim's. In place of the worst input of the other sort ours are random.
    """
    if words == "in order":
        return list(range(n))
    return list(range(n))[::-1] if words == "reversed" else [int(word) for word in shuffled(n)]


def free(n: int, w: int, E: int, l: int, words: str) -> tuple[int, int]:
    """The stages that move the words in the sort without conflicts, and its time with searches.

    A thread fetches the word with residue r modulo E at step r, and writes so, too. The second run
    of each pair lies downwards. A thread searches for where its words begin, then for where they
    end; each step reads a word of either run.
    """
    rounds, p = Rounds(w), n // E
    numbers = contents(n, words)

    def move(places: list[list[int]]) -> None:
        for r in range(E):
            step = [next(place for place in of if place % E == r) for of in places]
            rounds.add(banks, l, warps(step, w), "moved")

    def pieces(run: int) -> list[list[int]]:
        found = []
        for first in range(0, n, run):
            up = list(range(first, first + run))
            up = up if first // run % 2 == 0 else up[::-1]
            found += [up[piece : piece + E] for piece in range(0, run, E)]
        return found

    def put(run: int) -> None:
        places = pieces(run)
        move(places)
        for first in range(0, n, run):
            ordered = sorted(numbers[first : first + run])
            numbers[first : first + run] = ordered if first // run % 2 == 0 else ordered[::-1]

    move([list(range(thread * E, thread * E + E)) for thread in range(p)])
    put(E)
    run = E
    while run < n:
        starts, ends, places = [], [], []
        for first in range(0, n, 2 * run):
            last = first + 2 * run - 1
            ours = numbers[first : first + run]
            theirs = numbers[first + run : last + 1][::-1]
            found = [search(ours, theirs, diagonal) for diagonal in range(0, 2 * run + 1, E)]
            for thread, ((alpha, begun), (end, ended)) in enumerate(pairwise(found)):
                second = range(thread * E - alpha, thread * E + E - end)
                places.append([*range(first + alpha, first + end), *(last - b for b in second)])
                starts.append([(first + a, last - b) for a, b in begun])
                ends.append([(first + a, last - b) for a, b in ended])
        for searches in (starts, ends):
            for step in range(max(len(read) for read in searches)):
                for side in range(2):
                    asked = [read[step][side] if step < len(read) else None for read in searches]
                    rounds.add(banks, l, warps(asked, w), "searched")
        move(places)
        run *= 2
        put(run)
    assert numbers == sorted(numbers)
    return rounds.stages["moved"], rounds.time


def search(ours: list[int], theirs: list[int], diagonal: int) -> tuple[int, list[Part]]:
    """The number of our words among the first `diagonal` merged ones, and a search's reads."""
    low, high = max(0, diagonal - len(theirs)), min(diagonal, len(ours))
    read = []
    while low < high:
        middle = (low + high) // 2
        read.append((middle, diagonal - 1 - middle))
        if ours[middle] < theirs[diagonal - 1 - middle]:
            low = middle + 1
        else:
            high = middle
    return low, read


def free_stages(n: int, w: int, E: int, l: int, words: str) -> int:
    """The stages that move the words."""
    return free(n, w, E, l, words)[0]


def free_time(n: int, w: int, E: int, l: int, words: str) -> int:
    """The time of the sort without conflicts, with our searches."""
    return free(n, w, E, l, words)[1]


MODELS = {
    "SORT-bitonic": network,
    "SORT-bitonic.free": partial(network, free=True),
    "SORT-bitonic.O": network,
    "SORT-LB": compared,
    "SORT-LB.reads": stages(compared, "read"),
    "SORT-merge.worst": worst,
    "SORT-merge.worst.wide": worst,
    "SORT-merge.worst.threads": worst,
    "SORT-merge.free": free_stages,
    "SORT-merge.free.O": free_time,
}
