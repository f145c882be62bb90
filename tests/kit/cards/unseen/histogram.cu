// Histograms of bytes: one in shared memory for a block, one for each warp, and in global memory.

extern "C" __global__ void per_block(unsigned* bins, const unsigned char* data, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void per_warp(unsigned* bins, const uchar4* data, int n)
{
    __shared__ unsigned local[4][65];
    int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 4 * 65; i += blockDim.x) (&local[0][0])[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 four = data[i];
        atomicAdd(&local[warp][four.x >> 2], 1u);
        atomicAdd(&local[warp][four.y >> 2], 1u);
        atomicAdd(&local[warp][four.z >> 2], 1u);
        atomicAdd(&local[warp][four.w >> 2], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        unsigned sum = 0;
        for (int w = 0; w < 4; w++) sum += local[w][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

extern "C" __global__ void direct(unsigned* bins, const int* data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i] & 15], 1u);
}
