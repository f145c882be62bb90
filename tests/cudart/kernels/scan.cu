// Inclusive prefix sums of each block, after Hillis and Steele, in two rows of shared memory.
extern "C" __global__ void scan(const int* in, int* out)
{
    extern __shared__ int rows[];
    int n = blockDim.x, t = threadIdx.x, from = 0, to = 1;
    int i = blockIdx.x * n + t;
    rows[t] = in[i];
    __syncthreads();
    for (int step = 1; step < n; step *= 2) {
        int value = rows[from * n + t];
        if (t >= step)
            value += rows[from * n + t - step];
        rows[to * n + t] = value;
        from = 1 - from;
        to = 1 - to;
        __syncthreads();
    }
    out[i] = rows[from * n + t];
}
