"""The claims on a program's time, as JavaScript: the formulas, and when they hold."""

from __future__ import annotations

import ast
import inspect
import json
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import islice
from typing import Any

from mmsim.claims.claim import Claim, call_with
from mmsim.claims.launch import Repeated
from mmsim.claims.registry import registered
from mmsim.frontend.program import Program
from mmsim.host.plugins import registered_in

PROGRAMS = "mmsim.programs"
CASES = 12
"""The cases of a claim in which its parameters are looked for among the sizes of a launch."""
HELPERS = """\
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const isqrt = (x) => Math.floor(Math.sqrt(x));
"""
"""The functions of formulas and conditions in JavaScript."""
CALLS = {"gcd": "gcd", "isqrt": "isqrt", "min": "Math.min", "max": "Math.max", "log2": "Math.log2"}


class NoJavaScriptError(Exception):
    """A formula or a condition that isn't written in JavaScript here."""


@dataclass(frozen=True)
class Known:
    """A claim on a program's time.

    `data` is for the page; `formula` and `conditions` are texts of JavaScript.
    """

    data: dict[str, Any]
    formula: str
    conditions: list[str]


def in_javascript(known: list[Known]) -> str:
    """Return the definitions of FORMULAS and CONDITIONS, by the claims' ids."""
    formulas = [f"{json.dumps(one.data['id'])}: {one.formula}" for one in known]
    conditions = [f"{json.dumps(one.data['id'])}: [{', '.join(one.conditions)}]" for one in known]
    return (
        f"{HELPERS}const FORMULAS = {{ {', '.join(formulas)} }};\n"
        f"const CONDITIONS = {{ {', '.join(conditions)} }};\n"
    )


def claims_of(program: Program) -> list[Known]:
    """Return the registered claims on the time of this program alone, on its machines.

    There is at most one for each machine: an exact one, if there is one.
    """
    top = (program.function.__module__ or "").partition(".")[0]
    tops = {one.value.partition(":")[0].partition(".")[0] for one in entry_points(group=PROGRAMS)}
    if top not in tops:
        return []
    if not program.listed[1]:
        registered_in(PROGRAMS)
    family = program.listed[1].partition(".")[0]
    found: dict[str, Known] = {}
    for claim in registered() if family else ():
        if f"{claim.id}.".startswith(f"{family}.") and claim.quantity == "T" and not claim.printed:
            for one in _known(claim, program):
                machine = one.data["machine"]
                if machine not in found or claim.kind == "exact":
                    found.setdefault(machine, one)
    return list(found.values())


def _known(claim: Claim, program: Program) -> Iterator[Known]:
    """The claim for each machine on which it is about this program alone."""
    if claim.launches is None:
        return
    launches: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    for case in islice(claim.cases(), 400):
        made = list(call_with(claim.launches, case))
        if len(made) != 1 or isinstance(made[0], Repeated) or made[0].program is not program:
            return
        own = launches.setdefault(type(made[0].machine).__name__, [])
        if len(own) < CASES:
            own.append((case, made[0]))
    try:
        formula = _function(claim.parameters, _formula(claim))
        conditions = [condition(one.holds) for one in claim.requires]
    except NoJavaScriptError:
        return
    for machine, cases in launches.items():
        sources = {name: _source(name, cases) for name in claim.parameters}
        if all(sources.values()):
            data = {
                "id": claim.id,
                "source": claim.source,
                "text": claim.text,
                "kind": claim.kind,
                "program": program.name,
                "machine": machine,
                "parameters": sources,
            }
            yield Known(data, formula, conditions)


def _source(name: str, cases: list[tuple[dict[str, Any], Any]]) -> str | None:
    """The name of the size that has the value of a claim's parameter in all cases."""
    values = [case[name] for case, _ in cases]
    sizes = [_sizes(launch) for _, launch in cases]
    for source in sizes[0]:
        if [one.get(source) for one in sizes] == values:
            return source
    return None


def _sizes(launch: Any) -> dict[str, Any]:
    """The sizes of a launch by the names that the page has for them."""
    machine = launch.machine
    names = ("width", "latency", "dmms", "global_latency", "shared_latency")
    found = {name: getattr(machine, name) for name in names if hasattr(machine, name)}
    found["threads"] = launch.threads
    for array, shape in launch.arguments.items():
        if isinstance(shape, tuple):
            found[f"{array}.size"] = math.prod(shape)
            found |= {f"{array}.{axis}": extent for axis, extent in enumerate(shape)}
    return found


def _function(names: tuple[str, ...], body: str) -> str:
    return f"({{ {', '.join(names)} }}) => {body}"


def _formula(claim: Claim) -> str:
    """The claimed value as an expression of JavaScript."""
    import sympy
    from sympy.printing.jscode import JavascriptCodePrinter

    known = {"GCD": "gcd", "Log2": "Math.log2"}
    printer = JavascriptCodePrinter({"user_functions": known})
    symbols = {name: sympy.Symbol(name, positive=True) for name in claim.parameters}
    value = claim.constant * sympy.sympify(claim.formula(**symbols))
    if {type(one).__name__ for one in value.atoms(sympy.Function)} - PRINTED:
        raise NoJavaScriptError
    return str(printer.doprint(value))


PRINTED = {"GCD", "Log2", "ceiling", "floor", "log", "Min", "Max"}
"""The functions of SymPy that are printed as JavaScript."""


def condition(holds: Callable[..., bool]) -> str:
    """A condition as a function of JavaScript, from the text of the function in Python."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.getmodule(holds) or holds)))
    except (OSError, TypeError, SyntaxError):
        raise NoJavaScriptError from None
    code = holds.__code__
    names = code.co_varnames[: code.co_argcount]
    found = {
        ast.dump(one.body): one.body
        for one in ast.walk(tree)
        if isinstance(one, ast.Lambda)
        and one.lineno <= code.co_firstlineno <= (one.end_lineno or 0)
        and tuple(argument.arg for argument in one.args.args) == names
    }
    if len(found) != 1:
        raise NoJavaScriptError
    (body,) = found.values()
    return _function(names, Expression(names).visit(body))


SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Eq: "===",
    ast.NotEq: "!==",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "&&",
    ast.Or: "||",
}


class Expression(ast.NodeVisitor):
    """From an expression of Python to one of JavaScript, for whole numbers that aren't negative."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> str:
        raise NoJavaScriptError

    def visit_Name(self, node: ast.Name) -> str:
        if node.id not in self.names:
            raise NoJavaScriptError
        return node.id

    def visit_Constant(self, node: ast.Constant) -> str:
        if type(node.value) is not int:
            raise NoJavaScriptError
        return str(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return f"Math.floor({left} / {right})"
        return f"({left} {self.sign(node.op)} {right})"

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        return f"({f' {self.sign(node.op)} '.join(map(self.visit, node.values))})"

    def visit_Compare(self, node: ast.Compare) -> str:
        values = list(map(self.visit, (node.left, *node.comparators)))
        pairs = zip(values, map(self.sign, node.ops), values[1:], strict=False)
        return " && ".join(f"({left} {sign} {right})" for left, sign, right in pairs)

    def visit_Call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name) or node.func.id not in CALLS or node.keywords:
            raise NoJavaScriptError
        return f"{CALLS[node.func.id]}({', '.join(map(self.visit, node.args))})"

    def sign(self, operator: ast.AST) -> str:
        if type(operator) not in SIGNS:
            raise NoJavaScriptError
        return SIGNS[type(operator)]
