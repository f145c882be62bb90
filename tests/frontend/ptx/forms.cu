// Forms of addresses, of parameters and of control flow, each in a small kernel.
#define KERNEL extern "C" __global__ void

KERNEL choose(float *out, const float *a, const float *b)
{
    int i = threadIdx.x;
    const float *p = i & 1 ? a : b;
    out[i] = p[i / 2];
}

KERNEL maybe(float *out, const float *a, const int *mask)
{
    int i = threadIdx.x;
    if (mask && !mask[i]) return;
    out[i] = a[i];
}

KERNEL join(unsigned *out, const unsigned char *a)
{
    int i = threadIdx.x;
    uchar4 v = ((const uchar4 *)a)[i];
    out[i] = v.x + 256 * v.y + 65536 * v.z + (unsigned)a[4 * i + 3] * 16777216u;
}

KERNEL halves(unsigned char *out, const int *a)
{
    ((int *)out)[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    out[4 * threadIdx.x] += 1;
}

struct Mixed { float x; int k; double d; short s; char c; };

KERNEL members(double *out, Mixed p)
{
    out[threadIdx.x] = p.x * p.k + p.d + p.s + p.c;
}

KERNEL cases(int *out, const int *a)
{
    int i = threadIdx.x, r;
    switch (a[i]) {
    case 0: r = 7; break;
    case 1: r = i * 3; break;
    case 2: r = -i; break;
    case 3: r = 100; break;
    case 4: r = i * i; break;
    case 5: r = 9; break;
    default: r = -1;
    }
    out[i] = r;
}

__device__ __noinline__ int steps(long long n)
{
    int k = 0;
    while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; k++; }
    return k;
}

KERNEL called(int *out)
{
    int i = threadIdx.x;
    out[i] = steps(i + 1) + (i % 3 ? steps(2 * i + 1) : 0);
}

KERNEL shuffled(int *out)
{
    int i = threadIdx.x, v = i * i;
    out[i] = __shfl_sync(~0u, v, 3) + 1000 * __shfl_up_sync(~0u, v, 2) + 7 * __shfl_xor_sync(~0u, v, 5)
        + 13 * __shfl_down_sync(~0u, v, 1, 8) + 17 * __shfl_sync(~0u, v, i + 1, 4);
}

KERNEL voted(unsigned *out, const int *a)
{
    int i = threadIdx.x;
    unsigned b = __ballot_sync(~0u, a[i] > 0);
    int any = __any_sync(~0u, a[i] > 5), all = __all_sync(~0u, a[i] >= 0);
    out[i] = b + any + 2 * all + __popc(b & ((1u << (i & 31)) - 1));
}

KERNEL met(int *out, const int *a)
{
    int i = threadIdx.x;
    int count = __syncthreads_count(a[i] > 0);
    int some = __syncthreads_or(a[i] > 6), all = __syncthreads_and(a[i] > -1);
    out[i] = count * 100 + (some != 0) * 10 + (all != 0);
}

KERNEL walk(float *out, const float *a, int n)
{
    float s = 0;
    for (const float *p = a + threadIdx.x, *e = a + n; p < e; p += blockDim.x) s += *p;
    out[threadIdx.x] = s;
}

KERNEL unaligned(float *out, const char *a, int by)
{
    out[threadIdx.x] = *(const float *)(a + by);
}

KERNEL extremes(int *most, unsigned *least, float *last, const int *a)
{
    int i = threadIdx.x;
    atomicMax(most, a[i]);
    atomicMin(least, (unsigned)a[i]);
    atomicExch(last, (float)a[0]);
    atomicAdd(last + 1, 1.0f);
}

KERNEL table(int *out, int n)
{
    int t[16], i = threadIdx.x, s = 0;
    for (int k = 0; k < 16; k++) t[k] = k * i;
    for (int k = 0; k < n; k++) s += t[(k * 7 + i) & 15];
    out[i] = s;
}

__constant__ float weights[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__device__ int counter = 5;

KERNEL variables(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x & 3] + atomicAdd(&counter, 1);
}

KERNEL twice(int *a, int *b)
{
    a[threadIdx.x] += 1;
    b[threadIdx.x + 64] = a[threadIdx.x] * 2;
}

KERNEL outside(int *a, int n)
{
    a[(int)threadIdx.x + n] = 1;
}

KERNEL stops(int *a)
{
    if (a[threadIdx.x] < 0) __trap();
    a[threadIdx.x] = 1;
}

KERNEL pointers(int **a)
{
    a[0][threadIdx.x] = 1;
}
