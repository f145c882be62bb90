"""The cost of a program for all sizes: its time as a formula, and where the time goes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mmsim.claims.formulas import Log2
from mmsim.claims.launch import SymbolicLaunch
from mmsim.errors import CostError, shown
from mmsim.frontend.program import Program
from mmsim.host.guesses import Guessed, advised, instead
from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, statements
from mmsim.model.machines import Machine
from mmsim.printable import counted
from mmsim.proof.domain import Case, domain, expression, holds, of_sympy
from mmsim.proof.facts import Facts, Split
from mmsim.proof.joined import COUNTS, Branch, Leaf, joined
from mmsim.proof.launched import Executed, Explained, Request, executed, shared_of
from mmsim.proof.sentences import Reader
from mmsim.proof.terms import ONE, Term, Undecided
from mmsim.proof.warps import Row
from mmsim.proof.widths import NoFormula, over_widths
from mmsim.proof.written import Writer, short
from mmsim.results.costs import CostCase, CostRow, CostTables

NAME = re.compile(r"[A-Za-z_]+")
FUNCTIONS = {"sqrt", "floor"}
MACHINES = {
    "DMM": ("width", "latency"),
    "UMM": ("width", "latency"),
    "HMM": ("dmms", "width", "global_latency", "shared_latency"),
}
"""The fields of the machines that a cost is found for."""
MOST_CASES = 2000
"""The most cases that a cost may ask for."""
SHOWN = 2
"""The most requests of an access that its row explains."""
MOST_PRODUCTS = 6
"""The most products of an address that a row shows."""
LONGEST = 80
"""The characters of the longest index that a row shows."""
UNFORESEEN = ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
"""The errors of steps that have no rule, and no reason in words."""
Size = Any


@advised(n="shapes={'a': ('n', 'n')}, with a size for each extent", grid="threads=, block_size=")
def cost(
    program: Any,
    *,
    shapes: Mapping[str, Size | tuple[Size, ...]] | None = None,
    threads: Size,
    machine: Machine,
    block_size: Size | None = None,
    given: str | Sequence[str] = (),
    contents: Mapping[str, Callable[..., Any]] | None = None,
    stages: Mapping[str, Size] | None = None,
    seconds: float = 60,
) -> Cost:
    """Return the cost of a program for all sizes, as a formula.

    A size is a number, an expression of SymPy, or one as text: "n", "n/w", "2 n + 1". The formula
    is that of the synchronous schedule, exact for a program whose indices are within its arrays. If
    the machine's width is a name, `Cost.time` is a formula in it that is proved at each width up to
    64: how many words lie in one bank depends on the width as a number.

    Parameters
    ----------
    program
        A function decorated with `mmsim.program`.
    shapes
        The shape of each array parameter, as ("n", "n"), and each number parameter, as "k".
    threads, block_size
        As for `Machine.run`.
    machine
        A DMM, UMM or HMM. Its numbers may be names, as in mm.DMM("w", "l").
    given
        Facts about the sizes: "w divides p", "n is a square", "n and p are powers of two",
        "w <= p". Each name stands for a whole number from 1 on.
    contents
        By array that is only read, and from which the program reads an index: a function of an
        element's index, the element's value.
    stages
        By array whose index is read from memory: the stages of a warp's request to it, or the name
        of their sum over all requests of an access.
    seconds
        The time after which it gives up.

    Raises
    ------
    CostError
        The cost can't be found. The error says at which line, and why.

    Examples
    --------
    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     for i in range(T.id, len(a), T.count):
    ...         b[i] = a[i]
    >>> found = cost(copy, shapes={"a": ("n",), "b": ("n",)}, threads="p", machine=mm.DMM(32, "l"),
    ...     given=("32 divides p", "p divides n"))
    >>> print(found.time)
    2*n*(l + p/32 - 1)/p
    >>> found.at(n=1024, p=64, l=10)
    352
    """
    launch = Asked(
        program,
        dict(shapes or {}),
        threads,
        machine,
        block_size,
        (given,) if isinstance(given, str) else tuple(given),
        dict(contents or {}),
        dict(stages or {}),
        seconds,
    ).read()
    if launch.width is not None:
        return Cost(launch.heading, (), launch)
    return launch.found({})


@dataclass(frozen=True, repr=False)
class Cost(CostTables, Guessed):
    """The cost of a program for all sizes. `print` it for a table that says where the time goes.

    `cases` are the parts of the domain with their formulas. They are empty if the width is a name:
    then `of_width` has the cost at a number, and `over_widths` that at all widths up to 64.
    """

    _instead = instead(
        {
            "subs evaluate value": "cost.at(n=64, ...)",
            "stages requests rounds accesses": "cost.cases[0].accesses, with the stages of each",
            "formula": "cost.time",
            "given assumptions": "cost.conditions",
        }
    )

    launch: Launched = field(repr=False)
    fixed: Mapping[str, int] = field(default_factory=dict)
    widths: tuple[int, ...] = ()

    @property
    def time(self) -> Any:
        """The time under the synchronous schedule, as a formula or a `sympy.Piecewise`.

        Raises `CostError` if the width is a name, and no formula in it is found.
        """
        import sympy

        if not self.cases:
            return self.over_widths().time
        if len(self.cases) == 1:
            return self.cases[0].time
        return sympy.Piecewise(*((one.time, one.condition) for one in self.cases), evaluate=False)

    @property
    def least(self) -> Any:
        """A time below which no schedule comes, as a formula or a `sympy.Piecewise`.

        A unit begins one stage in a time unit, the last one latency - 1 before the end. The
        requests of a warp follow one another, and each takes the latency at least; some warp sends
        its share of all requests. Both bounds are those of *Simple Memory Machine Models*,
        Theorem 4.1.

        >>> import mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     for i in range(T.id, a.size, T.count):
        ...         b[i] = a[i]
        >>> both, facts = {"a": ("n",), "b": ("n",)}, ("p divides n", "8 divides p")
        >>> mm.cost(copy, shapes=both, threads="p", machine=mm.DMM(8, "l"), given=facts).least
        Max(l*n/(4*ceiling(p/8)), n/4 + (l - 1)*Min(1, n/4))

        Raises `CostError` if the width is a name, and no formula in it is found.
        """
        import sympy

        if not self.cases:
            return self.over_widths().least
        width = {self.launch.symbols[name]: n for name, n in self.fixed.items()}
        found = [(self.launch.least(one).xreplace(width), one.condition) for one in self.cases]
        return found[0][0] if len(found) == 1 else sympy.Piecewise(*found, evaluate=False)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The facts that were given, and what the formula assumes besides."""
        if not self.cases:
            return self.over_widths().conditions
        sizes = [name for name in self.launch.names if name not in self.fixed]
        whole = [f"{', '.join(sizes)} are whole numbers from 1 on"] if sizes else []
        fixed = [f"{name} = {value}" for name, value in self.fixed.items()]
        if self.widths:
            fixed = [f"{self.launch.width} is {_listed(self.widths)}"]
        return (*self.launch.given, *fixed, *whole, "every index is within its array")

    def of_width(self, width: int) -> Cost:
        """The cost at a number for the width that is a name."""
        name = self.launch.width
        if name is None:
            raise self.launch.error("its width is a number already; leave out of_width")
        return self.launch.found({name: width})

    def over_widths(self) -> Cost:
        """The cost as a formula in the width that is a name, proved at each width up to 64.

        Its conditions name the widths: those at which the facts hold, at times without the first
        few. Raises `CostError` if there is no formula, as one with a greatest common divisor.

        Examples
        --------
        >>> import mmsim as mm
        >>> @mm.program
        ... def rows(T, a, n):
        ...     a[T.id % n, T.id // n] = 1
        >>> found = cost(rows, shapes={"a": ("n", "n"), "n": "n"}, threads="n n",
        ...     machine=mm.DMM("w", "l"), given="w divides n")
        >>> print(found.time)
        l + n**2 - 1
        >>> found.over_widths().conditions[1]
        'w is from 1 to 64'
        """
        if self.launch.width is None:
            raise self.launch.error("its width is a number already; leave out over_widths")
        return self.launch.over_widths()

    def at(self, **numbers: int) -> int:
        """The time for numbers: one for each name.

        Raises `CostError` if a number is missing, or if the given facts don't hold.
        """
        return self._with(numbers, lambda case: case.time)

    def least_at(self, **numbers: int) -> int:
        """The number of time units below which no schedule comes, for a number for each name.

        Raises `CostError` if a number is missing, or if the given facts don't hold.
        """
        return self._with(numbers, self.launch.least)

    def _with(self, numbers: Mapping[str, int], of: Callable[[CostCase], Any]) -> int:
        """The value of a formula of the case to which numbers belong, rounded up."""
        import sympy

        launch = self.launch
        name = launch.width
        if not self.fixed and name is not None and name in numbers:
            return self.of_width(numbers[name])._with(numbers, of)
        if any(numbers.get(one, value) != value for one, value in self.fixed.items()):
            raise launch.error(f"this is the cost at {name}={self.fixed[str(name)]}")
        numbers = {**numbers, **self.fixed}
        _check_numbers(launch, numbers)
        for sentence in launch.given:
            if not _true(launch, numbers, [sentence]):
                text = ", ".join(f"{n}={v}" for n, v in numbers.items())
                raise launch.error(f"{text}: {sentence!r}, which was given, doesn't hold")
        symbols = {one: launch.symbols[one] for one in launch.names}
        exact = {symbols[one]: sympy.Integer(value) for one, value in numbers.items()}
        for case in self.cases:
            parts = sympy.And.make_args(case.condition)
            # All at once: SymPy 1.13 takes n/p modulo 2 wrongly if n comes before p.
            if all(part.xreplace(exact) == True for part in parts):  # noqa: E712  SymPy's own truth
                return int(sympy.ceiling(of(case).xreplace(exact)))
        text = ", ".join(f"{n}={v}" for n, v in numbers.items())
        raise launch.error(f"{text} is no launch: it has no thread, or a size that is no extent")


