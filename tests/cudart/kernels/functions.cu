// Functions that are called, not inlined.
__device__ __noinline__ int gcd(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

__device__ __noinline__ void ordered(int* pair)
{
    if (pair[0] > pair[1]) {
        int first = pair[0];
        pair[0] = pair[1];
        pair[1] = first;
    }
}

extern "C" __global__ void divisors(const int* a, const int* b, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gcd(a[i], b[i]);
}

extern "C" __global__ void sort_pairs(int* pairs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ordered(pairs + 2 * i);
}
