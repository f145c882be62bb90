"""Atomic variables, barriers, asynchronous copies, matrices, short floats, and flags."""

import numpy as np

from tests.cudart.libraries.case import Case, Module

ATOMICS = Module(
    ("cuda/atomic", "cuda/barrier", "cuda/pipeline", "cuda_pipeline_primitives.h"),
    [
        Case(
            "atomic_variable",
            """
    __shared__ cuda::atomic<int, cuda::thread_scope_block> c;
    if (t == 0) c.store(0);
    __syncthreads();
    c.fetch_add(v[0], cuda::memory_order_relaxed);
    __syncthreads();
    if (t == 0) out[b] = c.load();""",
            lambda a: [a.sum()],
        ),
        Case(
            "atomic_reference",
            "    cuda::atomic_ref<int, cuda::thread_scope_device> r(out[b]); r.fetch_max(v[0]);",
            lambda a: [a.max()],
        ),
        Case(
            "exchanges",
            """
    cuda::atomic_ref<int> r(out[b]);
    int old = r.load();
    while (!r.compare_exchange_weak(old, old + v[0])) {}""",
            lambda a: [a.sum()],
        ),
        Case(
            "barrier",
            """
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int s[T];
    if (t == 0) init(&barrier, T);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        s[t] = v[0];
        auto token = barrier.arrive(); barrier.wait(cuda::std::move(token));
        v[0] = s[(t + 33) % T];
        barrier.arrive_and_wait();
    }
    STORE(v);""",
            lambda a: np.roll(a, -99),
        ),
        Case(
            "copied_with_barrier",
            """
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int s[T];
    if (t == 0) init(&barrier, T);
    __syncthreads();
    cuda::memcpy_async(s + t, in + b * T + t, sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[b * T + t] = s[T - 1 - t];""",
            lambda a: a[::-1],
        ),
        Case(
            "copied_with_pipeline",
            """
    __shared__ int s[T];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(s + t, in + b * T + t, cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    pipe.consumer_release();
    out[b * T + t] = s[T - 1 - t];""",
            lambda a: a[::-1],
        ),
        Case(
            "copied_in_part",
            """
    __shared__ __align__(16) int s[4 * T];
    __pipeline_memcpy_async(s + 4 * t, in + first, 16, t % 5);
    __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
    for (int i = 0; i < 4; i++) out[(b * T + T - 1 - t) * 4 + i] = s[4 * t + i];""",
            lambda a: in_part(a.reshape(-1, 4))[::-1].reshape(-1),
            items=4,
        ),
    ],
)


def in_part(a):
    """All but the last t % 5 bytes of each thread's 16 are copied."""
    found = np.ascontiguousarray(a).view(np.uint8).copy()
    for t, row in enumerate(found):
        row[16 - t % 5 :] = 0
    return found.view(np.int32)


TRAITS = """
    const int w = t / 32, l = t % 32;
    __shared__ __align__(16) short s[T / 32][32][8];
    for (int i = 0; i < 8; i++) s[w][l][i] = v[0] + i;
    __syncwarp();
    unsigned a[4], at = __cvta_generic_to_shared(&s[w][l][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%0,%1,%2,%3}}, [%4];"
        : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
"""


def fragments(is_turned):
    def found(a):
        parts = []
        for row in a.reshape(-1, 32):
            whole = (row[:, None] + np.arange(8)).astype(np.int16).reshape(4, 8, 8)
            turned = np.ascontiguousarray(whole.transpose(0, 2, 1) if is_turned else whole)
            parts.append(turned.view(np.int32).reshape(4, 32).T.reshape(-1))
        return np.concatenate(parts)

    return found


def turned_back(a):
    whole = (a[:, None] + np.arange(8)).reshape(-1, 8, 8)
    return whole.transpose(0, 2, 1).reshape(-1)


SUM = "    for (int i = 0; i < 4; i++) out[(b * T + t) * 4 + i] = a[i];"
MATRICES = Module(
    (),
    [
        Case("matrix", TRAITS.format("") + SUM, fragments(False)),
        Case("turned", TRAITS.format(".trans") + SUM, fragments(True)),
        Case(
            "stored",
            TRAITS.format("")
            + """    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4], {%0,%1,%2,%3};"
        :: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(at) : "memory");
    __syncwarp();
    for (int i = 0; i < 8; i++) out[(b * T + t) * 8 + i] = s[w][l][i];""",
            turned_back,
        ),
    ],
)

