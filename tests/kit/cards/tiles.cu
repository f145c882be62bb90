// Tiles of 16 by 16 for tensor cores: loads from shared memory and stores into it, row by row and
// column by column, with rows or columns of 16 and 24 elements.
#include <mma.h>
using namespace nvcuda;

template <typename Use, typename Layout, int stride>
__device__ void load(float* out, const half* in)
{
    __shared__ __align__(32) half s[16 * stride];
    for (int k = threadIdx.x; k < 16 * stride; k += 32) s[k] = in[k];
    __syncwarp();
    wmma::fragment<Use, 16, 16, 16, half, Layout> tile;
    wmma::load_matrix_sync(tile, s, stride);
    float sum = 0;
    for (int k = 0; k < tile.num_elements; k++) sum += __half2float(tile.x[k]) * (k + 1);
    out[threadIdx.x] = sum;
}

template <typename Type, wmma::layout_t layout, int stride, int m = 16, int n = 16, int depth = 16>
__device__ void twice(Type* out, const Type* in)
{
    __shared__ __align__(32) Type s[16 * stride];
    for (int k = threadIdx.x; k < 16 * stride; k += 32) s[k] = in[k];
    __syncwarp();
    wmma::fragment<wmma::accumulator, m, n, depth, Type> tile;
    wmma::load_matrix_sync(tile, s, stride, layout);
    for (int k = 0; k < tile.num_elements; k++) tile.x[k] = tile.x[k] + tile.x[k];
    wmma::store_matrix_sync(s, tile, stride, layout);
    __syncwarp();
    for (int k = threadIdx.x; k < 16 * stride; k += 32) out[k] = s[k];
}

#define LOAD(use, layout, stride)                                                           \
    extern "C" __global__ void use##_##layout##_##stride(float* out, const half* in)        \
    {                                                                                       \
        load<wmma::use, wmma::layout, stride>(out, in);                                     \
    }
#define TWICE(type, layout, stride)                                                         \
    extern "C" __global__ void type##_##layout##_##stride(type* out, const type* in)        \
    {                                                                                       \
        twice<type, wmma::mem_##layout, stride>(out, in);                                   \
    }
#define EACH(make, what) make(what, row_major, 16) make(what, row_major, 24) \
    make(what, col_major, 16) make(what, col_major, 24)

EACH(LOAD, matrix_a)
EACH(LOAD, matrix_b)
EACH(TWICE, float)
EACH(TWICE, half)

// Other numbers: bytes, floats for tf32, and doubles.
template <typename Use, int m, int n, int depth, typename Kind, typename Type, typename Layout,
          int stride>
__device__ void other(float* out, const Type* in)
{
    __shared__ __align__(32) Type s[16 * stride];
    for (int k = threadIdx.x; k < 16 * stride; k += 32) s[k] = in[k];
    __syncwarp();
    wmma::fragment<Use, m, n, depth, Kind, Layout> tile;
    wmma::load_matrix_sync(tile, s, stride);
    float sum = 0;
    for (int k = 0; k < tile.num_elements; k++) sum += float(tile.x[k]) * (k + 1);
    out[threadIdx.x] = sum;
}

#define OTHER(name, use, layout, stride, m, n, depth, kind, type)                           \
    extern "C" __global__ void name##_##layout##_##stride(float* out, const type* in)       \
    {                                                                                       \
        other<wmma::use, m, n, depth, kind, type, wmma::layout, stride>(out, in);           \
    }
#define OTHERS(name, few, more, m, n, depth, kind, type)                                    \
    OTHER(name##_a, matrix_a, row_major, few, m, n, depth, kind, type)                      \
    OTHER(name##_a, matrix_a, row_major, more, m, n, depth, kind, type)                     \
    OTHER(name##_a, matrix_a, col_major, few, m, n, depth, kind, type)                      \
    OTHER(name##_a, matrix_a, col_major, more, m, n, depth, kind, type)                     \
    OTHER(name##_b, matrix_b, row_major, few, m, n, depth, kind, type)                      \
    OTHER(name##_b, matrix_b, row_major, more, m, n, depth, kind, type)                     \
    OTHER(name##_b, matrix_b, col_major, few, m, n, depth, kind, type)                      \
    OTHER(name##_b, matrix_b, col_major, more, m, n, depth, kind, type)

OTHERS(bytes, 16, 48, 16, 16, 16, signed char, signed char)
OTHERS(singles, 16, 20, 16, 16, 8, wmma::precision::tf32, float)
OTHERS(doubles, 8, 10, 8, 8, 4, double, double)

#define DOUBLES(layout, stride)                                                             \
    extern "C" __global__ void double_##layout##_##stride(double* out, const double* in)    \
    {                                                                                       \
        twice<double, wmma::mem_##layout, stride, 8, 8, 4>(out, in);                        \
    }
DOUBLES(row_major, 8)
DOUBLES(row_major, 10)
DOUBLES(col_major, 8)
DOUBLES(col_major, 10)