def _check_numbers(launch: Launched, numbers: Mapping[str, int]) -> None:
    """Refuse missing numbers, others, and those below 1."""
    missing = [name for name in launch.names if name not in numbers]
    if missing:
        raise launch.error(f"a number for {', '.join(missing)} is missing; give {missing[0]}=")
    for name, value in numbers.items():
        if name not in launch.names:
            known = ", ".join(launch.names) or "none"
            raise launch.error(f"there is no size {name}; the names are {known}")
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise launch.error(f"{name}={shown(value)}, but a size is a whole number from 1 on")


def _listed(widths: tuple[int, ...]) -> str:
    """Widths in words: from 1 to 64, or each of them."""
    if len(widths) > 1 and widths == tuple(range(widths[0], widths[-1] + 1)):
        return f"from {widths[0]} to {widths[-1]}"
    return f"one of {', '.join(map(str, widths))}"


def _true(launch: Launched, numbers: Mapping[str, int], sentences: Sequence[str]) -> bool:
    case = domain(launch.names, {n: int(v) for n, v in numbers.items()}, sentences)
    return case is not None and holds(case, case.facts())


@dataclass(frozen=True)
class Asked:
    """The question that `cost` answers."""

    program: Any
    shapes: dict[str, Any]
    threads: Any
    machine: Any
    block_size: Any
    given: tuple[str, ...]
    contents: dict[str, Callable[..., Any]]
    stages: dict[str, Any]
    seconds: float

    def read(self) -> Launched:
        """The launch, with expressions for its sizes. Refuses what doesn't fit the program."""
        program, machine = self.program, self.machine
        if not isinstance(program, Program) or program.parsed_late:
            what = getattr(program, "__name__", shown(program))
            raise CostError(
                "a cost is found for a function that mmsim.program decorates, not for a kernel of "
                "numba.cuda or anything else",
                program=str(what),
            )
        kind = type(machine).__name__
        fields = MACHINES.get(kind)
        if fields is None or machine.bank_bytes is not None:
            self.refuse(f"a cost is found for the DMM, the UMM and the HMM, not for {machine}")
        self.check_parameters()
        numbers = {name: getattr(machine, name) for name in fields or ()}
        sizes = [
            *(
                s
                for one in self.shapes.values()
                for s in (one if isinstance(one, tuple) else (one,))
            ),
            self.threads,
            *([] if self.block_size is None else [self.block_size]),
            *self.stages.values(),
            *numbers.values(),
        ]
        names = tuple(dict.fromkeys(name for size in sizes for name in self.names_of(size)))

        def read(size: Any) -> Any:
            return self.size(size, names)

        reader = Reader(names)
        for sentence in self.given:
            left = next((part for part, facts in reader.parts(sentence) if not facts), "")
            if left:
                self.refuse(
                    f"given {left!r} is not understood; write it as 'w divides p', 'n is a "
                    f"square', 'n and p are powers of two' or 'w <= p', with the names "
                    f"{', '.join(names)}"
                )
        arguments = {
            name: tuple(map(read, one)) if isinstance(one, tuple) else read(one)
            for name, one in self.shapes.items()
        }
        width = numbers["width"]
        return Launched(
            SymbolicLaunch(
                program,
                arguments,
                read(self.threads),
                machine,
                None if self.block_size is None else read(self.block_size),
                self.contents,
                {name: read(one) for name, one in self.stages.items()},
            ),
            names,
            self.given,
            None if isinstance(width, int) else str(width),
            self.seconds,
        )

    def refuse(self, message: str) -> None:
        """Raise a `CostError` about the call."""
        raise CostError(message, program=self.program.name)

    def check_parameters(self) -> None:
        """Refuse shapes that don't fit the program's parameters."""
        known = [one.name for one in self.program.code.parameters]
        for what, names in (
            ("shapes", self.shapes),
            ("stages", self.stages),
            ("contents", self.contents),
        ):
            inside = {*known, *(one.name for one in self.program.code.locals)}
            for name in names:
                if name not in (known if what == "shapes" else inside):
                    self.refuse(f"{what} has {name!r}, but the parameters are {', '.join(known)}")
        arrays = arrays_of(self.program.code)
        for name in known:
            if name not in self.shapes:
                example = f"({name!r}: ('n',))" if name in arrays else f"({name!r}: 'k')"
                self.refuse(f"shapes lacks {name!r}; add it, as {example[1:-1]}")
            is_shape = isinstance(self.shapes[name], tuple)
            if is_shape != (name in arrays):
                self.refuse(
                    f"{name!r} is an array; give its shape as a tuple, as ('n',)"
                    if not is_shape
                    else f"{name!r} is a number; give a size, not a tuple"
                )

    def names_of(self, size: Any) -> list[str]:
        """The names in a size."""
        if isinstance(size, str):
            if re.search(r"\d+\s*/|/\s*\d*\s*[A-Za-z(]", size) and re.search(
                r"/\s*\d+\s*[A-Za-z(]", size
            ):
                self.refuse(f"{size!r} is ambiguous; write n/(2*w), or n/2*w")
            if re.search(r"[A-Za-z_]\d", size):
                self.refuse(f"the size {size!r} has a digit in a name; name it by letters")
            return [name for name in NAME.findall(size) if name not in FUNCTIONS]
        return sorted(symbol.name for symbol in getattr(size, "free_symbols", ()))

    def size(self, size: Any, names: tuple[str, ...]) -> Any:
        """A size as an expression."""
        if not isinstance(size, str):
            if isinstance(size, np.integer):
                return int(size)
            if isinstance(size, int) or hasattr(size, "free_symbols"):
                return size
            self.refuse(f"{shown(size)} is no size; write a number or an expression, as 'n/w'")
        try:
            return expression(names, size)
        except (SyntaxError, KeyError, ValueError, TypeError, IndexError):
            self.refuse(f"{size!r} is no size; write a number or an expression, as 'n/w'")


