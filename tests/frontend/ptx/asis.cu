// Kernels that are compiled as they are written (-G): nothing unused is removed.
#define KERNEL extern "C" __global__ void

__constant__ int table[64];

KERNEL constant(const int *a)
{
    table[threadIdx.x] = a[threadIdx.x];
}

KERNEL counted(int *out)
{
    atomicAdd(table, 1);
    out[threadIdx.x] = table[0];
}

KERNEL unused(int *out, int *a, const float *b)
{
    int *p = a + threadIdx.x;
    out[threadIdx.x] = threadIdx.x;
}

KERNEL overwritten(int *out)
{
    __shared__ int last;
    last = threadIdx.x;
}

struct Pair
{
    int *first;
    __device__ Pair(int *a) { first = a; }
    __device__ void add(int k) { *first += k; }
};

KERNEL methods(int *out)
{
    __shared__ int a[64], b[64];
    int own = threadIdx.x;
    a[threadIdx.x] = b[threadIdx.x] = 0;
    Pair shared(threadIdx.x & 1 ? a + threadIdx.x : b + threadIdx.x), local(&own);
    shared.add(5);
    local.add(100);
    out[threadIdx.x] = a[threadIdx.x] * 10 + b[threadIdx.x] + own * 1000;
}

__device__ __noinline__ void meet(unsigned id) { __barrier_sync(id); }

KERNEL met(int *out)
{
    __shared__ int a[64];
    a[threadIdx.x] = threadIdx.x;
    meet(0);
    out[threadIdx.x] = a[63 - threadIdx.x];
}
