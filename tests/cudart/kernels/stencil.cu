#define RADIUS 3
#define BLOCK 32

// The sum of the 2 RADIUS + 1 elements around each, zeros outside, with a halo in shared memory.
extern "C" __global__ void stencil_1d(const int* in, int* out, int n)
{
    __shared__ int part[BLOCK + 2 * RADIUS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int t = threadIdx.x + RADIUS;
    part[t] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        part[t - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        part[t + BLOCK] = i + BLOCK < n ? in[i + BLOCK] : 0;
    }
    __syncthreads();
    int sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += part[t + k];
    if (i < n)
        out[i] = sum;
}

// One step of the equation of heat in the inner points.
extern "C" __global__ void heat_2d(const double* in, double* out, int height, int width, double rate)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const double* at = in + y * width + x;
    double around = at[-1] + at[1] + at[-width] + at[width];
    out[y * width + x] = at[0] + rate * (around - 4.0 * at[0]);
}