def arrays_of(code: ir.Code) -> set[str]:
    """The parameters that are arrays: a statement accesses them, or asks for an extent."""
    found = set()

    def look(value: Any) -> None:
        if isinstance(value, ir.Extent):
            found.add(value.array)
        for part in expressions(value):
            look(part)

    for one in statements(code.body):
        if isinstance(one, ir.Access):
            found.add(one.array)
        for part in expressions(one):
            look(part)
    return found


@dataclass(frozen=True)
class Launched:
    """A launch with symbols, the names of its sizes, and the name of its width, if it has one."""

    launch: SymbolicLaunch
    names: tuple[str, ...]
    given: tuple[str, ...]
    width: str | None
    seconds: float
    memo: dict[Any, Cost] = field(default_factory=dict, compare=False, repr=False)

    @property
    def symbols(self) -> dict[str, Any]:
        """The symbols of SymPy."""
        import sympy

        return {name: sympy.Symbol(name, positive=True, integer=True) for name in self.names}

    @property
    def heading(self) -> str:
        """The launch in words."""
        launch = self.launch
        block = "" if launch.block_size is None else f" in blocks of {launch.block_size}"
        return f"{launch.program.name} on {launch.machine}, {launch.threads} threads{block}"

    def least(self, case: CostCase) -> Any:
        """The least time of a case, by its stages and by the requests of a warp."""
        from sympy import Max, Min, ceiling, sympify

        machine, threads = self.launch.machine, sympify(self.launch.threads)
        size = threads if self.launch.block_size is None else self.launch.block_size
        shared, count = shared_of(machine)
        bounds, waits = [], sympify(0)
        for unit, units in ((machine.memory, 1), *((one, count) for one in shared[:1])):
            rows = [one for one in case.accesses if one.space == unit.space]
            stages = sum(one.stages for one in rows)
            bounds.append(stages / sympify(units) + Min(1, stages) * (unit.latency - 1))
            waits += unit.latency * sum(one.requests for one in rows)
        return Max(*bounds, waits / (ceiling(threads / size) * ceiling(size / machine.width)))

    def error(self, message: str, **about: Any) -> CostError:
        """An error that names the program."""
        return CostError(message, program=self.launch.program.name, **about)

    def found(self, fixed: Mapping[str, int]) -> Cost:
        """The cost, with a number for the width if it is a name."""
        key = tuple(fixed.items())
        for name, value in fixed.items():
            _check_numbers(replace(self, names=(name,)), {name: value})
        if key not in self.memo:
            self.memo[key] = self._found({name: int(value) for name, value in fixed.items()})
        return self.memo[key]

    def over_widths(self) -> Cost:
        """The cost with a formula in the width."""
        if "widths" not in self.memo:
            until = time.monotonic() + self.seconds
            width = str(self.width)
            try:
                cases, widths = over_widths(
                    lambda number: self.cases({width: number}, until), self.symbols[width]
                )
            except NoFormula:
                raise self.error(
                    f"no one formula in {width} fits all widths; write cost.of_width(32), or "
                    f"cost.at({width}=32, ...)"
                ) from None
            if not cases:
                raise self.error(f"no sizes satisfy the facts {'; '.join(self.given)}")
            self.memo["widths"] = Cost(self.heading, cases, self, widths=widths)
        return self.memo["widths"]

    def _found(self, fixed: dict[str, int]) -> Cost:
        cases = self.cases(fixed, time.monotonic() + self.seconds)
        if not cases:
            raise self.error(f"no sizes satisfy the facts {'; '.join(self.given)}")
        at = "".join(f", {name} = {value}" for name, value in fixed.items())
        return Cost(self.heading + at, cases, self, fixed)

    def cases(self, fixed: dict[str, int], until: float) -> tuple[CostCase, ...]:
        """The parts of the domain with their formulas; none if no sizes satisfy the facts."""
        whole = domain(self.names, fixed, self.given)
        found: list[Leaf] = []
        if whole is not None:
            try:
                found = list(self.leaves(whole, until))
            except Undecided as error:
                raise self.of_undecided(error) from None
            except CostError:
                raise
            except UNFORESEEN as error:
                what = f"no rule applies ({type(error).__name__}: {error})"
                place = getattr(error, "place", None)
                raise self.error(f"{what}; write it in another way", place=place) from error
        return tuple(one.shown() for one in joined(found)) if found else ()

    def leaves(self, whole: Case, until: float) -> Iterator[Leaf]:
        """Execute the launch in as many cases as that asks for."""
        todo: list[tuple[Case, tuple[Branch, ...]]] = [(whole, ())]
        count = 0
        while todo:
            case, path = todo.pop()
            count += 1
            facts = case.facts()
            facts.until = until
            case = replace(case, values=dict(case.values))
            try:
                if count > MOST_CASES or time.monotonic() > until:
                    raise Undecided("it takes too long")
                if holds(case, facts) and self.is_launch(case, facts):
                    yield self.leaf(case, facts, executed(self.launch, case, facts), path)
            except Undecided as error:
                if str(error) == "it takes too long":
                    raise self.too_long(path, error) from None
                error.reached = case, facts  # type: ignore[attr-defined]
                raise
            except Split as split:
                writer = self.writer(case, facts)
                split.reached = case, facts  # type: ignore[attr-defined]
                children = case.split(split)
                branches = [
                    _branch(split, at, len(children), count, case, writer)
                    for at in range(len(children))
                ]
                both = zip(children, branches, strict=True)
                todo += reversed([(child, (*path, one)) for child, one in both])

    def too_long(self, path: tuple[Branch, ...], error: Undecided) -> CostError:
        """The error when the time is up."""
        by = {f"{one.modulus} divides {one.size}": None for one in path if one.modulus}
        advice = f"there are fewer cases with given={tuple(by)}, or " if by else ""
        return self.error(
            f"it takes longer than {self.seconds:g} s; {advice}give more with seconds=",
            place=getattr(error, "place", None),
        )

    def is_launch(self, case: Case, facts: Facts) -> bool:
        """Return whether there are threads, and no extent is negative."""
        launch = self.launch
        sizes = [(launch.threads, 1)]
        if launch.block_size is not None:
            sizes.append((launch.block_size, 1))
        for one in launch.arguments.values():
            sizes += [(extent, 0) for extent in one] if isinstance(one, tuple) else []
        return all(facts.holds(of_sympy(size, case.values, facts) - low) for size, low in sizes)

    def writer(self, case: Case, facts: Facts) -> Writer:
        """The writer of the terms of a case."""
        numbers = {n: t.number for n, t in case.values.items()}
        fixed = {n: v for n, v in numbers.items() if v is not None and n == self.width}
        return Writer({**self.symbols, **fixed}, facts)

    def leaf(self, case: Case, facts: Facts, done: Executed, path: tuple[Branch, ...]) -> Leaf:
        """A case with its formulas."""
        writer = self.writer(case, facts)

        def formula(term: Term) -> Any:
            return writer.term(facts.whole(facts.reduced(term)))

        def rows() -> dict[int, CostRow]:
            explained = executed(self.launch, case, facts, Explained)
            found = {}
            for site, row in explained.rows.items():
                place = row.place
                requests = list(explained.requests.get(site, {}).values())
                found[site] = CostRow(
                    place.function,
                    place.file,
                    place.line,
                    row.array,
                    row.kind,
                    row.space,
                    **dict(zip(COUNTS, counts[site], strict=True)),
                    why=reason(requests, row, done.unit(row), writer),
                )
            return found

        counts = {
            site: tuple(map(formula, (row.requests, row.stages, row.rounds, done.time_of(row))))
            for site, row in done.rows.items()
        }
        sizes = {self.symbols[name]: formula(term) for name, term in case.values.items()}
        return Leaf(path, formula(done.time), counts, sizes, rows)

    def of_undecided(self, error: Undecided) -> CostError:
        """An error that says what to give."""
        array = getattr(error, "array", None)
        reached = getattr(error, "reached", None)
        text = str(error) if reached is None else self.writer(*reached).reason(error)
        if "read from memory" in text:
            text = f"the index of {array} is read from memory"
            one = f"stages={{{array!r}: 1}} or stages={{{array!r}: 'C'}}"
            advice = f"give the stages of its requests, as {one}, or contents="
        elif "in memory" in text:
            advice = "the cost depends on data; give contents= for an array that is only read"
        else:
            facts = () if reached is None else self.writer(*reached).divisions(error)
            advice = f"a fact may decide it, as given={facts or ('w divides n',)}"
        return self.error(f"{text}; {advice}", place=getattr(error, "place", None), array=array)


