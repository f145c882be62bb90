// Kernels to be proved, each with a twin that has a mistake. Compiled with -G.
#include <cassert>
#define KERNEL extern "C" __global__ void

struct Rows { int *in, *out; };

KERNEL by_struct(int *in, int *out)  // the pointers lie in local memory
{
    Rows rows;
    rows.in = in;
    rows.out = out;
    rows.out[threadIdx.x] = rows.in[threadIdx.x];
}

KERNEL by_struct_twin(int *in, int *out)
{
    Rows rows;
    rows.in = in;
    rows.out = out;
    rows.out[rows.in[threadIdx.x]] = threadIdx.x;
}

KERNEL bytes(char *out, size_t count)  // a loop that tests at its end
{
    for (size_t i = 0; i < count; i++) out[5 * threadIdx.x + i] = threadIdx.x;
}

KERNEL strided(int *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = i;
}

KERNEL strided_twin(int *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x) a[i] = i;
}

KERNEL wraps_around(int *a, int n)
{
    unsigned i = 0;
    for (int k = 0; k < n; k++) {
        if (k == 10 && i != 1) a[n] = 1;
        i += 1u << 28;
    }
}

KERNEL scattered(int *in, int *out)
{
    out[in[threadIdx.x]] = 0;
}

KERNEL asserted(int *a, int n)
{
    int i = threadIdx.x;
    if (i < n) a[i] = i;
    assert(i <= n || i > n + 1 || i == n + 1);
}

KERNEL asserted_twin(int *a, int n)
{
    int i = threadIdx.x;
    if (i < n) a[i] = i;
    assert(i <= n || i > n + 1);
}

KERNEL perhaps_null(int *a, int n)
{
    Rows rows;
    rows.out = n > 0 ? a : nullptr;
    if (n > 1) rows.out[threadIdx.x] = 1;
}

KERNEL perhaps_null_twin(int *a, int n)
{
    Rows rows;
    rows.out = n > 1 ? a : nullptr;
    if (n > 0) rows.out[threadIdx.x] = 1;
}
