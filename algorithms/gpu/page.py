"""The page about the model and a real GPU, made from the kept results.

`python -m mmsim_algorithms.gpu.page` prints the page docs/metal.md. With a folder it writes
metal.md and metal-counters.md there and the figures to figures/ in it:
`python -m mmsim_algorithms.gpu.page docs`. No GPU
is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from mmsim.gpu.record import Record
from mmsim.gpu.replay import SAMPLES
from mmsim_algorithms.gpu import (
    page_atomics,
    page_banks,
    page_cache,
    page_cached,
    page_counters,
    page_counts,
    page_field,
    page_global,
    page_machine,
    page_shared,
    page_tiles,
)
from mmsim_algorithms.gpu.cfp_rap_tables import REPEAT, N
from mmsim_algorithms.gpu.kept import Results
from mmsim_algorithms.gpu.markdown import bullets, listed, paragraph, table
from mmsim_algorithms.gpu.page_figures import figures

HEAD = """\
# The model and the metal

<!-- Made by `make metal` from benchmarks/results/gpu; change `algorithms/gpu`, not this page. -->
"""


def page(results: Results) -> str:
    """The text of docs/metal.md."""
    return "\n".join(
        (
            HEAD,
            _compared(results),
            page_machine.section(results),
            page_shared.section(results),
            page_global.section(results),
            page_counts.counters(results),
            *page_banks.banks(results),
            *page_tiles.tiles(results),
            *page_atomics.atomics(results),
            *page_field.field(results),
            *page_cache.cache(results),
            *page_cache.kernels(results),
            *page_cached.cached(results),
            page_counts.random_programs(results),
            _not_covered(results),
        )
    )


# ------------------------------------------------------------ what is compared


def _compared(results: Results) -> str:
    records = results.records.values()
    device, driver, cuda = (
        listed(dict.fromkeys(str(record.facts[name]) for record in records))
        for name in ("device", "driver", "cuda")
    )
    days = [str(record.facts["date"])[:10] for record in records]
    when = listed(dict.fromkeys((min(days), max(days))))
    return "\n".join(
        (
            paragraph(
                f"""A model is worth what it predicts. Three papers measured their algorithms on
                GPUs of their time: CFP (conflict-free permutation), RAP (random address
                permute-shift) and ICPP (International Conference on Parallel Processing). Here the
                same programs ran on one {device} (driver {driver}, CUDA {cuda}) on {when}, and on
                machines of the model with the card's numbers. Every number below is computed from
                the kept results in [benchmarks/results](../benchmarks/results): `gpu` has the
                results of this card, `cached` the predictions of the machine with a cache, `h200`
                and `h100` the results of other cards, which the page names."""
            ),
            "## What is compared, and how\n",
            bullets(
                (
                    """The programs are written once, in [the language](language.md). `Program.cuda`
                    writes them as CUDA C for the card; the model runs them as they are, under the
                    asynchronous schedule.""",
                    f"""In shared memory a block of {N} threads repeats the program {REPEAT} times
                    inside the kernel, and `clock64()` is read before and after. A time is the clock
                    cycles of one repetition, the median of {SAMPLES} launches.""",
                    f"""In global memory two CUDA events enclose a launch, or all launches of one
                    algorithm. Before them the GPU writes to an array three times as long as its L2
                    cache, so that none of the data is left there. A time is the median of
                    {SAMPLES}, in milliseconds. The time contains neither the copying to the card
                    nor the planning of the scheduled permutation.""",
                    """Every array that a timed permutation writes in global memory is checked.""",
                    """The error is predicted/measured - 1: below zero the model is too fast. The
                    mean absolute error is the mean of its absolute values over cells, the mean
                    error keeps their signs. However much too fast a model is, its error can't pass
                    the whole time. So a factor stands next to it for the machine with a cache:
                    exp of the mean of |log(predicted/measured)|. Half the time counts as much as
                    twice the time.""",
                    """No number of a machine is fitted to a predicted cell. Three small programs
                    measure the numbers of the next section, and the microbenchmarks those of the
                    [machine with a cache](#a-machine-with-a-cache). But people chose the rules.
                    The files don't show when they chose those of the plain machines, such as the
                    two half-warps for words of 8 bytes. The machine with a cache has chosen
                    numbers, too, and rules that came after a look at predictions.""",
                    """A measurement has a date. The predictions next to it in `gpu` were made with
                    it or after it, as the tables below say. Those in `cached` have a date only if
                    they are signed.""",
                )
            ),
            table(
                ("results", "command", "date"),
                (
                    (name, f"`{record.facts['command']}`", str(record.facts["date"]))
                    for name, record in results.records.items()
                ),
                texts=3,
            ),
            paragraph(_versions(records)),
            *(
                paragraph(
                    f"""The predictions of {name} were computed again at
                    {record.facts["predicted"]}, from the calibration kept with it, by `python -m
                    mmsim_algorithms.gpu.again`. Its measurements are unchanged."""
                )
                for name, record in results.records.items()
                if "predicted" in record.facts
            ),
        )
    )


def _versions(records: Iterable[Record]) -> str:
    names = {"ncu": "ncu (Nsight Compute)"}
    versions: dict[str, dict[str, None]] = {}
    for record in records:
        for name in ("mmsim", "cupy", "ncu", "hypothesis"):
            if name in record.facts:
                versions.setdefault(name, {})[str(record.facts[name])] = None
    return (
        "Versions: "
        + ", ".join(f"{names.get(name, name)} {listed(found)}" for name, found in versions.items())
        + "."
    )


def _not_covered(results: Results) -> str:
    atomic = "" if page_atomics.EXPERIMENT in results.records else "atomic operations, "
    return "\n".join(
        (
            "## What is not covered\n",
            bullets(
                (
                    """The papers' machines have no caches and no sectors, and a warp waits for each
                    request. Casual access to global memory on today's cards depends on all three.
                    The machine with a cache has them, but it has no pages of memory and no
                    first-level cache.""",
                    """Instructions cost nothing in the model. The papers' programs do little else
                    than access memory; others may.""",
                    """One card was measured, in one state, and two others where the page names
                    them. The driver set its clock. The papers' cards weren't measured again. Their
                    times are quoted as printed, next to the new ones.""",
                    """SMM (*Simple Memory Machine Models*) and IEICE (Institute of Electronics,
                    Information and Communication Engineers) print no times. RAP's Table IV and its
                    higher dimensions are simulated ([claims](claims.md)), but not timed here.""",
                    f"""Programs with data races, {atomic}and accesses that the first-level cache
                    serves are not covered: every access of the programs is volatile.""",
                )
            ),
        )
    )


# ------------------------------------------------------------ the command


def write(results: Results, folder: Path) -> None:
    """Write metal.md, metal-counters.md and figures/ into a folder."""
    drawn = folder / "figures"
    drawn.mkdir(parents=True, exist_ok=True)
    (folder / "metal.md").write_text(page(results), encoding="utf-8")
    (folder / "metal-counters.md").write_text(page_counters.counters(results), encoding="utf-8")
    for name, text in figures(results):
        (drawn / name).write_text(text, encoding="utf-8")


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
