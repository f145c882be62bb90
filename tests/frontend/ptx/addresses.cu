// Functions that are called by their addresses.
#define KERNEL extern "C" __global__ void

typedef float (*Operation)(float, float);

__device__ __noinline__ float plus(float a, float b) { return a + b; }
__device__ __noinline__ float times(float a, float b) { return a * b; }
__device__ __noinline__ float negative(float a) { return -a; }
__device__ Operation operations[2] = {plus, times};
__device__ float (*changes[1])(float) = {negative};

KERNEL chosen(float *out, int k)
{
    Operation f = k == 1 ? plus : k == 2 ? times : (Operation)0;
    out[threadIdx.x] = f(threadIdx.x, 3.0f);
}

KERNEL tabled(float *out, int k)
{
    out[threadIdx.x] = operations[threadIdx.x % 2](threadIdx.x, 3.0f);
    if (threadIdx.x >= k) out[threadIdx.x] = changes[0](out[threadIdx.x]);
}

KERNEL given(float *out, Operation f)
{
    out[threadIdx.x] = f(threadIdx.x, 3.0f);
}
