"""Proofs for all sizes: each rule shows in a pair of programs, one proved and one refuted."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.binding import bind
from mmsim.errors import LaunchError
from mmsim.results.proved import MISTAKES, Proof, Verdict
from tests.kit import ROOT

pytest.importorskip("z3", reason="proofs need z3-solver")

HMM = mm.HMM(dmms=2, width=4, global_latency=5)
LINE = {"threads": 32, "block_size": 8}
FULL = "threads % block_size == 0"


def proof(program, *args, given=(), machine=HMM, **options):
    options = options or LINE
    return machine.check(program, *args, prove=True, given=given, **options).proved


def answers(found):
    return [verdict.answer for verdict in found.verdicts if verdict.property in MISTAKES]


def words(*shape):
    return np.zeros(shape, int)


@mm.program
def add(T, a, b, c):
    i = T.id
    if i < len(a):
        c[i] = a[i] + b[i]


def test_a_vector_sum_is_proved_with_facts_and_refuted_without():
    args = words(30), words(30), words(30)
    found = proof(add, *args, given=["a.size == b.size", "c.size >= len(a)"])
    assert found.answer == "yes"
    assert str(found) == (
        "Proved for all sizes and inputs with a.size == b.size, c.size >= len(a): yes\n"
        "- no data race: yes\n- no index out of range: yes\n- no divergent barrier: yes"
    )
    found = proof(add, *args, given="a.size == b.size")
    assert answers(found) == ["yes", "no", "yes"]
    assert found.answer == "no"
    example = found.index.counterexample
    assert example.arrays["a"].shape == example.arrays["b"].shape > example.arrays["c"].shape
    assert (example.finding.kind, example.finding.array) == ("out-of-range", "c")
    assert str(example.finding) in str(found.index)


@mm.program
def reverse(T, a, waits):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    if waits > 0:
        T.barrier()
    a[T.id] = s[T.block_size - 1 - T.index]


def test_a_barrier_orders_a_block_where_all_come_to_it():
    facts = [FULL, "a.size == threads"]
    assert proof(reverse, words(32), 1, given=[*facts, "waits == 1"]).answer == "yes"
    found = proof(reverse, words(32), 1, given=facts)
    assert answers(found) == ["no", "yes", "yes"]
    assert found.race.counterexample.numbers["waits"] <= 0


def test_what_cannot_be_decided_says_why():
    @mm.program
    def scatter(T, p, a):
        a[p[T.id]] = T.id

    found = proof(
        scatter, np.arange(32), words(32), given=["p.size == threads", "a.size == threads"]
    )
    assert answers(found) == ["no", "no", "yes"]
    within = ["p.size == threads", "a.size == threads", "all(0 <= x < a.size for x in p)"]
    found = proof(scatter, np.arange(32), words(32), given=within)
    assert found.index.answer == "yes"


@mm.program
def index_from_words(T, q, a):
    q[T.id] = 0 * q[T.id]
    T.barrier()
    a[T.id + q[T.id]] = T.id


@mm.program
def branch_from_words(T, q, a):
    q[T.id] = 0 * q[T.id]
    T.barrier()
    if q[T.id] > 0:
        T.barrier()


@mm.program
def end_from_words(T, q, a):
    q[T.id] = 0 * q[T.id]
    if q[T.id] > 0:
        return
    T.grid_barrier()


@mm.program
def index_of_a_float(T, q, a):
    if len(q) > 8:
        a[q[0] / 2] = 0


@mm.program
def value_of_a_float(T, q, a):
    q[T.id] = 0.5


@pytest.mark.parametrize(
    ("program", "about", "reason"),
    [
        (
            index_from_words,
            "race",
            "one element of a in no order; the index is read from q",
        ),
        (index_from_words, "index", "the index of a is read from q"),
        (
            branch_from_words,
            "barrier",
            "the test, which is read from q, may lead threads to different barriers",
        ),
        (
            end_from_words,
            "barrier",
            "the first thread of a block may end before a barrier of the grid",
        ),
        (value_of_a_float, "race", "a float is stored in 'q', which holds int64"),
        (index_of_a_float, "index", "the index of a is not a whole number for each axis"),
    ],
)
def test_what_stays_undecided_says_why(program, about, reason):
    facts = ["q.size == threads", "a.size == threads"]
    verdict = getattr(proof(program, words(8), words(8), given=facts, threads=8), about)
    assert verdict.answer == "undecided"
    assert reason in verdict.reason
    assert reason in str(verdict)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a.size == 31", "'a.size == 31' does not hold of this launch"),
        ("all(x > 0 for x in a)", "does not hold of this launch"),
        (7, "given must be one fact or several"),
        ([7], "given=7, but a fact is text"),
        ("a.size ==", "is not an expression of Python's"),
        ("m == 3", "there is no 'm'; there are threads, block_size"),
        ("a == 3", "'a' is an array; its sizes are a.size and a.shape"),
        ("x.size == 3", "there is no array parameter 'x'; there are a, b, c"),
        ("a.shape[1] == 3", "'a' has 1 axes"),
        ("a.size", "a fact compares whole numbers"),
        ("a.size / 2 == 3", "a fact compares whole numbers"),
        ("a.size ** b.size == 3", "an exponent is a number from 0 to 64"),
        ("all(x > 0 for x in a if x)", "write all(CONDITION for x in ARRAY)"),
        ("all(x > 0 for x in z)", "no array parameter 'z'; there are a, b, c"),
        ("all(x > 0 for x in c)", "the words of 'c' are not whole numbers"),
    ],
)
def test_a_fact_that_cannot_be_used_is_refused(given, message):
    with pytest.raises(LaunchError) as error:
        proof(add, words(30), words(30), np.zeros(30), given=given)
    assert message in str(error.value)


def test_facts_are_for_proofs():
    with pytest.raises(LaunchError, match="pass prove=True"):
        HMM.check(add, words(3), words(3), words(3), threads=4, given="threads == 4")
    with pytest.raises(LaunchError, match="prove must be True or False"):
        HMM.check(add, words(3), words(3), words(3), threads=4, prove="yes")


def test_without_z3_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("mmsim.proof.races")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("mmsim.proof.two_threads", "mmsim.proof.whole_numbers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(mm.MMSimError, match=r'pip install "memory-machine-simulator\[proof\]"'):
        proof(add, words(30), words(30), words(30))


def test_facts_have_arithmetic():
    facts = [
        "a.size == b.size == c.size",
        "min(a.size, 40) + max(1, -b.ndim) // 1 - 0 * 2 == 31 or not a.shape[-1] != 30",
        "block_size ** 2 == 64 and power_of_two(block_size)",
        "blockDim.x == 8 and gridDim.x == blocks and width == 4",
    ]
    assert proof(add, words(30), words(30), words(30), given=facts).answer == "yes"


def test_a_parameter_may_have_any_name():
    @mm.program
    def lanes(T, a, width):
        a[T.lane] = 0

    @mm.program
    def rows(T, a, threads, k1):
        for k in range(threads):
            a[k1 + 0 * k]

    assert proof(lanes, words(4), 4, given="a.size == width").index.answer == "no"
    facts = ["a.size == threads", "k1 >= 0"]
    assert proof(rows, words(4), 4, 0, given=facts).index.answer == "no"


def test_a_proof_is_kept_in_json():
    report = HMM.check(add, words(30), words(30), words(3), threads=3, prove=True)
    assert "- no index out of range: no: " in report._repr_html_()
    again = mm.api.report.Report.from_json(report.to_json())
    assert str(again) == str(report)
    assert again.proved.index.counterexample.arrays["c"].dtype == int
    with pytest.raises(ValueError, match="a verdict on each property"):
        Proof((), ())
    with pytest.raises(ValueError, match="exactly if it is no"):
        Proof((), tuple(Verdict(one, "no") for one in ("race", "index", "barrier")))


# Barriers


@mm.program
def where_data_say(T, a):
    if a[T.id] > 0:
        T.barrier()


@mm.program
def where_all_agree(T, a, n):
    for k in range(n):
        if a[k] > 0:
            T.barrier()


@mm.program
def returns_first(T, a, n):
    if T.id >= n:
        return
    T.barrier()
    a[T.id] = 0


@mm.program
def trips_of_threads(T, a):
    for _ in range(T.index):
        T.barrier()


@mm.program
def leaves_before(T, a, n):
    for k in range(n):
        if T.index == k:
            break
        T.barrier()


@mm.program
def goes_on_before(T, a, n):
    for k in range(n):
        if a[T.id] == k:
            continue
        T.barrier()


def helper(T, n):
    if T.index > n:
        return 0
    T.barrier()
    return 1


@mm.program
def leaves_a_helper(T, a, n):
    x = helper(T, n)


@pytest.mark.parametrize(
    ("program", "numbers", "answer"),
    [
        (where_data_say, (), "no"),
        (where_all_agree, (5,), "yes"),
        (returns_first, (5,), "yes"),
        (trips_of_threads, (), "no"),
        (leaves_before, (5,), "no"),
        (goes_on_before, (5,), "no"),
        (leaves_a_helper, (5,), "no"),
    ],
)
def test_threads_come_to_the_same_barriers(program, numbers, answer):
    a = np.arange(32)
    given = [f"{name} <= 5" for name in program.code.parameters[1:] for name in [name.name]]
    found = proof(program, a, *numbers, given=["a.size == threads", "threads >= 5", *given])
    assert found.barrier.answer == answer, found


def test_the_first_thread_of_a_block_comes_to_a_barrier_of_the_grid():
    @mm.program
    def others_return(T, a, n):
        if T.index < n:
            return
        T.grid_barrier()
        a[T.id] = 0

    facts = ["a.size == threads", "n <= 0"]
    assert proof(others_return, words(32), 0, given=facts).barrier.answer == "yes"
    facts = ["a.size == threads", "n <= 1", "blocks > 1"]
    assert proof(others_return, words(32), 0, given=facts).barrier.answer == "no"


def test_a_counterexample_that_shows_nothing_is_followed_by_one_of_other_sizes():
    from mmsim.proof.races import Questions

    launch = bind(HMM, add, (words(3), words(3), words(3)), (32, 8, None), "asynchronous", 10**6)
    questions = Questions(launch, (), None, False)
    sizes = [one.sizes[:2] for one in questions.examples(questions.open("index"))]
    assert len(set(sizes)) > 3
    assert max(map(sizes.count, sizes)) == 2  # with arrays of zeros, and filled


def test_a_counterexample_is_the_same_in_each_process():
    """The order of sets of text has no influence on what Z3 is given."""
    code = "from tests.proof.test_race_proofs import *; "
    code += "print(proof(add, words(3), words(4), words(5)).verdicts)"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(printed) == 1
    assert b"Counterexample" in printed.pop()


# Intervals


@mm.program
def sweeps(T, a, steps, last):
    i = T.index
    for k in range(steps):
        x = a[(i + 1) % T.block_size]
        T.barrier()
        a[i] = x + k
        if last > 0:
            T.barrier()


def test_the_end_of_an_iteration_meets_the_head_of_the_next_one():
    facts = ["a.size == threads"]
    options = {"threads": 8}
    found = proof(sweeps, words(8), 3, 1, given=[*facts, "last == 1"], **options)
    assert found.answer == "yes"
    assert proof(sweeps, words(8), 3, 1, given=facts, **options).race.answer == "no"
    assert (
        proof(sweeps, words(8), 1, 0, given=[*facts, "steps <= 1"], **options).race.answer == "yes"
    )


def test_barriers_of_an_inner_loop_order_the_iterations_of_the_outer_one():
    @mm.program
    def nested(T, a, n):
        i = T.index
        for k in range(n):
            for j in range(k):
                x = a[(i + j) % T.block_size]
                T.barrier()
                a[i] = x
                T.barrier()

    @mm.program
    def nested_with_one(T, a, n):
        i = T.index
        for k in range(n):
            for j in range(k):
                x = a[(i + j + 1) % T.block_size]
                T.barrier()
                a[i] = x

    facts = ["a.size == threads"]
    assert proof(nested, words(8), 3, given=facts, threads=8).answer == "yes"
    assert proof(nested_with_one, words(8), 3, given=facts, threads=8).race.answer == "no"


def test_words_that_lie_a_power_of_two_apart():
    @mm.program
    def exchange(T, a, j):
        i = T.id
        other = i ^ j
        if other > i:
            a[i], a[other] = a[other], a[i]

    @mm.program
    def within(T, a, j):
        a[T.id - (T.id & (j - 1))] = 0

    facts = ["a.size == threads", "power_of_two(threads)", "power_of_two(j)", "j < threads"]
    assert proof(exchange, words(32), 4, given=facts).answer == "yes"
    assert proof(within, words(32), 4, given=facts).index.answer == "yes"


@mm.program
def halves(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()
    half = T.block_size // 2
    while half > 0:
        if T.index < half:
            s[T.index] += s[T.index + half]
        T.barrier()
        half //= 2
    if T.index == 0:
        b[T.block] = s[0]


@mm.program
def doubles(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    T.barrier()
    step = 1
    while step < T.block_size:
        if T.index % (2 * step) == 0:
            s[T.index] += s[T.index + step]
        T.barrier()
        step *= 2
    if T.index == 0:
        b[T.block] = s[0]


def test_trees_need_powers_of_two_or_not():
    facts = ["a.size == threads", FULL, "b.size == blocks"]
    assert proof(halves, words(32), words(4), given=facts).answer == "yes"
    powers = [*facts, "power_of_two(block_size)"]
    assert proof(doubles, words(32), words(4), given=powers).answer == "yes"
    assert proof(doubles, words(32), words(4), given=facts).index.answer == "no"


@mm.program
def swaps(T, u, v, steps):
    for _ in range(steps):
        v[T.index] = u[(T.index + 1) % T.block_size]
        T.barrier()
        u, v = v, u


def test_two_arrays_that_change_places_are_different_arrays():
    facts = ["u.size == threads", "v.size == threads"]
    found = proof(swaps, words(8), words(8), 3, given=facts, threads=8)
    assert found.answer == "yes"


def test_only_a_barrier_of_the_grid_orders_blocks():
    @mm.program
    def shifted(T, a, b):
        a[T.id] = T.id
        T.barrier()
        b[T.id] = a[T.count - 1 - T.id]

    @mm.program
    def shifted_after_all(T, a, b):
        a[T.id] = T.id
        T.grid_barrier()
        b[T.id] = a[T.count - 1 - T.id]

    facts = ["a.size == threads", "b.size == threads"]
    assert proof(shifted, words(32), words(32), given=facts).race.answer == "no"
    assert proof(shifted, words(32), words(32), given=facts, threads=32).race.answer == "yes"
    assert proof(shifted_after_all, words(32), words(32), given=facts).answer == "yes"


def test_lanes_of_a_warp_do_not_race():
    @mm.program
    def neighbours(T, a):
        a[T.id] = a[T.id - T.id % 4]

    facts = ["a.size == threads", "width % 4 == 0", "block_size % 4 == 0", FULL]
    assert proof(neighbours, words(32), given=facts).race.answer == "yes"
    assert proof(neighbours, words(32), given=facts[:1]).race.answer == "no"


def test_atomics_and_equal_values_do_not_race():
    @mm.program
    def votes(T, a, n):
        mm.atomic.add(a, 0, 1)
        a[1] = n
        a[2] = 5

    @mm.program
    def plain_beside_atomic(T, a, n):
        mm.atomic.add(a, 0, 1)
        if T.id == n:
            a[0] = 5

    facts = ["a.size == 3"]
    assert proof(votes, words(3), 1, given=facts).answer == "yes"
    found = proof(plain_beside_atomic, words(3), 1, given=facts)
    assert found.race.counterexample.finding.kind == "beside-atomic"


# Variables of loops


def test_a_variable_keeps_the_value_of_an_earlier_iteration():
    @mm.program
    def even_ones(T, a):
        for k in range(3):
            if k % 2 == 0:
                x = T.id + 2 - k
            a[x] = 0

    @mm.program
    def fewer(T, a, n):
        for k in range(n):
            n = 0
            a[T.id + k] = 0

    def index_of(program, *numbers, given=()):
        facts = ["a.size == threads + 1", *given]
        return proof(program, words(33), *numbers, given=facts).index.answer

    assert index_of(even_ones) == "no"
    assert index_of(fewer, 3, given=["n <= 3"]) == "no"
    assert index_of(fewer, 1, given=["n <= 1"]) == "yes"


def test_threads_that_return_in_a_loop_are_gone_behind_it():
    @mm.program
    def first_ones(T, a, n):
        for k in range(n):
            if T.index == k:
                return
        a[T.index] = T.id
        T.barrier()
        if T.index >= n:
            a[0] = 5

    def answer(last):
        facts = ["n >= 1", "a.size == threads", last]
        return answers(proof(first_ones, words(8), 3, given=facts, threads=8))

    assert answer("n < threads") == ["yes", "yes", "yes"]


def test_threads_that_skip_some_iterations_have_own_variables():
    @mm.program
    def counts(T, a, n):
        x = 0
        for k in range(n):
            if T.index > k:
                continue
            x += 1
        if x == n:
            T.barrier()
        a[T.id] = x

    found = proof(counts, words(32), 3, given=["a.size == threads", "n >= 1"])
    assert answers(found) == ["yes", "yes", "no"]


# Whole numbers


def test_a_word_of_memory_may_wrap_around_and_a_size_does_not():
    @mm.program
    def next_one(T, p, a):
        i = p[T.id]
        if i >= 0 and i + 1 < len(a):
            a[i + 1]

    @mm.program
    def next_of_all(T, p, a):
        i = T.id
        if i + 1 < len(a):
            a[i + 1]

    facts = ["p.size == threads"]
    assert proof(next_of_all, words(32), words(32), given=facts).index.answer == "yes"
    found = proof(next_one, words(32), words(32), given=facts)
    assert found.index.answer == "no"
    assert 2**63 - 1 in found.index.counterexample.arrays["p"]


@mm.program
def tiles(T, a, b, w):
    i, j = T.id // w, T.id % w
    b[j, i] = a[i, j]


@mm.program
def strided(T, a):
    i = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    while i < len(a):
        a[i] += 1
        i += T.blockDim.x * T.gridDim.x


def test_products_of_sizes():
    facts = ["threads == w * w", "w >= 1"]
    facts += [f"{name}.shape[{axis}] == w" for name in "ab" for axis in (0, 1)]
    assert proof(tiles, words(4, 4), words(4, 4), 4, given=facts, threads=16).answer == "yes"
    assert proof(strided, words(50), grid=3, block=8).answer == "yes"
    assert proof(tiles, words(4, 5), words(4, 4), 4, given=facts[:2], threads=16).answer == "no"


def test_a_grid_with_several_axes():
    @mm.program
    def transpose(T, a, b):
        x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
        y = T.blockIdx.y * T.blockDim.y + T.threadIdx.y
        if y < a.shape[0] and x < a.shape[1]:
            b[x, y] = a[y, x]

    facts = ["b.shape[0] == a.shape[1]", "b.shape[1] == a.shape[0]"]
    options = {"grid": (2, 3), "block": (4, 2)}
    assert proof(transpose, words(5, 7), words(7, 5), given=facts, **options).answer == "yes"
    facts[1] = "blockDim.y > 1"
    found = proof(transpose, words(5, 7), words(7, 5), given=facts, **options)
    assert found.index.counterexample.shape.block[1] > 1


def test_a_kernel_of_numba_cuda():
    from mmsim import cuda

    @cuda.jit
    def scale(a, b, factor):
        i = cuda.grid(1)
        while i < a.size:
            b[i] = a[i] * factor
            i += cuda.gridsize(1)

    @cuda.jit
    def neighbours(a):
        i = cuda.grid(1)
        if i < a.size - 1:
            a[i] = a[i + 1]

    a = np.zeros(50, np.float32)
    options = {"grid": 2, "block": 8}
    assert proof(scale, a, a.copy(), 2.0, given="a.size == b.size", **options).answer == "yes"
    found = proof(neighbours, a, **options)
    assert answers(found) == ["no", "yes", "yes"]
    assert "cuda.syncthreads" in str(found)