SHORT = Module(
    ("cuda_fp16.h", "cuda_bf16.h", "cub/block/block_reduce.cuh"),
    [
        Case(
            "halves_of_words",
            """
    __half h = __hfma(__int2half_rn(v[0]), __float2half(0.5f), __float2half(1.f));
    __half2 g = __half2half2(h); g = __hadd2(g, g);
    v[0] = __half2int_rn(__low2half(g)); STORE(v);""",
            lambda a: a + 2,
        ),
        Case(
            "brain_floats",
            """
    __nv_bfloat16 h = __float2bfloat16(v[0] & 15); h = h * h + __nv_bfloat16(1.f);
    __nv_bfloat162 p(h, h); p = __hmax2(p, p); v[0] = (float)p.x; STORE(v);""",
            lambda a: (a & 15) ** 2 + 1,
        ),
        Case(
            "sum_of_halves",
            """
    using C = cub::BlockReduce<__half, T>; __shared__ typename C::TempStorage s;
    __half x = C(s).Sum(__float2half(v[0] & 15)); if (t == 0) out[b] = (float)x;""",
            lambda a: [(a & 15).sum()],
        ),
        Case(
            "added_pairs",
            """
    __shared__ __half2 s; if (t == 0) s = __half2(0.f, 0.f);
    __syncthreads();
    atomicAdd(&s, __half2(v[0] & 7, 1.f));
    __syncthreads();
    if (t == 0) out[b] = (float)s.x + 1000 * (float)s.y;""",
            lambda a: [(a & 7).sum() + 64000],
        ),
        Case(
            "added_halves",
            "    atomicAdd((__half*)out + b * 4 + (v[0] & 3), __float2half(1.f));",
            lambda a: np.bincount(a & 3, minlength=4).astype(np.float16).view(np.int32),
        ),
        Case(
            "exchanged_shorts",
            """
    __shared__ unsigned short s[4]; if (t < 4) s[t] = 0;
    __syncthreads();
    unsigned short old = 0, seen;
    do {
        seen = old;
        old = atomicCAS(&s[v[0] & 3], seen, (unsigned short)(seen + 1));
    } while (old != seen);
    __syncthreads();
    if (t < 4) out[b * 4 + t] = s[t];""",
            lambda a: np.bincount(a & 3, minlength=4),
        ),
        Case(
            "added_vectors",
            "    atomicAdd((float4*)out + b, make_float4(v[0], 1, 2, 3));",
            lambda a: [a.sum(), 64, 128, 192],
            type="float",
        ),
    ],
)


def walked(a):
    found = a.reshape(-1, 3).copy()
    for row in found:
        at, total, own = 0, 0, row.copy()
        for _ in range(5):
            total += own[at]
            at = (at + own[at]) % 3
        row[0] = total
    return found.reshape(-1)


