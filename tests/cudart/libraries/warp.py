"""CUB's collectives of a warp, cooperative groups, and the instructions of a warp."""

import numpy as np

from tests.cudart.libraries.case import Case, Module

CUB = Module(tuple(f"cub/warp/warp_{one}.cuh" for one in (
    "reduce", "scan", "merge_sort", "exchange", "load", "store")))  # fmt: skip


def collective(kind, lanes, body):
    storage = f"__shared__ typename C::TempStorage s[T / {lanes}];"
    return f"    using C = cub::{kind}; {storage} const int w = t / {lanes};\n    {body}"


def rows(function, lanes):
    """A function of the values of each group of lanes."""
    return lambda a: np.concatenate([np.asarray(function(row)) for row in a.reshape(-1, lanes)])


def heads_of_8(a):
    sums = a.reshape(-1, 8).sum(1)
    return (sums[:, None] * (np.arange(8) == 0)).reshape(-1)


LESS = "[](V x, V y) { return x < y; }"
for lanes in (8, 32):
    CUB.cases += [
        Case(
            f"warp_sum_{lanes}",
            collective(
                f"WarpReduce<V, {lanes}>",
                lanes,
                f"V x = C(s[w]).Sum(v[0]); if (t % {lanes} == 0) out[(b * T + t) / {lanes}] = x;",
            ),
            rows(lambda a: [a.sum()], lanes),
        ),
        Case(
            f"warp_scan_{lanes}",
            collective(
                f"WarpScan<V, {lanes}>", lanes, "C(s[w]).InclusiveSum(v[0], v[0]); STORE(v);"
            ),
            rows(np.cumsum, lanes),
        ),
    ]
CUB.cases += [
    Case(
        "warp_segments",
        collective(
            "WarpReduce<V>",
            32,
            """V x = C(s[w]).HeadSegmentedSum(v[0], t % 8 == 0);
    v[0] = t % 8 == 0 ? x : 0; STORE(v);""",
        ),
        heads_of_8,
    ),
    Case(  # it reads the word behind the last key, and makes no use of it
        "warp_merged",
        collective("WarpMergeSort<V, I, 16>", 16, f"C(s[w]).Sort(v, {LESS}); STORE(v);"),
        rows(np.sort, 48),
        items=3,
        checked=False,
    ),
    Case(
        "warp_to_blocked",
        collective("WarpExchange<V, I, 16>", 16, "C(s[w]).StripedToBlocked(v, v); STORE(v);"),
        rows(lambda a: a.reshape(16, 3).T.reshape(-1), 48),
        items=3,
    ),
]
for one in ("DIRECT", "VECTORIZE", "TRANSPOSE", "STRIPED"):
    CUB.cases.append(
        Case(
            f"warp_load_{one.lower()}",
            f"""
    using L = cub::WarpLoad<V, I, cub::WARP_LOAD_{one}, 16>;
    using S = cub::WarpStore<V, I, cub::WARP_STORE_{one}, 16>;
    __shared__ typename L::TempStorage load[T / 16];
    __shared__ typename S::TempStorage store[T / 16];
    const int w = t / 16, begin = (b * T + w * 16) * I;
    L(load[w]).Load(in + begin, v);
    S(store[w]).Store(out + begin, v);
""",
            lambda a: a,
            items=4,
        )
    )

GROUPS = Module(
    (
        *("cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h"),
        "cooperative_groups/memcpy_async.h",
    ),
    more="namespace cg = cooperative_groups;\n",
)
TILE = "    auto g = cg::tiled_partition<{}>(cg::this_thread_block());\n"


def of_odd(a):
    odd = a % 2 == 1
    found = a.copy()
    found[odd] = a[odd].sum() + np.arange(odd.sum())
    return found


def largest_of_label(a):
    return [a[a % 3 == one % 3].max() for one in a]


def mixed(a):
    lane = np.arange(8)
    down = a[np.where(lane + 2 < 8, lane + 2, lane)]
    return a[lane ^ 3] + down + (a > 900).any() + ((a > 500) << lane).sum()


