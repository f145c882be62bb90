"""The page about the model and a real GPU, made from the kept results.

`python -m benchmarks.laboratory.page` prints the page docs/metal.md. With a folder it writes
metal.md and metal-counters.md there and the figures to figures/ in it:
`python -m benchmarks.laboratory.page docs`. No GPU is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.laboratory import (
    atomics,
    cache,
    cached_machine,
    counters_page,
    counts,
    global_memory,
    shared_memory,
)
from benchmarks.laboratory.rendering import render
from mmsim.gpu.calibration import AT_ONCE
from mmsim.gpu.record import Record
from mmsim.gpu.replay import SAMPLES
from mmsim_algorithms.gpu.cfp_rap_tables import REPEAT, N
from mmsim_algorithms.gpu.comparisons import calibration_table
from mmsim_algorithms.gpu.figures import svg_of
from mmsim_algorithms.gpu.kept import Results
from mmsim_algorithms.gpu.markdown import listed, table
from mmsim_algorithms.gpu.permuting import WARP

TABLES = ("CFP-T2", "RAP-T3", "CFP-F7", "ICPP-T2", "ICPP-T3")
"""The experiments that measure a table or a figure of a paper, in the page's order."""


def page(results: Results) -> str:
    """The text of docs/metal.md."""
    return "\n".join(filter(None, (part(results) for part in PARTS)))


def compared(results: Results) -> str:
    """The head of the page: what is compared, and how."""
    records = results.records.values()
    device, driver, cuda = (
        listed(dict.fromkeys(str(record.facts[name]) for record in records))
        for name in ("device", "driver", "cuda")
    )
    days = [str(record.facts["date"])[:10] for record in records]
    lines = [
        (name, f"`{record.facts['command']}`", str(record.facts["date"]))
        for name, record in results.records.items()
    ]
    return render(
        "compared",
        device=device,
        driver=driver,
        cuda=cuda,
        days=dict.fromkeys((min(days), max(days))),
        threads=N,
        repeat=REPEAT,
        samples=SAMPLES,
        records=table(("results", "command", "date"), lines, texts=3),
        versions=_versions(records),
        again=[one for one in results.records.items() if "predicted" in one[1].facts],
    )


def _versions(records: Iterable[Record]) -> str:
    names = {"ncu": "ncu (Nsight Compute)"}
    versions: dict[str, dict[str, None]] = {}
    for record in records:
        for name in ("mmsim", "cupy", "ncu", "hypothesis"):
            if name in record.facts:
                versions.setdefault(name, {})[str(record.facts[name])] = None
    return ", ".join(f"{names.get(name, name)} {listed(of)}" for name, of in versions.items())


def machine(results: Results) -> str:
    """The card's machine and its calibration."""
    kept = [results.card, *(results.calibration(name) for name in TABLES)]
    groups = [one.group_ps for one in kept]
    latencies = [one.global_latency for one in kept]
    return render(
        "machine",
        at_once=AT_ONCE,
        numbers=calibration_table(results.card),
        card=results.card,
        group_bytes=4 * WARP,
        kept=len(kept),
        group_spread=max(groups) / min(groups) - 1,
        latency_spread=max(latencies) / min(latencies) - 1,
    )


def not_covered(results: Results) -> str:
    """The end of the page."""
    return render("not_covered", atomics="atomics" in results.records)


PARTS = (
    *(compared, machine, shared_memory.section, global_memory.section),
    *(counts.counters, counts.banks, counts.tiles, atomics.section, counts.field),
    *(cache.section, cache.kernels, cached_machine.section, counts.random_programs, not_covered),
)
"""The page's parts; each is a function of the results, and empty without its record."""


def write(results: Results, folder: Path) -> None:
    """Write metal.md, metal-counters.md and figures/ into a folder."""
    drawn = folder / "figures"
    drawn.mkdir(parents=True, exist_ok=True)
    (folder / "metal.md").write_text(page(results), encoding="utf-8")
    (folder / "metal-counters.md").write_text(counters_page.page(results), encoding="utf-8")
    for experiment in TABLES:
        text = svg_of(results, experiment)
        (drawn / f"metal-{experiment}.svg").write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page, or write it and its figures."""
    parser = argparse.ArgumentParser(description="Make the page about the model and a real GPU.")
    parser.add_argument("folder", nargs="?", type=Path, help="where the pages and figures/ go")
    asked = parser.parse_args(arguments)
    if asked.folder is None:
        print(page(Results.read()), end="")
    else:
        write(Results.read(), asked.folder)


if __name__ == "__main__":
    main()
