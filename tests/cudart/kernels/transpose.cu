#define TILE 16

// One thread for each element: the writes are not coalesced.
extern "C" __global__ void naive(const float* in, float* out, int rows, int columns)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows)
        out[x * rows + y] = in[y * columns + x];
}

template <int PAD>
__device__ void tile_by_tile(const float* in, float* out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void tiled(const float* in, float* out, int rows, int columns)
{
    tile_by_tile<0>(in, out, rows, columns);
}

extern "C" __global__ void padded(const float* in, float* out, int rows, int columns)
{
    tile_by_tile<1>(in, out, rows, columns);
}