def _branch(split: Split, at: int, count: int, number: int, case: Case, writer: Writer) -> Branch:
    """One of the cases that a split makes, in the order of `Case.split`."""
    condition = _condition(split, at, count, case, writer)
    size = None if split.assumed is not None else writer.symbol(split.name)
    return Branch(number, at, count, condition, _words(condition), size, split.modulus)


def _condition(split: Split, at: int, count: int, case: Case, writer: Writer) -> Any:
    """The condition of one of the cases that a split makes, in the order of `Case.split`."""
    import sympy

    if split.assumed is not None:
        return _solved(writer.term(split.assumed), at == 0)
    name = writer.symbol(split.name)
    if split.modulus:
        assert count == split.modulus
        return sympy.Eq(sympy.Mod(name, split.modulus), at)
    assert split.at is not None
    limit = writer.term(split.at)
    if split.other is not None:
        assert count == 2
        return _solved(name - writer.symbol(split.other) - limit, at == 0)
    if at == count - 1:
        return _solved(name - limit, True)
    low = case.lows.get(split.name, 0)
    assert limit == low + count - 1
    return _solved(name - low - at, None)


def _solved(term: Any, positive: bool | None) -> Any:
    """The condition that a term is from 0 on, is not, or (None) is 0; solved for a single size."""
    import sympy

    number, rest = term.as_coeff_Add()
    factor, left = rest.as_coeff_Mul()
    right = -number / factor
    if isinstance(left, Log2) and right.is_Integer:
        left, right = left.args[0], 2**right
    elif left.is_Add:
        left, right, factor = rest, -number, 1
    if positive is None:
        return sympy.Eq(left, right)
    if factor < 0:
        return sympy.Le(left, right) if positive else sympy.Gt(left, right)
    return sympy.Ge(left, right) if positive else sympy.Lt(left, right)


