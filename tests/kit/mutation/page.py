"""The tables of docs/mutation.md, made of the kept results.

python -m tests.kit.mutation.page benchmarks/results/mutation.json docs/mutation.md
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.kit import ROOT
from tests.kit.mutation.forge import file_of
from tests.kit.mutation.kept import read
from tests.kit.mutation.sample import RULES, Name, explanations, judged

BEGIN = "<!-- the tables: make mutate writes them -->"
END = "<!-- the end of the tables -->"
HOLDS = {
    "messages": r"pytest\.raises\([^)]*match|\.message|LanguageError|refus",
    "pages and figures": r"\.md\"|docs\b|figure|html",
    "files": r"tmp_path|pickle|cache_dir|CACHE_DIR",
    "processes": r"subprocess|multiprocessing|Popen",
    "GPU results": r"results/gpu|h100|h200|counted|cupy|nvcc",
    "compiled C": r"emulated_gpu|compile_c|\bcc\b",
    "random programs": r"hypothesis|random_\w+|draws",
    "compiled code": r"numba\.config|compiled",
    "findings": r"race|finding|checker",
}
"""The subjects of a file of tests besides numbers, by words in its text."""


def cover(kills: Mapping[str, frozenset[str]], cost: Mapping[str, float]) -> list[str]:
    """Files of tests that together find every mutant that any finds: the greatest part first.

    Greedy: the next file finds most of the mutants that are left, of equals the quickest.

    >>> kills = {"a": frozenset("12"), "b": frozenset("23"), "c": frozenset("123")}
    >>> cover(kills, {"a": 1, "b": 1, "c": 9})
    ['c']
    """
    left = frozenset().union(*kills.values())
    found = []
    while left:
        best = min(kills, key=lambda file: (-len(kills[file] & left), cost.get(file, 0.0), file))
        found.append(best)
        left -= kills[best]
    return found


def kills_of(document: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """The mutants that each file of tests found."""
    found: dict[str, set[str]] = {file: set() for file in document["files"]}
    for entry in document["mutants"]:
        for test, _ in entry["killed"]:
            found.setdefault(file_of(test), set()).add(entry["key"])
    return {file: frozenset(keys) for file, keys in found.items()}


def unneeded(document: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Files of tests that the cover does without: the mutants that they found, and let pass."""
    kills = {file: keys for file, keys in kills_of(document).items() if file.startswith("tests/")}
    needed = set(cover(kills, document["costs"]))
    for file in sorted(kills):
        if file not in needed:
            let = sum(file in (*one["passed"], *one["partly"]) for one in document["mutants"])
            yield file, len(kills[file]), let


def held(text: str) -> str:
    """The other subjects of a file of tests."""
    return ", ".join(what for what, words in HOLDS.items() if re.search(words, text)) or "-"


def rooms(document: Mapping[str, Any], reasons: Mapping[Name, str]) -> Iterator[str]:
    """The table of the rooms."""
    yield (
        "| room | modules | mutants there are | of lines that a test reaches | tried | killed "
        "| timed out | explained | no test yet | survived |"
    )
    yield "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    total: Counter[str] = Counter()
    for room, size in document["rooms"].items():
        row: Counter[str] = Counter(size)
        for entry in document["mutants"]:
            if entry["room"] == room:
                row["tried"] += 1
                row[judged(entry["verdict"], name_of(entry), reasons)] += 1
        total += row
        title = "the model's rules, by hand" if room == RULES else f"`{room}`"
        yield _row(title, row)
    yield _row("all", total)


def _row(title: str, row: Mapping[str, int]) -> str:
    columns = (
        "modules", "mutants", "reached", "tried",
        "killed", "timed out", "explained", "untested", "survived",
    )  # fmt: skip
    return f"| {title} | " + " | ".join(f"{row[column]:,}" for column in columns) + " |"


def name_of(entry: Mapping[str, Any]) -> Name:
    return entry["room"], entry["where"], entry["line"], entry["mutant"]


def survivors(document: Mapping[str, Any], reasons: Mapping[Name, str]) -> Iterator[str]:
    """The table of survivors with their reasons."""
    yield "| room, function | line | became | why it may |"
    yield "| --- | --- | --- | --- |"
    for entry in document["mutants"]:
        if entry["verdict"] == "survived":
            line, mutant = (_code(entry[part]) for part in ("line", "mutant"))
            why = reasons.get(name_of(entry), "")
            where = entry["where"] or "the top"
            yield f"| {entry['room']}, `{where}` | {line} | {mutant} | {why} |"


def _code(text: str) -> str:
    ticks = "``" if "`" in text else "`"
    return ticks + text.replace("|", "\\|") + ticks


def tables(document: Mapping[str, Any], reasons: Mapping[Name, str], root: Path) -> str:
    """All tables, with the sentences between them."""
    made, mutants = document["made"], document["mutants"]
    all_tried = all(one["matrix"] for one in mutants)
    needed = cover(kills_of(document), document["costs"])
    rows = list(unneeded(document))
    shorter = [_short(file) for file in needed]
    lines = [
        f"These are the results of {made['date'][:10]}, of `{made['command']}`, with the seed "
        f"{made['seed']} and {made['each']} mutants of each room.",
        "",
        *rooms(document, reasons),
        "",
        "### Survivors",
        "",
        *survivors(document, reasons),
        "",
        "### Files of tests that the others do without",
        "",
        "All files of tests were tried on each mutant."
        if all_tried
        else "Files were tried on each mutant until one found it, the quickest test first: another "
        "may find it too. `--matrix` tries all.",
        f"{len(needed)} files found all mutants that any file found, doctests of the modules among "
        "them:",
        "",
        ", ".join(shorter) + ".",
        "",
        f"These {len(rows)} were not needed for that. *found* counts the mutants that a file found "
        "as well, *let pass* those that its tests reach without noticing, in their time. "
        "Where both are 0, the file tests other rooms or what the tests share, or its tests take "
        "too long or start processes, or quicker ones found all that it reaches. The last column "
        "says what else a file holds, by words in its text: mutants don't show whether that is "
        "tested twice.",
        "",
        "| file | found | let pass | holds besides |",
        "| --- | --: | --: | --- |",
    ]
    for file, found, let in rows:
        path = root / file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines.append(f"| {_short(file)} | {found} | {let} | {held(text)} |")
    return "\n".join(lines)


def _short(file: str) -> str:
    return f"`{file.removeprefix('tests/')}`"


def written(page: str, document: Mapping[str, Any], reasons: Mapping[Name, str], root: Path) -> str:
    """The page with the tables in their place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(document, reasons, root)}\n{END}{after}"


def main(arguments: Sequence[str]) -> None:
    """Write the tables into the page."""
    kept, page = map(Path, arguments)
    reasons = explanations(ROOT / "tests/kit/mutation/explained.toml")
    text = page.read_text(encoding="utf-8")
    page.write_text(written(text, read(kept), reasons, ROOT), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
