"""Small machines `mm.Cached` of all kinds."""

from __future__ import annotations

from hypothesis import strategies as st

import mmsim as mm


@st.composite
def cached_machines(draw, dmms, width, global_latency, shared_latency):
    """Small machines of all kinds, of which each number matters."""
    sectors = draw(st.sampled_from([one for one in (1, 2, 4) if width % one == 0]))
    halves, ways = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    bank_bytes = draw(st.sampled_from([None, None, 4]))
    line = width * (bank_bytes or 1)
    sets = draw(st.integers(0, 3)) if line // sectors <= 32 else 0
    times = st.integers(0, 4)
    clusters = draw(st.sampled_from([None, 1, (1, dmms - 1)][: 2 + (dmms > 1)]))
    number = len(mm.Cached(dmms, 1, 1, clusters=clusters).clusters_of(dmms))
    return mm.Cached(
        dmms,
        width,
        global_latency,
        shared_latency,
        bank_bytes,
        sectors=sectors,
        tag_time=draw(st.integers(1, 3)),
        sector_time=draw(times),
        cross_time=draw(times),
        memory_time=draw(times),
        fill_time=draw(times),
        row_time=draw(times),
        miss_latency=draw(times),
        cross_latency=draw(times),
        port_time=draw(times),
        wire_time=draw(times),
        write_port_time=draw(st.none() | st.integers(0, 8)),
        write_wire_time=draw(st.none() | st.integers(0, 8)),
        write_time=draw(st.sampled_from([None, 1, 3])),
        shared_time=draw(st.integers(1, 3)),
        capacity=sets * line * ways * halves,
        ways=ways,
        halves=halves,
        fetch=draw(st.sampled_from([one for one in (1, 2) if sectors % one == 0])),
        channels=draw(st.integers(1, 3)),
        banks=draw(st.integers(1, 3)),
        row=draw(st.integers(1, 3)),
        under_way=draw(st.integers(1, 3)),
        resident=draw(st.sampled_from([None, 24, 32])),
        clusters=clusters,
        half_of=draw(st.none() | st.tuples(*(st.integers(0, halves - 1) for _ in range(number)))),
        page=line * draw(st.integers(0, 3)),
        pages=draw(st.integers(1, 3)),
        page_time=draw(times),
        slices=draw(st.integers(1, 3)),
        atomic_time=draw(times),
    )
