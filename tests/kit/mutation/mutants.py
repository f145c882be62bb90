"""The mutants of a module: its text with one small change each.

Cosmic Ray makes the changes; `OPERATORS` names those of its operators that are used, and the four
classes below add to them. Nothing is changed in annotations, in the text of an error, in `__repr__`
or below `if TYPE_CHECKING`, because none of them is a rule.
"""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.boolean_replacer import AddNot
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.tree import NodeOrLeaf

Position = tuple[int, int]  # line from 1, column from 0

COMPARISONS = "Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Eq_NotEq NotEq_Eq"
ARITHMETIC = (
    "Add_Sub Sub_Add Mul_Add FloorDiv_Mul Mod_FloorDiv Pow_Mul RShift_LShift LShift_RShift "
    "BitOr_BitAnd BitAnd_BitOr BitXor_BitOr"
)
CORE = (
    *(
        f"core/ReplaceComparisonOperator_{pair}"
        for pair in f"{COMPARISONS} Is_IsNot IsNot_Is".split()
    ),
    *(f"core/ReplaceBinaryOperator_{pair}" for pair in ARITHMETIC.split()),
    *(f"core/ReplaceUnaryOperator_Delete_{sign}" for sign in ("Not", "USub", "Invert")),
    "core/AddNot",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/ExceptionReplacer",
    "core/ZeroIterationForLoop",
)


class _Swap(Operator):
    """Another word for a word."""

    words: ClassVar[dict[str, str]]

    def mutation_positions(self, node):
        if getattr(node, "value", None) in self.words:
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = self.words[node.value]
        return node

    @classmethod
    def examples(cls):
        return ()


class ChangeNumber(Operator):
    """1 for 0, and for any other number the one before."""

    def mutation_positions(self, node):
        if node.type == "number":
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = str(int(node.value, 0) - 1 if int(node.value, 0) else 1)
        return node

    @classmethod
    def examples(cls):
        return ()


class SwapAugmented(_Swap):
    """`+=` for `-=` and the like."""

    words: ClassVar = {
        "+=": "-=",
        "-=": "+=",
        "*=": "+=",
        ">>=": "<<=",
        "|=": "&=",
        "&=": "|=",
        "^=": "|=",
    }


class SwapExtremes(_Swap):
    """`min` for `max`, and the other way round."""

    words: ClassVar = {"min": "max", "max": "min"}


class RemoveStatement(Operator):
    """`pass` for a call, an augmented assignment, or one to a field or an element."""

    def mutation_positions(self, node):
        if node.type != "simple_stmt" or node.children[0].type not in ("expr_stmt", "atom_expr"):
            return
        (statement,) = ast.parse(node.get_code(include_prefix=False)).body
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Tuple()]) | ast.AnnAssign():
                return
        yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        return parso.parse(node.get_first_leaf().prefix + "pass\n")

    @classmethod
    def examples(cls):
        return ()


OPERATORS = (ChangeNumber, SwapAugmented, SwapExtremes, RemoveStatement)


@dataclass(frozen=True)
class Mutant:
    """A module's text with one change: `line` of the function `where` became `mutant`.

    A change over several lines has them joined by a space. `number` is the line's.
    """

    module: str
    number: int
    where: str
    line: str
    mutant: str
    text: str


def mutants(
    module: str, source: str, only: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> Iterator[Mutant]:
    """The mutants of a module, `only` in these functions and classes, or `without` these."""
    tree = ast.parse(source)
    lines = source.splitlines()
    skipped = list(_skipped(tree, lines))
    seen = {ast.dump(tree)}
    parsed = get_ast(source)
    kept = pickle.dumps(parsed)  # sooner copied than parsed again
    for operator, number, index, (start, end) in _changes(parsed):
        where = scope(tree, start[0])
        if any(first <= start < last for first, last in skipped):
            continue
        if (only and not _within(where, only)) or _within(where, without):
            continue
        if isinstance(operator, AddNot) and _is_comparison(lines, start, end):
            continue  # changed as a comparison
        text = _changed(pickle.loads(kept), operator, number, index)
        try:
            dump = ast.dump(ast.parse(text))
        except SyntaxError:
            continue
        if dump not in seen:
            seen.add(dump)
            line, mutant = difference(source, text)
            yield Mutant(module, start[0], where, line, mutant, text)


def _changes(parsed: NodeOrLeaf) -> Iterator[tuple[Operator, int, int, tuple[Position, Position]]]:
    """An operator, the number of a node, which of its changes there, and from where to where."""
    nodes = list(ast_nodes(parsed))
    for operator in [*(get_operator(name)() for name in CORE), *(kind() for kind in OPERATORS)]:
        for number, node in enumerate(nodes):
            for index, place in enumerate(operator.mutation_positions(node)):
                yield operator, number, index, place


def _changed(parsed: NodeOrLeaf, operator: Operator, number: int, index: int) -> str:
    """The text with that change."""
    node = list(ast_nodes(parsed))[number]
    siblings = node.parent.children
    place = next(i for i, sibling in enumerate(siblings) if sibling is node)
    siblings[place] = operator.mutate(node, index)
    return parsed.get_code()


def _is_comparison(lines: list[str], start: Position, end: Position) -> bool:
    if start[0] != end[0]:
        return False
    condition = ast.parse(lines[start[0] - 1][start[1] : end[1]].strip(), mode="eval").body
    return isinstance(condition, ast.Compare) or (
        isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)
    )


def _skipped(tree: ast.AST, lines: list[str]) -> Iterator[tuple[Position, Position]]:
    """From where to where nothing is changed."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        match node:
            case ast.FunctionDef(name="__repr__") | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                parts = [node]
            case ast.FunctionDef():
                parts = [node.returns]
            case ast.arg() | ast.AnnAssign():
                parts = [node.annotation]
            case ast.Raise():
                parts = [node]
        for part in parts:
            if part is not None:
                first = lines[part.lineno - 1].encode()[: part.col_offset].decode()
                last = lines[part.end_lineno - 1].encode()[: part.end_col_offset].decode()
                yield (part.lineno, len(first)), (part.end_lineno, len(last))


def scope(tree: ast.AST, line: int) -> str:
    """The dotted name of the innermost function or class around a line, "" at the top."""
    for node in ast.iter_child_nodes(tree):
        if hasattr(node, "lineno") and node.lineno <= line <= node.end_lineno:
            inner = scope(node, line)
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                return f"{node.name}.{inner}" if inner else node.name
            return inner
    return ""


def _within(where: str, names: tuple[str, ...]) -> bool:
    return any(where == name or where.startswith(f"{name}.") for name in names)


def difference(before: str, after: str) -> tuple[str, str]:
    """The lines in which two texts differ, stripped and joined by a space."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return tuple(" ".join(line.strip() for line in lines) for lines in (old, new))
