"""Which reads are under way together in a compiler's code: unrolled loops and straight code."""

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.api.binding import bind
from mmsim.engines.cached_launch import waits
from mmsim.model.rounds import ALWAYS
from mmsim.model.threads import asked
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import both_engines

MACHINE = mm.Cached(1, 4, 10, under_way=32, unrolls=1)
A, D = np.arange(64, dtype=np.float32), np.arange(64)
SUM = "s = 0.0\nfor k in {}:\n    s = s + a[k]\nb[T.id] = s"


def of(program, *args, machine=MACHINE, **sizes):
    """For each access the sites that it always waits for, and its trips unrolled together."""
    sizes = {"threads": None, "block_size": None, "grid": None, "block": None, **sizes}
    found = waits(bind(machine, program, args, asked(**sizes), "asynchronous", 1 << 40))
    needs = [[int(site) for site in np.flatnonzero(row == ALWAYS)] for row in found.needs]
    return needs, found.most.tolist()


def of_text(text, n=64, a=A, **how):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    program = define(f"@mm.program\ndef made(T, a, b, d, n):\n{lines}", "made")
    return of(program, a, a.copy(), D, n, threads=4, **how)


@pytest.mark.parametrize(
    ("range_", "most"),
    [
        ("range(16)", 0),  # straight code
        ("range(33)", 16),
        ("range(n)", 16),  # a number is a constant of the CUDA C
        ("range(a.size)", 16),
        ("range(t)", 4),
        ("range(t, n)", 16),  # the counter begins at a value
        ("range(0, n, t)", 1),
    ],
)
def test_a_loop_is_unrolled_if_its_step_is_known(range_, most):
    """Without unrolling, the read waits for the one of the trip before: the sum needs it."""
    needs, found = of_text("t = d[0]\n" + SUM.format(range_))
    assert found == [0, most if most > 1 else 0, 0]
    uses = {0} if "t" in range_.replace("range", "") else set()
    assert [set(one) for one in needs] == [set(), uses | ({1} if most == 1 else set()), uses | {1}]


@pytest.mark.parametrize(
    ("body", "unrolled"),
    [
        ("s = s + a[k]", True),
        ("s = s + math.exp(a[k])", True),
        ("s = s + math.sqrt(a[k])", False),
        ("s = s + 1.0 / a[k]", False),
        ("x = a[k]\nif x > s:\n    s = x", True),
        ("x = a[k]\nif x > s:\n    break\ns = x", False),
        ("s = s + a[k]\nT.barrier()", False),
        ("x = a[k]\nfor j in range(4):\n    s = s + x * j", True),
        ("x = a[k]\nfor j in range(40):\n    s = s + x * j", False),
    ],
)
def test_a_loop_is_unrolled_if_its_body_is_straight_code(body, unrolled):
    lines = "".join(f"\n    {line}" for line in body.splitlines())
    needs, most = of_text(f"s = 0.0\nfor k in range(n):{lines}\nb[T.id] = s")
    assert most == [16 if unrolled else 0, 0]
    assert needs == [[] if unrolled else [0], [0]]


def test_a_value_that_is_only_copied_is_not_waited_for():
    """The next trip's value is read before this one is added: one waits for the one before."""
    text = (
        "x = a[0]\ns = 0.0\nk = 1\n"
        "while k * k < n:\n    y = a[k]\n    s = s + x\n    x = y\n    k = k + 1"
    )
    needs, most = of_text(text)
    assert most == [0, 0]
    assert needs == [[], [0, 1]]
    copied = "x = a[0]\nk = 1\nwhile k * k < n:\n    x = a[k]\n    k = k + 1\nb[T.id] = x"
    assert of_text(copied) == ([[], [], [0, 1]], [0, 0, 0])


def test_a_while_that_counts_is_unrolled_four_times():
    text = "s = 0.0\nk = 0\nwhile k < n:\n    s = s + a[k]\n    k {}\nb[T.id] = s"
    assert of_text(text.format("= k + 2"))[1] == [4, 0]
    assert of_text(text.format("= k * 2 + 1"))[1] == [0, 0]
    assert of_text(text.format("= k + n"))[1] == [4, 0]


