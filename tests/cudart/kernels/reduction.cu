// The sum of each block, in shared memory.
extern "C" __global__ void block_sums(const float* in, float* out, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step >>= 1) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

__inline__ __device__ int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

// The sum of all: within warps by shuffles, then in shared memory, then by one atomic of a block.
extern "C" __global__ void shuffled_sum(const int* in, int* total, int n)
{
    __shared__ int of_warps[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    if (lane == 0)
        of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / warpSize ? of_warps[lane] : 0;
        sum = warp_sum(sum);
        if (lane == 0)
            atomicAdd(total, sum);
    }
}

extern "C" __global__ void atomic_extremes(const int* in, int* least, unsigned int* most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(least, in[i]);
        atomicMax(most, (unsigned int)in[i]);
    }
}
