"""The cost of programs for all sizes: the formulas against runs, the tables, the refusals."""

import random

import numpy as np
import pytest
import sympy

import mmsim as mm
from mmsim.claims.claim import call_with, symbols_of
from mmsim.errors import CostError, MachineError
from mmsim.proof.sentences import Reader
from mmsim_algorithms import claims

CLAIMS = {claim.id: claim for claim in claims()}
MACHINE = ("width", "latency", "dmms", "global_latency", "shared_latency")


@mm.program
def copy(T, a, b):
    for i in range(T.id, len(a), T.count):
        b[i] = a[i]


@mm.program
def permute(T, a, b, p, k):
    b[p[T.id]] = a[(T.id + k) % len(a)]


@mm.program
def spread(T, a, k):
    a[T.id * k] = 1


@mm.program
def stencil(T, a, b):
    if T.id > 0 and T.id + 1 < len(a):
        b[T.id] = a[T.id - 1] + a[T.id + 1]


@mm.program
def while_copy(T, a, b):
    i = T.id
    while i < len(a):
        b[i] = a[i]
        i += T.count


@mm.program
def rows(T, a, b):
    for j in range(a.shape[1]):
        b[T.id, j] = a[T.id, j]


@mm.program
def reverse(T, a, b):
    c = mm.shared(T.block_size)
    c[T.index] = a[T.id]
    T.barrier()
    b[T.id] = c[T.block_size - 1 - T.index]


VECTORS = {"a": ("n",), "b": ("n",)}


def of_launch(claim, **texts):
    """The cost of a claim's one launch under the claim's preconditions."""
    names = dict.fromkeys(name for case in claim.cases() for name in case if name not in texts)
    (launch,) = call_with(claim.launches, {**symbols_of(names), **texts})
    given = [one.text for one in claim.requires]
    reader = Reader(names)
    assert all(facts for sentence in given for _, facts in reader.parts(sentence))
    about = {"threads": launch.threads, "block_size": launch.block_size, "given": given}
    machine = launch.machine
    return launch, mm.cost(launch.program, shapes=launch.arguments, machine=machine, **about)


def run_of(launch, case):
    """The run of a launch with numbers for its symbols, on zeros."""

    def number(size):
        numbers = {sympy.Symbol(k, positive=True, integer=True): v for k, v in case.items()}
        return int(sympy.sympify(size).subs(numbers))

    machine = launch.machine
    known = {name: number(getattr(machine, name)) for name in MACHINE if hasattr(machine, name)}
    sizes = (launch.arguments[one.name] for one in launch.program.code.parameters)
    args = [
        np.zeros(tuple(map(number, one)), int) if isinstance(one, tuple) else number(one)
        for one in sizes
    ]
    block = None if launch.block_size is None else number(launch.block_size)
    how = {"threads": number(launch.threads), "block_size": block}
    return type(machine)(**known).run(launch.program, *args, **how)


@pytest.mark.parametrize(
    ("id_", "texts"),
    [
        ("SMM-T3.1b", {"on": "DMM", "access": "stride"}),
        ("SMM-T3.1c", {"on": "UMM", "access": "stride"}),
        ("SMM-C3.2", {"on": "UMM"}),
        ("SMM-ST", {"on": "DMM"}),
        ("SMM-L5.1", {"on": "DMM"}),
        ("SMM-L5.2.direct", {}),
        ("SUM-tree", {"on": "UMM"}),
        ("SUM-columns", {"on": "DMM"}),
        ("ICPP-L1.casual.shared", {"access": "one bank"}),
        ("ICPP-L5.d", {}),
        ("RAP-L1.diagonal", {"access": "diagonal"}),
    ],
)
def test_the_formula_gives_the_times_of_runs(id_, texts):
    claim = CLAIMS[id_]
    named = {name: value for name, value in texts.items() if name in claim.cases()[0]}
    launch, cost = of_launch(claim, **named)
    same = [case for case in claim.cases() if named.items() <= case.items() and case["w"] <= 8]
    for case in random.Random(id_).sample(same, 4):
        numbers = {name: case[name] for name in cost.launch.names}
        run = run_of(launch, {k: v for k, v in case.items() if k not in named})
        assert cost.at(**numbers) == run.time, case