def test_the_reads_of_a_short_branch_wait_for_its_test_and_others_do_not():
    text = "x = a[T.id]\nif x > 0:\n    b[T.id] = {}\ny = a[T.id + 1]\nb[T.id] = y"
    needs, _ = of_text(text.format("d[T.id]"))
    assert needs == [[], [0], [0, 1], [], [3]]
    long = "x = a[T.id]\nif x > 0:\n    T.barrier()\ny = a[T.id + 1]\nb[T.id] = y"
    assert of_text(long)[0] == [[], [0], [1]]


def test_a_block_waits_for_its_results_also_of_variables_set_again():
    """At the quotient the product is there, but not the word that x is set to after it."""
    text = "x = 2.0 * a[0]\nx = a[1]\ny = 1.0 / n\nz = a[2]\nb[T.id] = x + z"
    assert of_text(text, a=A.astype(np.float64))[0] == [[], [], [0], [1, 2]]


def test_the_test_of_a_short_branch_is_that_of_its_beginning():
    text = "x = a[T.id]\nif x > 0:\n    x = a[T.id + 1]\n    b[T.id] = 1.0"
    assert of_text(text)[0] == [[], [0], [0]]


def test_a_register_array_set_in_a_short_branch_waits_for_nothing():
    text = "r = mm.registers(2)\nx = a[0]\nif x > 0:\n    r[0] = 1.0\ny = a[1]\nb[T.id] = y + r[0]"
    assert of_text(text)[0] == [[], [], [0, 1]]


def test_an_access_after_a_short_branch_waits_as_if_no_lane_took_it():
    text = "x = 1.0 / a[0]\nif T.id > n:\n    b[T.id] = 1.0\ny = a[1]"
    assert of_text(text)[0] == [[], [0], [0]]


def test_a_computation_with_a_branch_ends_a_block():
    needs, _ = of_text("x = a[0]\ny = 1.0 / x\nz = a[1]\nb[T.id] = y + z")
    assert needs == [[], [0], [0, 1]]
    needs, _ = of_text("x = a[0]\ny = 1.5 * x\nz = a[1]\nb[T.id] = y + z")
    assert needs == [[], [], [0, 1]]


def test_numbas_compiler_knows_neither_numbers_nor_sizes():
    @cuda.jit
    def strided(a, b, n):
        s = 0.0
        for k in range(cuda.grid(1), n, cuda.gridsize(1)):
            s += a[k]
        b[cuda.grid(1)] = s

    @cuda.jit
    def all_of(a, b, n):
        s = 0.0
        for k in range(a.size):
            s += a[k]
        for k in range(5):
            s += a[k]
        b[cuda.grid(1)] = s

    assert of(strided, A, A.copy(), 8, grid=1, block=4)[1] == [4, 0]
    assert of(all_of, A, A.copy(), 8, grid=1, block=4) == ([[], [0], [0, 1]], [4, 0, 0])


def test_a_loop_of_numbas_with_known_trips_is_unrolled_to_sixteen_accesses():
    @cuda.jit
    def one(a, b):
        s = 0.0
        for k in range(64):
            s += a[k]
        b[0] = s

    @cuda.jit
    def three(a, b):
        s = 0.0
        for k in range(40):
            s += a[k] + a[k + 1] + a[k + 2]
        b[0] = s

    assert of(one, A, A.copy(), grid=1, block=4)[1] == [16, 0]
    assert of(three, A, A.copy(), grid=1, block=4)[1] == [4, 4, 4, 0]


@pytest.mark.parametrize(
    ("value", "type_", "most"),
    [
        ("a[k]", np.int8, 16),
        ("a[k]", np.float64, 8),
        ("a[k] + a[k + 1] + a[k + 2]", np.float32, 5),
        ("a[k] + a[k + 1] + a[k + 2]", np.float64, 2),
        ("a[d[k]]", np.float64, 8),  # the place's registers are free when the read begins
        (" + ".join(f"a[k + {one}]" for one in range(20)), np.float32, 1),
    ],
)
@pytest.mark.parametrize("trips", ["32", "64"])
def test_the_words_under_way_of_a_loop_fill_sixteen_registers(trips, value, type_, most):
    program = define(f"@mm.program\ndef made(T, a, b, d):\n    s = 0.0\n"
                     f"    for k in range({trips}):\n        s = s + {value}\n    b[T.id] = s\n",
                     "made")  # fmt: skip
    a = np.zeros(128, type_)
    _, found = of(program, a, np.zeros(8), D.astype(np.int32), threads=4, block_size=4)
    assert found == [most] * (len(found) - 1) + [0]


