"""The mutants that are tried: of each room some, chosen by a rule that keeps its choice."""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kit.mutation.edits import Edit, Text, edits
from tests.kit.mutation.reach import Records, digest
from tests.kit.mutation.rules import RuleMutant, rule_mutants

ROOMS = ("model", "ir", "meaning", "engines", "frontend", "cuda_c")
SEED = 1
EACH = 40
"""Mutants of a room."""
WRITERS = ("cuda_c", "engines")
"""Rooms that write programs: operators in their strings are changed too."""
MOST = 4
"""Files of tests after which more make a line no likelier."""
FROM_FILE = r'resources\.files\(.*?\)\.joinpath\("(\w+\.cuh)"\)\.read_text\(.*?\)'
RULES = "rules"
"""The room of mutants that change several places: those of the model's rules."""

UNTESTED = "No test yet: "
"""The first words of the reason of a survivor that makes a difference, but to no test."""

Name = tuple[str, str, str, str]
"""A mutant's room, function, line, and what the line became."""


@dataclass(frozen=True)
class Mutant:
    """A change of a module of a room, or of a rule of the model.

    `code` is a digest of the function that is changed, which stays when other code moves.
    """

    room: str
    where: str
    line: str
    mutant: str
    nth: int
    kind: str
    path: str
    number: int
    code: str
    runs: tuple[tuple[str, int], ...]
    at_import: bool
    edit: Edit | RuleMutant

    @property
    def name(self) -> Name:
        return self.room, self.where, self.line, self.mutant

    @property
    def key(self) -> str:
        """A name for files, which says nothing of the place of the code."""
        return digest(*(part.encode() for part in (*self.name, str(self.nth))))[:16]

    def texts(self, root: Path) -> dict[Path, str]:
        """The changed texts of its modules."""
        if isinstance(self.edit, RuleMutant):
            return self.edit.texts(root)
        path = root / self.path
        return {path: text_of(path).changed(self.edit)}


def text_of(path: Path) -> Text:
    """The text of a module; its last lines have the CUDA C that it reads from a file."""

    def read(found: re.Match[str]) -> str:
        return f'"""{(path.parent / found[1]).read_text(encoding="utf-8")}"""'

    return Text(re.sub(FROM_FILE, read, path.read_text(encoding="utf-8")))


def modules(root: Path, room: str) -> Iterator[Path]:
    """The modules of a room, wherever they stand in it."""
    yield from sorted((root / "mmsim" / room).rglob("*.py"))


def bits(first: int, last: int) -> int:
    """The lines from the first to the last as bits.

    >>> bin(bits(1, 2))
    '0b110'
    """
    return (1 << last + 1) - (1 << first)


def code_of(text: Text, edit: Edit, named: Mapping[str, Sequence[ast.AST]]) -> str:
    """A digest of the function around a change, or of the statement at the top."""
    line = edit.pieces[0].start[0]
    nodes = [
        node
        for node in named[edit.where]
        if not edit.where or node.lineno <= line <= (node.end_lineno or 0)  # type: ignore[attr-defined]
    ]
    (node,) = nodes
    if not edit.where:
        assert isinstance(node, ast.Module)
        node = next(one for one in node.body if one.lineno <= line <= (one.end_lineno or 0))
    return digest(ast.dump(node).encode())[:12]


def of_module(root: Path, room: str, path: Path) -> Iterator[Mutant]:
    """All mutants of a module."""
    text = text_of(path)
    named = text.functions()
    short = str(path.relative_to(root))
    for edit in edits(text, room in WRITERS):
        first, last = edit.runs
        yield Mutant(
            room,
            edit.where,
            edit.line,
            edit.mutant,
            edit.nth,
            edit.kind,
            short,
            edit.pieces[0].start[0],
            code_of(text, edit, named),
            ((short, bits(first, last)),),
            edit.at_import,
            edit,
        )


def of_rules(root: Path) -> Iterator[Mutant]:
    """The mutants of the model's rules, which are written by hand."""
    file = root / "tests/kit/mutation/rule_mutants.toml"
    for one in rule_mutants(file) if file.exists() else ():
        if not any(edit.module.startswith("mmsim/") for edit in one.edits):
            continue  # a claim's own machine
        runs, codes = [], []
        for edit in one.edits:
            source = (root / edit.module).read_text(encoding="utf-8")
            for at in places(source, edit.old):
                first = source.count("\n", 0, at) + 1
                runs.append((edit.module, bits(first, first + edit.old.count("\n"))))
            codes.append(f"{edit.old}\n{edit.new}")
        module = one.edits[0].module
        code = digest(*(text.encode() for text in codes))[:12]
        yield Mutant(
            RULES, one.rule, one.name, one.name, 0, "rule", module, 0, code, tuple(runs), False, one
        )


def places(text: str, part: str) -> Iterator[int]:
    """The place at which a part begins in a text.

    >>> list(places("abab", "ab"))
    [0, 2]
    """
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def files_reaching(records: Records, mutant: Mutant) -> int:
    """The number of files of tests that reach a mutant, at most `MOST`."""
    found = 0
    for file, lines in records.of_files.items():
        if not file.startswith("tests/"):
            continue  # a module with doctests, which can move
        if mutant.at_import:
            found += any(path in lines for path, _ in mutant.runs)
        else:
            found += any(lines.get(path, 0) & run for path, run in mutant.runs)
    return min(found, MOST)


def rank(mutant: Mutant, weight: int, seed: int = SEED) -> float:
    """The place of a mutant in a draw without replacement by weights: the greatest come first.

    Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006. The number drawn is a
    digest of the mutant's text, so that a mutant keeps it whatever else changes.
    """
    if not weight:
        return -1.0
    drawn = int(hashlib.sha256(f"{seed} {mutant.key}".encode()).hexdigest()[:13], 16) / 16**13
    return float(drawn ** (1 / weight))


@dataclass
class Room:
    """The mutants of a room, and those chosen, in the order of the choice."""

    name: str
    modules: int
    mutants: int
    reached: int
    chosen: list[Mutant]


def chosen(root: Path, records: Records, rooms: Sequence[str], each: int) -> list[Room]:
    """The mutants to be tried: of each room the first `each` of a draw, and the rules'."""
    found = []
    for room in rooms:
        paths = list(modules(root, room))
        every = [mutant for path in paths for mutant in of_module(root, room, path)]
        ranked = []
        weights: dict[tuple[tuple[str, int], ...], int] = {}
        for mutant in every:
            at = (*mutant.runs, ("import", mutant.at_import))
            if at not in weights:
                weights[at] = files_reaching(records, mutant)
            ranked.append((rank(mutant, weights[at]), mutant.key, mutant))
        ranked.sort(key=lambda one: (-one[0], one[1]))
        reached = [mutant for number, _, mutant in ranked if number >= 0]
        found.append(Room(room, len(paths), len(every), len(reached), reached[:each]))
    rules = list(of_rules(root))
    found.append(Room(RULES, 0, len(rules), len(rules), rules))
    return found


def explanations(file: Path) -> dict[Name, str]:
    """Why a survivor is right, by its name."""
    return {
        (one["room"], one["where"], one["line"], mutant): one["why"]
        for one in tomllib.loads(file.read_text(encoding="utf-8")).get("survivor", [])
        for mutant in one["mutants"]
    }


def judged(verdict: str, name: Name, reasons: Mapping[Name, str]) -> str:
    """A verdict with the reason of a survivor: "explained", "untested", or still "survived"."""
    if verdict != "survived" or name not in reasons:
        return verdict
    return "untested" if reasons[name].startswith(UNTESTED) else "explained"