def test_one_formula_with_its_lines():
    facts = ("32 divides p", "p divides n")
    cost = mm.cost(copy, shapes=VECTORS, threads="p", machine=mm.UMM(32, "l"), given=facts)
    n, p, l = sympy.symbols("n p l", positive=True, integer=True)
    assert sympy.expand(cost.time - 2 * n / p * (p / 32 + l - 1)) == 0
    assert cost.conditions[:2] == facts
    read, write = cost.cases[0].accesses
    assert (read.array, read.kind, read.requests, read.rounds) == ("a", "read", n / 32, n / p)
    assert write.time == read.time
    assert read.why.endswith("consecutive words: 1 stage, as they lie in 1 address group")
    assert f"{cost.time} time units" in str(cost)
    assert "<table>" in cost._repr_html_()


def test_cases_cover_the_domain():
    shapes = {"a": ("n",), "k": "k"}
    how = {"threads": "p", "machine": mm.DMM(4, "l"), "given": "4 divides p"}
    cost = mm.cost(spread, shapes=shapes, **how)
    assert isinstance(cost.time, sympy.Piecewise)
    assert "k mod 4 = 1" in str(cost)
    for k in range(1, 9):
        run = mm.DMM(4, 3).run(spread, np.zeros(200), k, threads=8)
        known = {"n": 200, "k": k, "p": 8, "l": 3}
        at = {s: known[s.name] for s in cost.time.free_symbols}
        assert cost.at(**known) == run.time == cost.time.subs(at)


def test_cases_of_one_formula_are_joined():
    how = {"threads": "n", "machine": mm.UMM(4, "l")}
    cost = mm.cost(copy, shapes=VECTORS, **how)
    assert str(cost.time) == "2*(l + ceiling(n/4) - 1)"
    read, _ = cost.cases[0].accesses
    assert str(read.requests) == "ceiling(n/4)"
    assert read.why.startswith("where 4 divides n: 4 lanes ask")
    inner = mm.cost(stencil, shapes=VECTORS, **how)
    assert len(inner.cases) == 6
    for program, found in ((copy, cost), (stencil, inner)):
        for n in (1, 2, 3, 4, 5, 7, 8, 9, 13, 64):
            run = mm.UMM(4, 3).run(program, np.zeros(n), np.zeros(n), threads=n)
            assert found.at(n=n, l=3) == run.time, n
            counts = [0, 0, 0]
            for row in next(one for one in found.cases if holds_at(one.condition, n)).accesses:
                at = {s: {"n": n, "l": 3}[s.name] for s in (row.stages + row.time).free_symbols}
                counts[0] += row.requests.subs(at)
                counts[1] += row.stages.subs(at)
                counts[2] += row.time.subs(at)
            assert counts[1:] == [run.stages, run.time]
            assert counts[0] == sum(row.requests for row in run.accesses)


def holds_at(condition, n):
    return condition.subs({one: n for one in condition.free_symbols}) == True  # noqa: E712


def test_the_fact_that_would_help():
    with pytest.raises(CostError, match=r"given=\('p divides n',\)") as found:
        mm.cost(while_copy, shapes=VECTORS, threads="p", machine=mm.DMM(2, "l"))
    assert found.value.place.text.strip() == "while i < len(a):"
    facts = ("2 divides p", "p divides n")
    cost = mm.cost(while_copy, shapes=VECTORS, threads="p", machine=mm.DMM(2, "l"), given=facts)
    assert str(cost.time) == "n*(2*l + p - 2)/p"


