// Copies from global into shared memory that bypass registers (cp.async), in three lengths, with a
// stride in shared memory.
#include <cuda_pipeline.h>

template <typename Part>
__device__ void reverse(Part* out, const Part* in, int stride)
{
    extern __shared__ int4 memory[];
    Part* staged = reinterpret_cast<Part*>(memory);
    int t = threadIdx.x;
    int first = blockIdx.x * blockDim.x;
    __pipeline_memcpy_async(&staged[t * stride], &in[first + t], sizeof(Part));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + t] = staged[(blockDim.x - 1 - t) * stride];
}

extern "C" __global__ void staged4(int* out, const int* in, int stride)
{
    reverse(out, in, stride);
}

extern "C" __global__ void staged8(int2* out, const int2* in, int stride)
{
    reverse(out, in, stride);
}

extern "C" __global__ void staged16(int4* out, const int4* in, int stride)
{
    reverse(out, in, stride);
}

// Rows of 8 parts of 16 bytes, each row in another order: neither writing rows nor reading columns
// has bank conflicts.
extern "C" __global__ void swizzled(int4* out, const int4* in)
{
    __shared__ int4 staged[64];
    int t = threadIdx.x, row = t / 8, column = t % 8;
    __pipeline_memcpy_async(&staged[row * 8 + (column ^ row)], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = staged[column * 8 + (row ^ column)];
}
