"""CUB's collectives of a block."""

import numpy as np

from tests.cudart.libraries.case import Case, Module

STORAGE = "__shared__ typename C::TempStorage s;"


def names(*headers):
    return tuple(f"cub/block/block_{header}.cuh" for header in headers)


def collective(kind, body):
    return f"    using C = cub::{kind}; {STORAGE}\n    {body}"


REDUCE = Module(names("reduce", "scan"))
for one in ("RAKING", "RAKING_COMMUTATIVE_ONLY", "WARP_REDUCTIONS"):
    text = collective(
        f"BlockReduce<V, T, cub::BLOCK_REDUCE_{one}>", "V x = C(s).Sum(v); if (t == 0) out[b] = x;"
    )
    REDUCE.cases.append(Case(f"sum_{one.lower()}", text, lambda a: [a.sum()], items=3))
for one in ("RAKING", "RAKING_MEMOIZE", "WARP_SCANS"):
    for how, scan in (("Inclusive", np.cumsum), ("Exclusive", lambda a: np.cumsum(a) - a)):
        text = collective(
            f"BlockScan<V, T, cub::BLOCK_SCAN_{one}>", f"C(s).{how}Sum(v, v); STORE(v);"
        )
        REDUCE.cases.append(Case(f"{how.lower()}_{one.lower()}", text, scan, items=3))
MAX = "[](V x, V y) { return x > y ? x : y; }"
REDUCE.cases += [
    Case(
        "largest",
        collective("BlockReduce<V, T>", f"V x = C(s).Reduce(v, {MAX}); if (t == 0) out[b] = x;"),
        lambda a: [a.max()],
        items=2,
        type="float",
    ),
    Case(
        "some_valid",
        collective("BlockReduce<V, T>", "V x = C(s).Sum(v[0], 37); if (t == 0) out[b] = x;"),
        lambda a: [a[:37].sum()],
    ),
    Case(
        "with_prefix",
        """
    struct Prefix {
        int held;
        __device__ int operator()(int sum) { int old = held; held += sum; return old; }
    };
    Prefix prefix{100};
"""
        + collective("BlockScan<V, T>", "C(s).InclusiveSum(v, v, prefix); STORE(v);"),
        lambda a: a.cumsum() + 100,
        items=3,
    ),
]

SORT = Module(names("radix_sort", "merge_sort", "radix_rank", "histogram"))
LESS = "[](V x, V y) { return x < y; }"
for one, body, sort in (
    ("sorted_up", "C(s).Sort(v);", np.sort),
    ("sorted_down", "C(s).SortDescending(v);", lambda a: np.sort(a)[::-1]),
):
    for type_ in ("int", "float"):
        text = collective("BlockRadixSort<V, T, I>", f"{body} STORE(v);")
        SORT.cases.append(Case(f"{one}_{type_}", text, sort, items=3, type=type_))
SORT.cases += [
    Case(
        "sorted_pairs",
        "    int w[I]; for (int i = 0; i < I; i++) w[i] = t * I + i;\n"
        + collective("BlockRadixSort<V, T, I, int>", "C(s).Sort(v, w); STORE(w);"),
        lambda a: np.argsort(a, kind="stable"),
        items=3,
    ),
    Case(  # it reads the word behind the last key, and makes no use of it
        "merged",
        collective("BlockMergeSort<V, T, I>", f"C(s).Sort(v, {LESS}); STORE(v);"),
        np.sort,
        items=3,
        checked=False,
    ),
]


def ranks(order):
    """The rank of each key, with equal ones in the order of `order`."""

    def found(a):
        place = order(np.arange(len(a)))
        rank = np.empty(len(a), int)
        rank[place[np.argsort(a[place], kind="stable")]] = np.arange(len(a))
        return rank

    return found


def by_warps(a):
    """Items of the threads in the order of warps, by which each takes every 32nd."""
    return a.reshape(-1, 32, 3).transpose(0, 2, 1).reshape(-1)


for one, order in (("", lambda a: a), ("Match", by_warps), ("MatchEarlyCounts", by_warps)):
    text = collective(
        f"BlockRadixRank{one}<T, 5, false>",
        """unsigned key[I]; int rank[I]; for (int i = 0; i < I; i++) key[i] = v[i];
    C(s).RankKeys(key, rank, cub::BFEDigitExtractor<unsigned>(0, 5)); STORE(rank);""",
    )
    SORT.cases.append(Case(f"rank_{one.lower()}", text, ranks(order), items=3, most=32))
