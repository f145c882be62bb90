"""Kernels that use NVIDIA's device libraries run unchanged and right, on both engines."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.cudart import nvrtc
from mmsim.cudart.installed import headers
from mmsim.errors import LanguageError, MMSimError
from tests.cudart.libraries import block, memory, warp

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
QUICK = {
    "reduce": block.REDUCE,
    "warp": warp.CUB,
    "groups": warp.GROUPS,
    "instructions": warp.INSTRUCTIONS,
    "atomics": memory.ATOMICS,
    "matrices": memory.MATRICES,
    "memory": memory.MEMORY,
}
LONG = {
    "sort": block.SORT,
    "load": block.LOAD,
    "neighbours": block.NEIGHBOURS,
    "short": memory.SHORT,
    "standard": memory.STANDARD,
}
SCAN = next(case for case in memory.MEMORY.cases if case.name == "scan_of_grid")
CASES = [
    pytest.param(module, case, id=f"{name}-{case.name}", marks=marks)
    for modules, marks in ((QUICK, ()), (LONG, pytest.mark.long))
    for name, module in modules.items()
    for case in module.cases
    if case is not SCAN
]


@pytest.fixture(autouse=True, scope="module")
def compiler():
    try:
        nvrtc.compiler()
    except MMSimError as error:
        pytest.skip(str(error))
    if not any("cccl" in folder for folder in headers()):
        pytest.skip("the headers of CCCL are not there")


def runs(kernel, args, grid, threads):
    """The runs on both engines, of which the times must be equal."""
    special = kernel.program.specialized(args)
    how = {"grid": grid, "block": threads, "schedule": "asynchronous"}
    array, events = (
        MACHINE.run(special.program, *special.args, engine=engine, **how)
        for engine in ("array", "events")
    )
    assert array.time == events.time
    assert array.accesses == events.accesses
    return array.arrays, events.arrays


@pytest.mark.parametrize(("module", "case"), CASES)
def test_a_kernel_computes_what_numpy_does(module, case):
    before, expected = case.arrays()
    kernel = module.kernel(case.name)
    for arrays in runs(kernel, (before, np.zeros_like(expected)), case.blocks, case.threads):
        assert np.array_equal(arrays["out"].view(expected.dtype), expected)
    report = MACHINE.check(
        kernel, before, np.zeros_like(expected), grid=case.blocks, block=case.threads
    )
    assert not case.checked or not report.findings


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_a_scan_of_the_grid_in_one_pass_needs_flags_and_fences_alone(blocks):
    before = np.random.default_rng(blocks).integers(0, 99, 64 * blocks).astype(np.int32)
    out = np.zeros(67 * blocks, np.int32)
    kernel = memory.MEMORY.kernel("scan_of_grid")
    for arrays in runs(kernel, (before, out), blocks, 64):
        assert np.array_equal(arrays["out"][: 64 * blocks], before.cumsum())
    assert not MACHINE.check(kernel, before, out, grid=blocks, block=64).findings


def test_a_grid_waits_for_all_of_its_blocks():
    a = np.arange(4 * 128, dtype=np.int32)
    b = np.zeros_like(a)
    kernel = warp.GROUPS.kernel("of_grid")
    for _ in range(2):
        kernel((4,), (128,), (a, b))
        assert np.array_equal(b, a[::-1])
    for arrays in runs(kernel, (a, b), 4, 128):
        assert np.array_equal(arrays["out"], a[::-1])
    assert not MACHINE.check(kernel, a, b, grid=4, block=128).findings


TILES = """
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/block_scan.cuh>
constexpr int T = 64, I = 3;
extern "C" __global__ void tiles(const int* in, int* out, int n)
{
    using L = cub::BlockLoad<int, T, I, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using S = cub::BlockStore<int, T, I, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using C = cub::BlockScan<int, T>;
    __shared__ union {
        typename L::TempStorage load; typename S::TempStorage store; typename C::TempStorage scan;
    } s;
    int begin = blockIdx.x * T * I, v[I];
    L(s.load).Load(in + begin, v, n - begin, 0);
    __syncthreads();
    C(s.scan).InclusiveSum(v, v);
    __syncthreads();
    S(s.store).Store(out + begin, v, n - begin);
}
"""


@pytest.fixture(scope="module")
def tiles():
    return mm.RawModule(code=TILES).get_function("tiles")


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 95, 96, 97, 191, 192, 193, 383, 384, 385])
def test_tiles_of_any_size(tiles, n):
    a = np.random.default_rng(n).integers(0, 99, n).astype(np.int32)
    blocks = -(-n // 192)
    wanted = np.concatenate([a[at : at + 192].cumsum() for at in range(0, n, 192)])
    for arrays in runs(tiles, (a, np.zeros_like(a), n), blocks, 64):
        assert np.array_equal(arrays["out"], wanted)
    assert not MACHINE.check(tiles, a, np.zeros_like(a), n, grid=blocks, block=64).findings


def refused(code):
    a = np.zeros(64, np.int32)
    kernel = mm.RawKernel(f'extern "C" __global__ void k(int* a)\n{{\n{code}\n}}', "k")
    with pytest.raises(MMSimError) as caught:
        MACHINE.run(kernel, a, grid=1, block=64)
    assert "line 3" in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            '__shared__ long long s; unsigned at = __cvta_generic_to_shared(&s); asm volatile("mbar'
            'rier.arrive_drop.shared.b64 _, [%0];" :: "r"(at) : "memory"); a[0] = s;',
            "mbarrier.arrive_drop.shared.b64 has no meaning in the model; let all threads arrive",
        ),
        (
            'asm volatile("bar.arrive 1, 64;" ::: "memory"); a[0] = 1;',
            "bar.arrive has no meaning in the model; let all threads wait",
        ),
        (
            '__shared__ char s[16]; unsigned at = __cvta_generic_to_shared(s); asm volatile("cp.asy'
            'nc.bulk.prefetch.L2.global [%0], 16;" :: "l"(a) : "memory"); a[0] = at;',
            "needs copies by the tensor memory accelerator, which the model leaves out; copy with",
        ),
        (
            'unsigned r; asm volatile("{ .reg .b128 x; ld.global.b128 x, [%1]; mov.u32 %0, 1; }"'
            ' : "=r"(r) : "l"(a)); a[0] = r;',
            "ld.global.b128 accesses memory by an unknown type; use numbers of 8, 16, 32 or 64",
        ),
        (
            "struct __align__(16) P { long long x, y; }; a[0] = atomicCAS((P*)a, P(), P()).x;",
            "atom.global.cas.b128 has no meaning in the model; use words of 64 bits, or a lock",
        ),
        (
            'asm volatile("red.global.nand.b32 [%0], 1;" :: "l"(a));',
            "red.global.nand.b32 has no meaning in the model; take one of add, min, max, and, or,",
        ),
        (
            "atomicAdd((float*)a, 1.f); ((short*)a)[threadIdx.x] = 1;",
            "stores 2 bytes into 'a', where others add floats of 4 bytes; keep the two in arrays",
        ),
        (
            'asm volatile("wgmma.fence.sync.aligned;"); a[0] = 1;',
            "wgmma.fence.sync.aligned needs products of matrices by four warps together",
        ),
        (
            'unsigned r; asm volatile("mov.u32 %0, %envreg3;" : "=r"(r)); a[0] = r;',
            "the register %envreg3 has no meaning in the model",
        ),
    ],
)
def test_what_has_no_meaning_is_refused_at_its_line(code, words):
    error = refused(code)
    assert isinstance(error, LanguageError)
    assert words in str(error)


def test_a_barrier_of_some_threads_is_refused_when_it_runs():
    error = refused('if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;"); a[threadIdx.x] = 1;')
    assert "a barrier for 32 threads is not one of the whole block" in str(error)


def findings(code, threads=64):
    a = np.zeros(2 * threads, np.int32)
    kernel = mm.RawKernel(f'extern "C" __global__ void k(int* a)\n{{\n{code}\n}}', "k")
    return [one.kind for one in MACHINE.check(kernel, a, grid=1, block=threads).findings]


FLAG = """
    __shared__ {} int flag; __shared__ int word;
    if (threadIdx.x == 0) flag = word = 0;
    __syncthreads();
    if (threadIdx.x == 32) {{ word = 7; __threadfence(); flag = 1; }}
    if (threadIdx.x == 0 && flag == 1) a[0] = word;
