// Transposes of matrices of 1, 2, 4, 8 and 16 bytes: naive, tiled and tiled with padding.

#define TILE 32
#define ROWS 8

template <typename T>
__device__ void naive(T* out, const T* in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            out[x * height + (y + j)] = in[(y + j) * width + x];
}

template <typename T, int PAD>
__device__ void tiled(T* out, const T* in, int width, int height)
{
    __shared__ T tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

#define KERNELS(name, T)                                                             \
    extern "C" __global__ void naive_##name(T* out, const T* in, int w, int h)       \
    {                                                                                \
        naive(out, in, w, h);                                                        \
    }                                                                                \
    extern "C" __global__ void tiled_##name(T* out, const T* in, int w, int h)       \
    {                                                                                \
        tiled<T, 0>(out, in, w, h);                                                  \
    }                                                                                \
    extern "C" __global__ void padded_##name(T* out, const T* in, int w, int h)      \
    {                                                                                \
        tiled<T, 1>(out, in, w, h);                                                  \
    }

KERNELS(char, char)
KERNELS(short, short)
KERNELS(float, float)
KERNELS(double, double)
KERNELS(float4, float4)