def _words(condition: Any) -> str:
    """A condition as a reader writes it."""
    import sympy

    match condition:
        case sympy.Eq(lhs=sympy.Mod(args=(size, by)), rhs=rest):
            return f"{by} divides {size}" if rest == 0 else f"{size} mod {by} = {rest}"
        case sympy.Eq(lhs=left, rhs=right):
            return f"{left} = {right}"
    return str(condition)


def reason(requests: Sequence[Request], row: Row, unit: str, writer: Writer) -> str:
    """The words that a request asks for, and the stages that it takes therefore."""
    if not requests:
        return "by its given stages"
    texts: list[str] = []
    for at, one in enumerate(requests):
        text = _of_request(one, unit, row.array, writer)
        if text not in texts:
            texts.append(text)
        if len(texts) == SHOWN and len(requests) > at + 1:
            texts.append(_others(requests[at + 1 :]))
            break
    return "; ".join(texts)


def _others(requests: Sequence[Request]) -> str:
    """The requests that a reason leaves out: how many kinds, and their stages."""
    text = f"and {counted(len(requests), 'other kind of request', 'other kinds of requests')}"
    stages: set[Any] = {one.stages.number for one in requests}
    if None in stages:
        return text
    least, most = int(min(stages)), int(max(stages))
    return f"{text}, of {least if least == most else f'{least} to {most}'} stage{'s' * (most > 1)}"