"""


def test_a_flag_orders_if_it_is_volatile():
    assert findings(FLAG.format("")) != []
    assert findings(FLAG.format("volatile")) == []


def test_a_volatile_word_of_shared_memory_orders_no_lanes_of_a_warp():
    code = """
    __shared__ volatile int s[64]; int t = threadIdx.x;
    s[t] = t; if (t < 16) s[t] += s[t + 16];
    if (t < 8) {} a[t] = s[t] + s[t + 8];
    """
    assert findings(code.replace("{}", ""), 32) != []
    code = code.replace("s[t] = t;", "s[t] = t; __syncwarp();").replace(
        "if (t < 8)", "__syncwarp();"
    )
    assert findings(code.replace("{}", "").replace("s[t + 8]", "t"), 32) == []


def test_a_part_of_a_word_may_be_stored_first():
    code = """
    __shared__ union { int count; short half[2]; } s;
    if (threadIdx.x < 2) s.half[threadIdx.x] = 3;
    __syncthreads();
    atomicAdd(&s.count, 1); __syncthreads(); a[threadIdx.x] = s.half[1];
    """
    assert findings(code) == []
    assert findings(code.replace("s.half[threadIdx.x] = 3", "a[0] = 1")) != []


def test_an_argument_that_a_kernel_does_not_use_stays_as_it_is():
    a, b = np.zeros(64, np.int32), np.ones(64, np.float32)
    code = 'extern "C" __global__ void k(int* a, float* b) { a[threadIdx.x] = 1; }'
    run = MACHINE.run(mm.RawKernel(code, "k"), a, b, grid=1, block=64)
    assert run.arrays["a"].all()