for one in ("ATOMIC", "SORT"):
    text = collective(
        f"BlockHistogram<V, T, I, 64, cub::BLOCK_HISTO_{one}>",
        """__shared__ unsigned counts[64]; C(s).Histogram(v, counts); __syncthreads();
    out[b * 64 + t] = counts[t];""",
    )
    SORT.cases.append(
        Case(
            f"histogram_{one.lower()}",
            text,
            lambda a: np.bincount(a, minlength=64),
            items=3,
            most=64,
            type="unsigned char",
            out="unsigned",
        )
    )

LOAD = Module(names("load", "store"))
ALGORITHMS = (
    *("DIRECT", "VECTORIZE", "TRANSPOSE", "STRIPED"),
    *("WARP_TRANSPOSE", "WARP_TRANSPOSE_TIMESLICED"),
)
LOAD_AND_STORE = """
    using L = cub::BlockLoad<V, T, I, cub::BLOCK_LOAD_{0}>;
    using S = cub::BlockStore<V, T, I, cub::BLOCK_STORE_{0}>;
    __shared__ union {{ typename L::TempStorage load; typename S::TempStorage store; }} s;
    L(s.load).Load(in + b * T * I, v{1}); __syncthreads();
    for (int i = 0; i < I; i++) v[i] += 1;
    S(s.store).Store(out + b * T * I, v);
"""
for one in ALGORITHMS:
    for type_ in ("int", "unsigned char", "double"):
        name = f"load_{one.lower()}_{type_.split()[-1]}"
        text = LOAD_AND_STORE.format(one, "")
        LOAD.cases.append(Case(name, text, lambda a: a + 1, items=4, type=type_, most=200))
LOAD.cases.append(
    Case(
        "load_guarded",
        LOAD_AND_STORE.format("WARP_TRANSPOSE", ", T * I - 7, 4"),
        lambda a: np.append(a[:-7], [4] * 7) + 1,
        items=4,
    )
)

NEIGHBOURS = Module(names("discontinuity", "adjacent_difference", "exchange", "shuffle"))
DIFFER = "[](V x, V y) { return x != y; }"


def heads(a):
    return np.append(1, a[1:] != a[:-1])


NEIGHBOURS.cases += [
    Case(
        "heads",
        collective("BlockDiscontinuity<V, T>", f"int f[I]; C(s).FlagHeads(f, v, {DIFFER});")
        + "STORE(f);",
        heads,
        items=3,
        most=3,
    ),
    Case(
        "heads_and_tails",
        collective(
            "BlockDiscontinuity<V, T>",
            f"""int f[I], g[I]; C(s).FlagHeadsAndTails(f, g, v, {DIFFER});
    for (int i = 0; i < I; i++) f[i] += 2 * g[i];
    STORE(f);""",
        ),
        lambda a: heads(a) + 2 * heads(a[::-1])[::-1],
        items=3,
        most=3,
    ),
    Case(
        "differences",
        collective(
            "BlockAdjacentDifference<V, T>",
            "C(s).SubtractLeft(v, v, [](V x, V y) { return x - y; }); STORE(v);",
        ),
        lambda a: np.diff(a, prepend=0),
        items=3,
    ),
    Case(
        "to_striped",
        collective("BlockExchange<V, T, I>", "C(s).BlockedToStriped(v, v); STORE(v);"),
        lambda a: a.reshape(3, 64).T.reshape(-1),
        items=3,
    ),
    Case(
        "to_blocked",
        collective("BlockExchange<V, T, I>", "C(s).StripedToBlocked(v, v); STORE(v);"),
        lambda a: a.reshape(64, 3).T.reshape(-1),
        items=3,
    ),
    Case(
        "to_warps_and_back",
        collective(
            "BlockExchange<V, T, I>",
            """C(s).BlockedToWarpStriped(v, v); __syncthreads();
    C(s).WarpStripedToBlocked(v, v); STORE(v);""",
        ),
        lambda a: a,
        items=3,
    ),
    Case(
        "scattered",
        collective(
            "BlockExchange<V, T, I>",
            """int r[I]; for (int i = 0; i < I; i++) r[i] = T * I - 1 - (t * I + i);
    C(s).ScatterToBlocked(v, v, r); STORE(v);""",
        ),
        lambda a: a[::-1],
        items=3,
    ),
    Case(
        "shifted",
        collective("BlockShuffle<V, T>", "V w[I]; w[0] = -1; C(s).Up(v, w); STORE(w);"),
        lambda a: np.append(-1, a[:-1]),
        items=3,
    ),
    Case(
        "rotated",
        collective("BlockShuffle<V, T>", "C(s).Rotate(v[0], v[0], 5); STORE(v);"),
        lambda a: np.roll(a, -5),
    ),
]