def test_many_cases_are_shown_in_part():
    how = {"shapes": {"a": ("n",), "k": "k"}, "threads": "p", "given": "32 divides p"}
    cost = mm.cost(spread, **how, machine=mm.DMM(32, "l"))
    assert len(cost.cases) == 32
    assert str(cost).endswith("and 20 other cases: cost.cases")
    with pytest.raises(CostError, match=r"an index of a is k\*\(lane \+ 32\*warp\), out of range"):
        mm.cost(spread, **{**how, "shapes": {"a": (8,), "k": "k"}}, machine=mm.DMM(32, "l"))


def test_it_gives_up():
    how = {"threads": "n", "machine": mm.UMM(32, "l"), "seconds": 0.2}
    shapes = {"a": ("n", "m"), "b": ("n", "m")}
    message = r"longer than 0.2 s; there are fewer cases with given=\('32 divides n'.*seconds="
    with pytest.raises(CostError, match=message):
        mm.cost(rows, shapes=shapes, **how)


def test_a_width_that_is_a_name():
    cost = mm.cost(copy, shapes=VECTORS, threads="n", machine=mm.DMM("w", "l"))
    for w in (1, 3, 4):
        run = mm.DMM(w, 5).run(copy, np.zeros(10), np.zeros(10), threads=10)
        assert cost.at(w=w, n=10, l=5) == cost.of_width(w).at(n=10, l=5) == run.time
    assert cost.of_width(4) is cost.of_width(4)
    with pytest.raises(CostError, match="the cost at w=4"):
        cost.of_width(4).at(w=3, n=8, l=1)
    assert "has a formula in the width" in str(cost)