GROUPS.cases += [
    Case(
        "group_sum",
        TILE.format(16) + "    v[0] = cg::reduce(g, v[0], cg::plus<int>()); g.sync(); STORE(v);",
        rows(lambda a: [a.sum()] * 16, 16),
    ),
    Case(
        "group_scan",
        TILE.format(32) + "    v[0] = cg::inclusive_scan(g, v[0], cg::plus<int>()); STORE(v);",
        rows(np.cumsum, 32),
    ),
    Case(
        "coalesced",
        """
    if (v[0] & 1) {
        auto g = cg::coalesced_threads();
        v[0] = cg::reduce(g, v[0], cg::plus<int>()) + g.thread_rank();
    }
    STORE(v);""",
        rows(of_odd, 32),
    ),
    Case(
        "labeled",
        TILE.format(32)
        + """    auto h = cg::labeled_partition(g, v[0] % 3);
    v[0] = cg::reduce(h, v[0], cg::greater<int>()); STORE(v);""",
        rows(largest_of_label, 32),
    ),
    Case(
        "halves",
        TILE.format(32) + "    v[0] = cg::binary_partition(g, v[0] % 2).size(); STORE(v);",
        rows(lambda a: [(a % 2 == one % 2).sum() for one in a], 32),
    ),
    Case(
        "exchanged",
        TILE.format(8)
        + """    v[0] = g.shfl_xor(v[0], 3) + g.shfl_down(v[0], 2) + g.any(v[0] > 900)
        + g.ballot(v[0] > 500);
    STORE(v);""",
        rows(mixed, 8),
    ),
    Case(
        "elected",
        TILE.format(32) + "    v[0] = cg::invoke_one_broadcast(g, [&] { return v[0]; }); STORE(v);",
        rows(lambda a: [a[0]] * 32, 32),
    ),
    Case(
        "of_cluster",
        """
    __shared__ V s[T]; s[t] = v[0];
    auto c = cg::this_cluster(); c.sync();
    v[0] = s[T - 1 - t] + c.block_rank(); STORE(v);""",
        lambda a: a[::-1],
    ),
    Case(
        "copied",
        """
    __shared__ V s[T];
    auto g = cg::this_thread_block();
    cg::memcpy_async(g, s, in + b * T, sizeof(V) * T); cg::wait(g);
    v[0] = s[T - 1 - t]; STORE(v);""",
        lambda a: a[::-1],
    ),
    Case(
        "of_grid",
        """
    auto g = cg::this_grid();
    out[g.thread_rank()] = v[0]; g.sync();
    int other = out[g.size() - 1 - g.thread_rank()]; g.sync();
    out[g.thread_rank()] = other;""",
        lambda a: a[::-1],
        threads=128,
        blocks=1,
    ),
]


def families(a):
    equal = (a[:, None] % 4 == a % 4) @ (1 << np.arange(32, dtype=np.int64))
    return (a.sum() + 3 * equal).astype(np.uint32).view(np.int32)


def bits(a):
    lane = np.arange(32)
    low = a & 0xFFFF | lane << 16
    return (a ^ low ^ a >> 3 & 15 ^ (1 << lane) - 1).astype(np.uint32).view(np.int32)


def bytes_of(a):
    return a.astype("<u4").view(np.uint8).reshape(-1, 4).astype(int)


def differences(a):
    dot = bytes_of(a).astype(np.int8) @ [4, 3, 2, 1] + 7
    apart = abs(bytes_of(a) - [0x40, 0x30, 0x20, 0x10])
    return dot + apart @ (1 << np.array([0, 8, 16, 24])) + apart.sum(1)


INSTRUCTIONS = Module(
    (),
    [
        Case(
            "families",
            """
    int all; unsigned same = __match_all_sync(~0u, v[0], &all);
    v[0] = __reduce_add_sync(~0u, v[0]) + 3 * __match_any_sync(~0u, v[0] & 3) + same + all;
    STORE(v);""",
            rows(families, 32),
        ),
        Case(
            "assembly",
            """
    unsigned r, q, l, m;
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(v[0]), "r"(t % 32));
    asm("bfe.u32 %0, %1, 3, 4;" : "=r"(q) : "r"(v[0]));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(l) : "r"(v[0]), "r"(r), "r"(q));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
    v[0] = l ^ m; STORE(v);""",
            rows(bits, 32),
        ),
        Case(
            "bytes",
            """
    v[0] = __dp4a(v[0], 0x01020304, 7) + __vabsdiffu4(v[0], 0x10203040)
        + __vsadu4(v[0], 0x10203040);
    STORE(v);""",
            differences,
        ),
        Case(
            "numbers_of_warps",
            """
    unsigned w; asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(w));
    __nanosleep(10); v[0] += w; STORE(v);""",
            lambda a: a + 3,
            threads=80,
        ),
    ],
)
