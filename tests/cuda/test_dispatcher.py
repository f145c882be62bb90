"""`cuda.jit` in all its forms, and launches as Numba writes them."""

import contextvars
import pickle

import numba
import numpy as np
import pytest
from numba import cuda as numbas

import mmsim as mm
from mmsim import cuda
from mmsim.cuda import machines
from mmsim.cuda.launches import KernelIndexError, LaunchConfigurationError
from mmsim.cuda.types import TypingError, listed
from mmsim.errors import RaisedError


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


@cuda.jit("void(float32[:], float32)")
def typed(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


def scaled(kernel, *launch, dtype=np.float32, count=40):
    array = np.ones(count, dtype)
    kernel[launch](array, 3)
    return array.tolist()


@pytest.mark.parametrize(
    "decorate",
    [
        cuda.jit,
        cuda.jit(),
        cuda.jit(fastmath=True, lineinfo=True, max_registers=32, opt=True, cache=True),
        cuda.jit(debug=True, opt=False, inline="always"),
        cuda.jit("void(float32[:], float32)"),
        cuda.jit("(float32[:], float32)"),
        cuda.jit((cuda.float32[:], cuda.float32)),
        cuda.jit([cuda.void(cuda.float32[:], cuda.float32), "void(int32[:], int32)"]),
    ],
)
def test_every_form_gives_a_kernel(decorate):
    kernel = decorate(scale.py_func)
    assert scaled(kernel, 2, 32) == [3.0] * 40


@pytest.mark.parametrize(
    "launch", [(2, 32), ((2,), (32,)), ([2, 1], [16, 2]), (2, 32, 0), (2, 32, cuda.stream(), 64)]
)
def test_launches_are_written_as_in_numba(launch):
    assert set(scaled(scale, *launch)) <= {1.0, 3.0}


@pytest.mark.parametrize(
    ("launch", "error"),
    [
        *(((1,), ValueError), ((1, 2, 3, 4, 5), ValueError), ((None, 1), ValueError)),
        *(((1, (1, 1, 1, 1)), ValueError), ((1.5, 1), TypeError), ((1, "2"), TypeError)),
    ],
)
def test_launches_that_say_nothing_are_refused(launch, error):
    with pytest.raises(error):
        scale[launch]
    with pytest.raises(ValueError, match="launch configuration was not specified"):
        scale(np.ones(3), 2)


@pytest.mark.parametrize(
    ("launch", "text"),
    [
        *(((0, 32), "a grid of 0 along x"), ((1, 1025), "a block of 1025 along x")),
        ((1, (32, 32, 2)), "blocks of 2048 threads"),
        ((1, (1, 1, 65)), "a block of 65 along z"),
        (((1, 2**16), 1), "a grid of 65536 along y"),
        ((1, 1, 0, 50_000), "50000 bytes of dynamic shared memory"),
    ],
)
def test_launches_that_no_gpu_begins_are_refused(launch, text):
    array = np.ones(4, np.float32)
    with pytest.raises(LaunchConfigurationError, match=text):
        scale[launch](array, 2)
    assert array.tolist() == [1.0] * 4


def test_launch_bounds_hold():
    bounded = cuda.jit(launch_bounds=(64, 1))(scale.py_func)
    assert scaled(bounded, 1, 64) == [3.0] * 40
    with pytest.raises(LaunchConfigurationError, match="at most 64"):
        scaled(bounded, 1, 65)


def test_shared_memory_of_a_block_is_limited():
    @cuda.jit
    def greedy(a):
        room = cuda.shared.array(8192, cuda.float64)
        room[cuda.threadIdx.x] = a[0]
        a[0] = room[cuda.threadIdx.x]

    with pytest.raises(LaunchConfigurationError, match="65536 bytes of shared memory"):
        greedy[1, 1](np.zeros(1))


def test_each_set_of_argument_types_is_an_overload():
    kernel = cuda.jit(scale.py_func)
    kernel[1, 8](np.ones(8, np.float32), 2)
    kernel[1, 8](np.ones(8, np.int32), np.int32(2))
    kernel[2, 8](np.ones(9, np.float32), 5)
    assert [*map(listed, kernel.signatures)] == [
        "(array(float32, 1d, C), int64)",
        "(array(int32, 1d, C), int32)",
    ]
    one = next(iter(kernel.overloads.values()))
    assert one.max_threads_per_block == 1024
    assert one.shared_mem_per_block == one.local_mem_per_thread == one.const_mem_size == 0
    assert kernel.get_regs_per_thread(kernel.signatures[0]) == one.regs_per_thread == 1
    assert set(kernel.get_shared_mem_per_block().values()) == {0}
    assert one.max_cooperative_grid_blocks(256) == 132 * 8


def test_a_signature_converts_numbers_and_refuses_arrays():
    array = np.ones(4, np.float32)
    typed[1, 4](array, 2.5)
    assert array.tolist() == [2.5] * 4
    with pytest.raises(TypingError, match=r"No matching definition.*, which takes \("):
        typed[1, 4](np.ones(4), 2.5)
    with pytest.raises(TypeError):
        typed[1, 4](array)
    with pytest.raises(TypeError, match="void return type"):
        cuda.jit("int32(int32[:])")(lambda a: 0)
    with pytest.raises(TypingError, match="has 1 arguments"):
        cuda.jit("void(int32[:])")(scale.py_func)


def test_a_specialized_kernel_takes_its_types_alone():
    kernel = cuda.jit(scale.py_func)
    special = kernel.specialize(np.ones(3, np.float32), 2)
    assert special is kernel.specialize(np.ones(5, np.float32), 7)
    assert special.specialized
    assert not kernel.specialized
    assert scaled(special, 1, 64) == [3.0] * 40
    with pytest.raises(TypingError):
        special[1, 4](np.ones(3), 2)
    with pytest.raises(RuntimeError, match="already specialized"):
        special.specialize(np.ones(3, np.float32), 2)


def test_forall_takes_as_many_blocks_as_are_needed():
    for tpb in (0, 7):
        array = np.ones(1000, np.float32)
        scale.forall(1000, tpb=tpb)(array, 3)
        assert array.tolist() == [3.0] * 1000
    scale.forall(0)(array, 3)
    with pytest.raises(ValueError, match="negative task count: -1"):
        scale.forall(-1)


def test_arrays_change_in_place_wherever_they_are():
    host, strided = np.ones(8, np.float32), np.ones((8, 2), np.float32)
    device, mapped = cuda.to_device(host), cuda.mapped_array(8, np.float32)
    mapped[:] = 1
    for array in (host, strided[:, 1], device, device[::2], mapped):
        scale[1, 32](array, 3)
    assert host.tolist() == [3.0] * 8
    assert strided.tolist() == [[1.0, 3.0]] * 8
    assert device.copy_to_host().tolist() == [9.0, 3.0] * 4
    assert mapped.tolist() == [3.0] * 8


def test_hints_say_when_arrays_are_copied():
    host = np.ones(4, np.float32)
    scale[1, 4](cuda.In(host), 3)
    assert host.tolist() == [1.0] * 4
    scale[1, 4](cuda.InOut(host), 3)
    assert host.tolist() == [3.0] * 4
    scale[1, 4](cuda.Out(host), 3)
    assert host.tolist() == [0.0] * 4


def test_an_extension_changes_arguments_first():
    class Doubled:
        def prepare_args(self, ty, val, stream, retr):
            retr.append(lambda: done.append(str(ty)))
            return ty, val * 2 if isinstance(val, int) else val

    done = []
    kernel = cuda.jit(extensions=[Doubled()])(scale.py_func)
    assert scaled(kernel, 1, 64) == [6.0] * 40
    assert done == ["array(float32, 1d, C)", "int64"]


def test_callbacks_come_before_each_launch():
    launch, seen = scale[1, 4], []
    launch.pre_launch_callbacks.append(lambda kernel, config: seen.append(config.blockdim))
    launch(np.ones(4), 2)
    assert seen == [(4, 1, 1)]


@cuda.jit(device=True)
def twice(x):
    return 2 * x


def test_device_functions_are_called_by_kernels_alone():
    @cuda.jit
    def kernel(a):
        a[cuda.grid(1)] = twice(a[cuda.grid(1)])

    array = np.arange(4)
    kernel[1, 4](array)
    assert array.tolist() == [0, 2, 4, 6]
    with pytest.raises(mm.MMSimError, match="device function"):
        twice[1, 1](3)


def test_errors_name_kernel_line_thread_and_array():
    @cuda.jit
    def beyond(a):
        a[cuda.grid(1) + 1] = 1

    array = np.zeros(4)
    with pytest.raises(KernelIndexError, match="beyond") as caught:
        beyond[1, 4](array)
    assert isinstance(caught.value, IndexError)
    assert (caught.value.array, caught.value.thread) == ("a", 3)
    assert array.tolist() == [0.0] * 4


def test_foreign_code_is_refused():
    with pytest.raises(NotImplementedError, match="mmsim cannot run"):
        cuda.jit(link=["code.ptx"])
    with pytest.raises(NotImplementedError, match="mmsim cannot run"):
        cuda.declare_device("f", "int32(int32)")
    with pytest.raises(NotImplementedError, match="always checks"):
        cuda.jit(boundscheck=True)
    with pytest.raises(mm.MMSimError, match="no machine code"):
        scale.inspect_llvm()
    with pytest.raises(TypeError, match="not a Python function"):
        cuda.jit(5)


@pytest.mark.parametrize(
    ("carveout", "error"), [("max", ValueError), (101, ValueError), (1.5, TypeError)]
)
def test_carveouts_are_parts_of_the_memory(carveout, error):
    with pytest.raises(error):
        cuda.jit(shared_memory_carveout=carveout)


def test_a_kernel_shows_its_last_launch():
    kernel = cuda.jit(scale.py_func)
    with pytest.raises(mm.MMSimError, match="hasn't been launched"):
        kernel.profile()
    with pytest.raises(mm.MMSimError, match="hasn't been launched"):
        kernel.verdict()
    with cuda.machine(mm.HMM(dmms=1, width=4, global_latency=5)):
        kernel[1, 8](np.ones(8), 2)
    assert cuda.last is kernel.last
    assert kernel.last.machine == mm.HMM(1, 4, 5)
    # Two warps read a group each at times 0 and 1, are answered at 5 and 6, and write then: 6 + 5.
    assert kernel.last.time == 11
    assert kernel.profile().stages == 4


def test_a_machine_is_chosen_without_a_block_too():
    def chosen():
        cuda.machine(mm.HMM(dmms=1, width=4, global_latency=5))
        scale[1, 8](np.ones(8), 2)
        return cuda.last.machine

    assert contextvars.copy_context().run(chosen) == mm.HMM(1, 4, 5)  # and here all is as before
    scale[1, 8](np.ones(8), 2)
    assert cuda.last.machine == machines.h200()


def test_atomics_that_wait_for_each_other_are_no_bank_conflict():
    @cuda.jit
    def count(bins):
        part = cuda.shared.array(1, np.int32)
        cuda.atomic.add(part, 0, 1)
        cuda.atomic.add(bins, 0, 1)

    count[1, 32](np.zeros(1, np.int32))
    text = count.verdict().partition(": ")[2]
    assert text.startswith(
        "atomics that wait for each other take 31 of 32 stages of global memory; "
        "atomics that wait for each other take 31 of 32 stages of shared memory, "
    )


def test_a_verdict_names_the_line_behind_the_memory_that_wastes():
    @cuda.jit
    def spread(a):
        own = cuda.shared.array(32, np.float32)
        own[cuda.threadIdx.x] = a[32 * cuda.threadIdx.x]
        cuda.atomic.add(a, 0, own[cuda.threadIdx.x])

    spread[1, 32](np.zeros(1024, np.float32))
    text = spread.verdict().partition(": ")[2]
    assert text.startswith(
        "shared memory has no bank conflict; uncoalesced accesses take 31 and atomics that wait "
        "for each other take 31 of 64 stages of global memory, most of it in line "
    )


def test_a_machine_can_be_made_before_its_block_and_used_twice():
    one, two = mm.HMM(1, 4, 5), mm.HMM(2, 4, 5)

    def found():
        first, second = cuda.machine(one), cuda.machine(two)
        for chosen in (first, second, first):
            with chosen as machine:
                assert machines.current() == machine
                yield machine

    assert contextvars.copy_context().run(lambda: list(found())) == [one, two, one]


def test_a_kernel_can_be_pickled():
    copy = pickle.loads(pickle.dumps(typed))
    assert copy.signatures == typed.signatures
    assert scaled(copy, 1, 64) == [3.0] * 40


def test_a_kernel_can_be_a_method():
    class Owner:
        @cuda.jit
        def kernel(a):
            a[0] = 1

    assert Owner.kernel.py_func.__name__ == "kernel"
    array = np.zeros(1)
    Owner.kernel[1, 1](array)
    assert array[0] == 1


def test_types_are_printed(capsys):
    kernel = cuda.jit(scale.py_func)
    kernel[1, 8](np.ones(8, np.float32), 2)
    kernel.inspect_types()
    printed = capsys.readouterr().out
    assert "(array(float32, 1d, C), int64)" in printed
    assert "a[i] *= factor" in printed


@pytest.mark.parametrize(
    ("dtype", "itemsize"), [(cuda.float32, 4), (np.float64, 8), (numba.int16, 2)]
)
def test_a_type_can_be_an_argument(dtype, itemsize):
    @cuda.jit
    def through_shared(a, dtype):
        room = cuda.shared.array(10, dtype)
        i = cuda.threadIdx.x
        room[i] = a[i]
        cuda.syncthreads()
        a[i] = room[9 - i]

    array = np.arange(10)
    through_shared[1, 10](array, dtype)
    assert array.tolist() == list(range(10))[::-1]
    assert list(through_shared.get_shared_mem_per_block().values()) == [10 * itemsize]


def test_the_signature_that_fits_best_is_taken():
    taken = cuda.jit([cuda.void(cuda.int64[:], t) for t in (cuda.int32, cuda.float64)])(
        fill.py_func
    )
    array = np.zeros(1, np.int64)
    taken[1, 1](array, np.int16(3))
    assert array[0] == 3
    taken[1, 1](array, np.float32(2.5))
    assert array[0] == 2
    with pytest.raises(TypingError, match="Ambiguous"):
        cuda.jit(["void(f8[:], i4, f8)", "void(f8[:], f8, i4)"])(three)[1, 1](np.zeros(1), 1.5, 1.5)


@cuda.jit
def fill(a, value):
    a[cuda.grid(1)] = value


def three(a, b, c):
    a[0] = b + c


class OwnError(Exception):
    """One that a kernel raises."""


@pytest.mark.parametrize("kind", [OwnError, ValueError])
def test_what_a_kernel_raises_is_raised(kind):
    @cuda.jit(debug=True, opt=False)
    def raising(a):
        if cuda.threadIdx.x == 2 and cuda.blockIdx.x == 1:
            raise OwnError("too much")
        if a[0] == 1:
            raise ValueError

    array = np.zeros(1)
    if kind is ValueError:
        array[0] = 1
        with pytest.raises(ValueError, match=r"tid=\[0, 0, 0\] ctaid=\[0, 0, 0\]$"):
            raising[1, 2](array)
    else:
        with pytest.raises(OwnError, match=r"tid=\[2, 0, 0\] ctaid=\[1, 0, 0\]: too much"):
            raising[2, 4](array)


@pytest.mark.parametrize("jit", [cuda.jit, numbas.jit])
def test_a_run_and_a_check_of_a_kernel_that_is_debugged_raise_it_too(jit):
    @jit(debug=True, opt=False)
    def raising(a):
        if cuda.threadIdx.x == 2:
            raise ValueError("too much")

    machine = mm.HMM(dmms=1, width=4, global_latency=5)
    with pytest.raises(RaisedError, match="thread 2: ValueError: too much"):
        machine.run(raising, np.zeros(1), grid=1, block=4)
    (finding,) = machine.check(raising, np.zeros(1), grid=1, block=4).findings
    assert (finding.kind, finding.note) == ("exception", "ValueError: too much")
    assert finding.accesses[0].thread == 2


def test_the_only_signature_takes_the_bits_of_integers():
    kernel = cuda.jit("void(int32[:])")(decrease)
    array = np.full(2, 2**32 - 1, np.uint32)
    kernel[1, 2](array)
    assert array.tolist() == [2**32 - 2] * 2
    with pytest.raises(TypingError):
        kernel[1, 2](array.astype(np.uint64))
    with pytest.raises(TypingError):
        kernel[1, 2](array.astype(np.float32))


def decrease(a):
    a[cuda.grid(1)] -= 1


def test_findings_have_the_words_of_numba():
    @cuda.jit
    def turned(a):
        part = cuda.shared.array(32, np.float64)
        t = cuda.threadIdx.x
        part[t] = a[t]
        a[t] = part[31 - t]

    machine = mm.HMM(dmms=1, width=32, global_latency=5)
    report = machine.check(turned, np.ones(32), grid=1, block=32)
    (finding,) = type(report).from_json(report.to_json()).findings
    assert finding.title == "missing cuda.syncwarp()"
    assert "put cuda.syncwarp() between" in finding.advice


def test_a_captured_array_of_the_device_is_read_and_written_where_it_lies():
    prices, table = cuda.to_device(np.arange(3.0)), np.arange(2000)

    class Foreign:
        __cuda_array_interface__ = prices.__cuda_array_interface__

    other = Foreign()

    @cuda.jit
    def read(out):
        i = cuda.grid(1)
        out[i] = prices[i] + other[i] + table[i]
        prices[i] += 1

    out = np.zeros(3)
    read[1, 3](out)
    assert out.tolist() == [0, 3, 6]
    table[:] = 7  # which the kernel holds as it was
    read[1, 3](out)
    assert prices.copy_to_host().tolist() == [2, 3, 4]
    assert out.tolist() == [2, 5, 8]
