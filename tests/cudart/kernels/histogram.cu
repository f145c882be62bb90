// A histogram of bytes: each block counts in shared memory, then adds its counts to the total.
extern "C" __global__ void histogram(const unsigned char* bytes, unsigned int* counts, int n)
{
    __shared__ unsigned int own[64];
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[bytes[i] >> 2], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x)
        atomicAdd(&counts[bin], own[bin]);
}