LOOP = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 a)
{{
    .reg .u64 %rd<3>;
    .reg .u32 %r<3>;
    .reg .f32 %f<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, 8;
    mov.f32 %f1, 0f00000000;
$again:
    ld.global.f32 %f2, [%rd1];
    add.f32 %f1, %f1, %f2;
    add.s64 %rd1, %rd1, 4;
    {more}
    add.s32 %r1, %r1, {step};
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra $again;
    st.global.f32 [%rd1], %f1;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("step", "more", "most"),
    [("-4", 0, 4), ("-1", 0, 0), ("-4", 30, 4), ("-4", 36, 0), ("%r2", 0, 0)],
)
def test_the_assembler_unrolls_short_loops_of_ptx_that_have_unrolled_trips(step, more, most):
    text = LOOP.format(step=step, more="\n".join(["add.f32 %f1, %f1, %f2;"] * more))
    text = text.replace("$again:", "mov.u32 %r2, -4;\n$again:")
    kernel = mm.RawKernel(text, "sums")
    assert of(kernel, np.zeros(9, np.float32), grid=1, block=4)[1] == [most, 0]


def test_vectors_fill_registers_for_all_their_words():
    """Four trips of a loop of PTX would be under way: of a vector of four floats, or of two."""
    text = LOOP.format(step="-4", more="").replace("<3>", "<9>").replace("%rd1, 4", "%rd1, 64")
    for read, most in (("v4.f32 {%f2, %f3, %f4, %f5}", 4), ("v2.f64 {%d1, %d2}", 4)):
        twice = f"ld.global.{read}, [%rd1];\n" + f"ld.global.{read}, [%rd1+32];"
        for reads, number in ((f"ld.global.{read}, [%rd1];", most), (twice, most // 2)):
            own = text.replace("ld.global.f32 %f2, [%rd1];", reads)
            own = own.replace(".reg .pred", ".reg .f64 %d<3>;\n.reg .pred")
            kernel = mm.RawKernel(own, "sums")
            found = of(kernel, np.zeros(64, np.float32), grid=1, block=4)[1]
            assert found == [number] * (len(found) - 1) + [0]


@pytest.mark.parametrize("extreme", [max, min, np.maximum, np.minimum, np.fmax, np.fmin])
def test_the_larger_and_the_smaller_of_floats_end_no_block(extreme):
    @cuda.jit
    def kernel(a, b):
        x = a[0]
        for k in range(1, a.size):
            x = extreme(x, a[k])
        b[0] = x

    assert of(kernel, A, A.copy(), grid=1, block=4) == ([[], [], [0, 1]], [0, 4, 0])


@pytest.mark.parametrize("op", ["max", "min"])
def test_the_larger_and_the_smaller_of_ptx_end_no_block(op):
    text = LOOP.format(step="-4", more="").replace("add.f32", f"{op}.f32")
    assert of(mm.RawKernel(text, "sums"), np.zeros(9, np.float32), grid=1, block=4)[1] == [4, 0]


def test_without_it_nothing_is_waited_for_but_where_it_is_used():
    plain = mm.Cached(1, 4, 10, under_way=32)
    assert of_text(SUM.format("range(n)"), machine=plain) == ([[], [0]], [0, 0])
    one = mm.Cached(1, 4, 10, unrolls=1)
    assert of_text(SUM.format("range(n)"), machine=one) == ([[], []], [0, 0])


@both_engines
def test_four_requests_of_a_line_are_under_way(engine):
    """Latency 10: the reads of a loop go at 0 to 3, and at 13 to 16; the write at 26."""
    text = "s = 0.0\nt = 8\nk = 0\nwhile k < t:\n    s = s + a[k]\n    k = k + 1\nb[T.id] = s"
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    program = define(f"@mm.program\ndef made(T, a, b):\n{lines}", "made")
    run = MACHINE.run(
        program, A, A.copy(), threads=4, schedule="asynchronous", engine=engine, trace=False
    )
    assert run.time == 13 + 13 + 10
