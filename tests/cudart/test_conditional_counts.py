"""Accesses of short branches, which a compiler makes conditional: a card's counts of them."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs/machines.md").read_text("utf-8").split())


def test_inactive_warps_take_no_wavefronts():
    """Requests of instructions with a predicate are null: the profiler counts inactive warps."""
    files = (ROOT / f"benchmarks/results/cuda-c/{one}.json" for one in ("counters", "unseen"))
    launches = [one for file in files for one in json.loads(file.read_text("utf-8"))["launches"]]
    lines = [line for one in launches for line in one["lines"] if line["-O3"][0] is None]
    shared = [line for line in lines if line["access"].startswith("shared")]
    same = [line for line in shared if line["-O3"][1:] == line["model"][1:]]
    assert f"of {len(shared)} lines with such accesses to shared memory {len(same)} have" in PAGE
    rows = json.loads((ROOT / "benchmarks/results/gpu/counters.json").read_text("utf-8"))["rows"]
    (row,) = (
        one
        for one in rows
        if one["program"].endswith("rap_cuda:cuda_as_printed") and one["kind"] == "read"
        and one["memory"] == "shared"
    )  # fmt: skip
    counted = f"{row['hardware']} wavefronts, not more than the model's {row['model']}, were"
    assert counted in PAGE