MEMORY = Module(
    (),
    [
        Case(
            "carved",
            """
    __shared__ __align__(8) char raw[2 * T + 256 + 8];
    short* low = (short*)raw;
    unsigned* counts = (unsigned*)(raw + 2 * T);
    double* one = (double*)(raw + 2 * T + 256);
    counts[t] = 0; low[t] = v[0];
    if (t == 0) *one = 1.5;
    __syncthreads();
    atomicAdd(&counts[low[T - 1 - t] & 63], 1);
    __syncthreads();
    out[b * T + t] = counts[t] + (int)(*one * 2) + 1000 * low[t ^ 1];""",
            lambda a: np.bincount(a & 63, minlength=64) + 3 + 1000 * a[np.arange(64) ^ 1],
        ),
        Case(
            "records",
            """
    struct Record { int count; unsigned char f[4]; short x[2]; };
    __shared__ Record s[8];
    if (t < 8) {
        s[t].count = 0; s[t].x[0] = -3; s[t].x[1] = 7;
        for (int i = 0; i < 4; i++) s[t].f[i] = t + i;
    }
    __syncthreads();
    Record& own = s[v[0] & 7];
    atomicAdd(&own.count, own.f[v[0] & 3] + s[0].x[0] + s[1].x[1]);
    __syncthreads();
    if (t < 8) out[b * 8 + t] = s[t].count;""",
            lambda a: np.bincount(a & 7, (a & 7) + (a & 3) + 4, minlength=8),
        ),
        Case(
            "linked",
            """
    struct Node { int held; Node* next; } x[I];
    for (int i = 0; i < I; i++) { x[i].held = v[i]; x[i].next = &x[(i + v[i]) % I]; }
    Node* p = x;
    int sum = 0;
    for (int i = 0; i < 5; i++) { sum += p->held; p = p->next; }
    v[0] = sum; STORE(v);""",
            walked,
            items=3,
        ),
        Case(
            "shared_pointers",
            """
    __shared__ const V* p[T]; p[t] = in + b * T + t; __syncthreads();
    v[0] = *p[T - 1 - t]; STORE(v);""",
            lambda a: a[::-1],
        ),
        Case(
            "members",
            """
    __shared__ V s[T]; s[t] = v[0] * 2; __syncthreads();
    struct Both { const V* p; V* q; int n; } both{in, s, 3};
    Both* one = v[0] & 1 ? &both : nullptr;
    if (one) one->n = v[0];
    const V* z = v[0] & 2 ? both.p + b * T : both.q;
    v[0] = z[t] + both.n; STORE(v);""",
            lambda a: np.where(a & 2, a, 2 * a) + np.where(a & 1, a, 3),
        ),
        Case(
            "caches",
            """
    const ulonglong2* p = (const ulonglong2*)in;
    __stcs((ulonglong2*)out + (b * T + t), __ldg(p + (b * T + t)));
    __ldcg(in); __ldca(in); __ldlu(in); __ldcv(in);""",
            lambda a: a,
            items=4,
        ),
        Case(
            "named_barrier",
            """
    __shared__ V s[T]; s[t] = v[0];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    v[0] = s[T - 1 - t]; STORE(v);""",
            lambda a: a[::-1],
        ),
        Case(
            "flag",
            """
    __shared__ volatile int flag;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 32) { out[b] = 7; __threadfence(); flag = 1; }
    if (t == 0) { while (flag == 0) __nanosleep(20); __threadfence(); out[b] += 1; }""",
            lambda a: [8],
        ),
        Case(
            "scan_of_grid",
            """
    __shared__ int sums[T]; __shared__ int before;
    volatile int* flags = out + gridDim.x * T;
    volatile int* own = flags + gridDim.x;
    volatile int* whole = own + gridDim.x;
    sums[t] = v[0]; __syncthreads();
    for (int d = 1; d < T; d *= 2) {
        int x = t >= d ? sums[t - d] : 0; __syncthreads();
        sums[t] += x; __syncthreads();
    }
    if (t == T - 1) {
        own[b] = sums[t]; __threadfence(); flags[b] = 1;
        int p = 0;
        for (int i = b - 1; i >= 0;) {
            int f = flags[i]; __threadfence();
            if (f == 2) { p += whole[i]; break; }
            if (f == 1) p += own[i--];
        }
        whole[b] = p + sums[t]; __threadfence(); flags[b] = 2; before = p;
    }
    __syncthreads();
    out[b * T + t] = sums[t] + before;""",
            lambda a: a,  # the test of scans knows all blocks
        ),
    ],
)
STANDARD = Module(
    tuple(f"cuda/std/{name}" for name in ("algorithm", "array", "tuple", "optional", "bit")),
    [
        Case(
            "heap",
            """
    cuda::std::array<V, I> x; for (int i = 0; i < I; i++) x[i] = v[i];
    cuda::std::make_heap(x.begin(), x.end()); cuda::std::sort_heap(x.begin(), x.end());
    for (int i = 0; i < I; i++) v[i] = x[i];
    STORE(v);""",
            lambda a: np.sort(a.reshape(-1, 5)).reshape(-1),
            items=5,
        ),
        Case(
            "tuple_and_optional",
            """
    auto [x, y, z] = cuda::std::make_tuple(v[0], v[1] * 2L, (float)v[2]);
    cuda::std::optional<V> o; if (x & 1) o = x;
    v[0] = o.value_or(-5); v[1] = y; v[2] = z; STORE(v);""",
            lambda a: (
                np.where(np.arange(len(a)) % 3 == 1, 2 * a, a)
                * ((np.arange(len(a)) % 3 > 0) | (a % 2 == 1))
                - 5 * ((np.arange(len(a)) % 3 == 0) & (a % 2 == 0))
            ),
            items=3,
        ),
        Case(
            "bits",
            "    v[0] = cuda::std::popcount((unsigned)v[0]); STORE(v);",
            lambda a: [int(one).bit_count() for one in a],
        ),
    ],
)