def _of_request(one: Request, unit: str, array: str, writer: Writer) -> str:
    lanes = "a lane asks" if one.lanes == 1 else f"{one.lanes} lanes ask"
    where = f" for words of {array}"
    if len(one.address.parts) <= MOST_PRODUCTS:
        index = ", ".join(writer.lanes(part, one.lanes) for part in one.index)
        words = f"{array}[{index}]"
        if len(one.index) > 1:
            words += f", word {writer.lanes(one.address, one.lanes)}"
        where = f" for {words}" if len(words) <= LONGEST else where
    return f"{lanes}{where}{_apart(one, writer)}: {_took(one, unit, writer)}"


def _took(one: Request, unit: str, writer: Writer) -> str:
    """The stages of a request, and the reason."""
    number = one.stages.number
    if number is None:
        return f"{writer.term(one.stages)} stages in all"
    number = int(number)
    if number == 1 and (one.lanes == 1 or one.address.is_uniform):
        return "1 stage"
    text = counted(number, "stage")
    if unit == "groups":
        return f"{text}, as they lie in {counted(number, 'address group')}"
    if number == 1:
        return f"{text}, as no two of them lie in one bank"
    return f"{text}, as {number} of them lie in one bank"


def _apart(one: Request, writer: Writer) -> str:
    """The distance of the words of lanes next to each other, if it is always the same."""
    if one.lanes == 1:
        return ""
    if one.address.is_uniform:
        return ", the same word"
    steps = {}
    for product, value in one.address.parts.items():
        if isinstance(value, np.ndarray):
            different = set((value[1:] - value[:-1]).tolist())
            if len(different) != 1:
                return ""
            steps[product] = different.pop()
    if steps == {ONE: 1}:
        return ", consecutive words"
    return f", {short(writer.term(Term(steps)))} apart"
