"""Small machines `mm.Cached` of all kinds."""

from hypothesis import strategies as st

import mmsim as mm

FROM_0 = (
    *("sector_time", "cross_time", "memory_time", "fill_time", "row_time", "miss_latency"),
    *(
        "spread_latency",
        "cross_latency",
        "port_time",
        "wire_time",
        "page_time",
        "atomic_time",
        "line_time",
    ),
)
FROM_1 = ("tag_time", "shared_time", "channels", "banks", "row", "pages", "slices")


@st.composite
def cached_machines(draw, dmms, width, global_latency, shared_latency):
    """Small machines of all kinds, of which each number matters."""
    sectors = draw(st.sampled_from([one for one in (1, 2, 4) if width % one == 0]))
    halves, ways = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    bank_bytes = draw(st.sampled_from([None, None, 4]))
    line = width * (bank_bytes or 1)
    sets, own_sets = (draw(st.integers(0, most)) if line // sectors <= 32 else 0 for most in (3, 2))
    clusters = draw(st.sampled_from([None, 1, (1, dmms - 1)][: 2 + (dmms > 1)]))
    number = len(mm.Cached(dmms, 1, 1, clusters=clusters).clusters_of(dmms))
    return mm.Cached(
        *(dmms, width, global_latency, shared_latency, bank_bytes),
        **{name: draw(st.integers(0, 4)) for name in FROM_0},
        **{name: draw(st.integers(1, 3)) for name in FROM_1},
        sectors=sectors,
        under_way=draw(st.sampled_from([1, 2, 3, 6])),
        write_port_time=draw(st.none() | st.integers(0, 8)),
        write_wire_time=draw(st.none() | st.integers(0, 8)),
        float_time=draw(st.none() | st.integers(0, 8)),
        own_capacity=own_sets * line * ways,
        own_ways=ways,
        own_latency=draw(st.integers(1, 9)),
        near=draw(st.sampled_from([0, 0, 1, 5])),
        merges=draw(st.integers(0, 1)),
        unrolls=draw(st.integers(0, 1)),
        write_time=draw(st.sampled_from([None, 1, 3])),
        capacity=sets * line * ways * halves,
        ways=ways,
        halves=halves,
        fetch=draw(st.sampled_from([one for one in (1, 2) if sectors % one == 0])),
        resident=draw(st.sampled_from([None, 24, 32])),
        clusters=clusters,
        half_of=draw(st.none() | st.tuples(*(st.integers(0, halves - 1) for _ in range(number)))),
        page=line * draw(st.integers(0, 3)),
    )