def test_blocks_take_turns_on_the_dmms():
    machine = mm.HMM("d", 4, "L", "l")
    facts = "4 divides k", "k divides n"
    how = {"threads": "n", "block_size": "k", "machine": machine, "given": facts}
    cost = mm.cost(reverse, shapes=VECTORS, **how)
    for d, n, k in ((1, 8, 8), (3, 32, 8), (2, 12, 4)):
        run = mm.HMM(d, 4, 9, 2).run(reverse, np.zeros(n), np.zeros(n), threads=n, block_size=k)
        assert cost.at(d=d, n=n, k=k, L=9, l=2) == run.time


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_no_schedule_takes_less_than_the_least(schedule):
    facts = "4 divides p", "p divides n"
    cost = mm.cost(copy, shapes=VECTORS, threads="p", machine=mm.DMM("w", "l"), given=facts)
    for n, p, l in ((16, 4, 1), (32, 4, 7), (64, 32, 1), (64, 32, 5), (96, 48, 9)):
        run = mm.DMM(4, l).run(copy, np.zeros(n), np.zeros(n), threads=p, schedule=schedule)
        least = cost.least_at(w=4, n=n, p=p, l=l)
        assert least == max(n // 2 + l - 1, 2 * n // p * l) <= run.time
        assert p > 4 or least == run.time  # one warp, whose requests follow one another


def test_the_least_of_blocks_that_share_the_dmms():
    machine, facts = mm.HMM("d", 4, "L", "l"), ("4 divides k", "k divides n")
    how = {"threads": "n", "block_size": "k", "machine": machine, "given": facts}
    cost = mm.cost(reverse, shapes=VECTORS, **how)
    for d, n, k in ((1, 8, 8), (3, 32, 8), (2, 12, 4)):
        given = {"threads": n, "block_size": k, "schedule": "asynchronous"}
        run = mm.HMM(d, 4, 9, 2).run(reverse, np.zeros(n), np.zeros(n), **given)
        least = cost.least_at(d=d, n=n, k=k, L=9, l=2)
        assert least == max(2 * n // 4 + 9 - 1, 2 * (9 + 2)) <= run.time


def test_indices_from_memory_need_their_stages():
    shapes = {**VECTORS, "p": ("n",), "k": 4}
    how = {"shapes": shapes, "threads": "n", "machine": mm.DMM(4, "l"), "given": "4 divides n"}
    with pytest.raises(CostError, match="index of b is read from memory; give the") as found:
        mm.cost(permute, **how)
    error = found.value
    assert (error.program, error.array, error.place.text.strip()) == (
        "permute",
        "b",
        "b[p[T.id]] = a[(T.id + k) % len(a)]",
    )
    named = mm.cost(permute, **how, stages={"b": "C"})
    assert named.at(n=8, l=3, C=5) - named.at(n=8, l=3, C=2) == 3
    with pytest.raises(CostError, match=r"contents= can't take a symbol .TypeError"):
        mm.cost(permute, **how, contents={"p": lambda i: range(i)[0]})
    known = mm.cost(permute, **how, contents={"p": lambda i: i})
    p = np.arange(8)
    run = mm.DMM(4, 3).run(permute, np.zeros(8), np.zeros(8), p, 4, threads=8)
    assert known.at(n=8, l=3) == run.time == named.at(n=8, l=3, C=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shapes": {"a": ("n",)}}, "shapes lacks 'b'; add it, as 'b': \\('n',\\)"),
        ({"shapes": {"a": ("n",), "b": "n"}}, "'b' is an array; give its shape"),
        ({"shapes": {**VECTORS, "c": ("n",)}}, "shapes has 'c', but the parameters are a, b"),
        ({"shapes": {"a": ("n/3",), "b": ("n",)}}, "an extent of a = n/3 is a whole number"),
        ({"shapes": {"a": ("n/2w",), "b": ("n",)}}, "'n/2w' is ambiguous"),
        ({"shapes": {"a": ("n1",), "b": ("n",)}}, "has a digit in a name"),
        ({"shapes": {"a": ("n +",), "b": ("n",)}}, "'n \\+' is no size"),
        ({"threads": 1.5}, "1.5 is no size"),
        ({"given": "n is nice"}, "given 'n is nice' is not understood"),
        ({"given": ("4 divides n", "n = 3")}, "no sizes satisfy the facts"),
        (
            {"machine": mm.DMM(4, 2, bank_bytes=4)},
            "a cost is found for the DMM, the UMM and the HMM",
        ),
    ],
)
def test_refusals(change, message):
    how = {"shapes": VECTORS, "threads": "n", "machine": mm.DMM(4, "l"), "given": "4 divides n"}
    with pytest.raises(CostError, match=message):
        mm.cost(copy, **{**how, **change})


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"n": 7, "l": 2}, "n=7, l=2: '4 divides n', which was given, doesn't hold"),
        ({"n": 8}, "a number for l is missing"),
        ({"n": 8, "l": 0}, "l=0, but a size is a whole number from 1 on"),
        ({"n": 8, "l": 2, "k": 1}, "there is no size k; the names are n, l"),
        ({"n": 4, "l": 2}, "is no launch"),
    ],
)
def test_numbers_outside_the_domain(numbers, message):
    shapes = {"a": ("n - 4",), "b": ("n",)}
    how = {"threads": "n - 4", "machine": mm.DMM(4, "l"), "given": "4 divides n"}
    with pytest.raises(CostError, match=message):
        mm.cost(copy, shapes=shapes, **how).at(**numbers)


def test_what_is_no_program_is_refused():
    with pytest.raises(CostError, match=r"a function that mmsim.program decorates"):
        mm.cost(len, threads=1, machine=mm.DMM(1, 1))


@pytest.mark.parametrize("method", ["run", "check"])
def test_no_machine_with_names_runs(method):
    a = np.zeros(8)
    with pytest.raises(MachineError, match="width=w of the DMM is a name; a run needs a number"):
        getattr(mm.DMM("w", 3), method)(copy, a, a.copy(), threads=8)
    with pytest.raises(MachineError, match="dmms=d of the HMM is a name"):
        getattr(mm.HMM("d", 4, 9), method)(copy, a, a.copy(), threads=8)
    with pytest.raises(MachineError, match="must be a whole number, not '4'"):
        mm.DMM("4", 3)


def test_no_claim_runs_on_a_machine_with_names():
    claim, w = CLAIMS["SMM-ROT"], sympy.Symbol("w", positive=True, integer=True)
    with pytest.raises((MachineError, TypeError)):
        claim.run(schedule="synchronous", **{**claim.cases()[0], "w": w})
