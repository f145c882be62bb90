// Products of matrices by nvcuda::wmma, of all its shapes and types, in global and shared memory.
// To compile it, NVRTC needs the directory of NVIDIA's crt/mma.h.

#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, typename T, typename Memory, typename Sum, typename A, typename B>
__device__ void product(const Memory *a, const Memory *b, const Sum *c, Sum *d, int lda, int ldb,
                        int ldc, wmma::layout_t layout) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, A> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, B> right;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::load_matrix_sync(left, a, lda);
    wmma::load_matrix_sync(right, b, ldb);
    wmma::load_matrix_sync(sum, c, ldc, layout);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, ldc, layout);
}

#define ROW wmma::row_major
#define COL wmma::col_major
#define GIVEN(T, Sum) const T *a, const T *b, const Sum *c, Sum *d

extern "C" __global__ void half_float(GIVEN(half, float)) {
    product<16, 16, 16, half, half, float, ROW, COL>(a, b, c, d, 24, 16, 16, wmma::mem_row_major);
}

extern "C" __global__ void half_half(GIVEN(half, half)) {
    product<32, 8, 16, half, half, half, COL, ROW>(a, b, c, d, 32, 8, 40, wmma::mem_col_major);
}

extern "C" __global__ void brain(GIVEN(__nv_bfloat16, float)) {
    product<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, ROW, ROW>(a, b, c, d, 16, 40, 8,
                                                                     wmma::mem_col_major);
}

extern "C" __global__ void tensor_float(GIVEN(float, float)) {
    product<16, 16, 8, wmma::precision::tf32, float, float, COL, ROW>(a, b, c, d, 20, 16, 16,
                                                                     wmma::mem_row_major);
}

extern "C" __global__ void doubles(GIVEN(double, double)) {
    product<8, 8, 4, double, double, double, ROW, COL>(a, b, c, d, 4, 6, 10, wmma::mem_row_major);
}

extern "C" __global__ void bytes(GIVEN(signed char, int)) {
    product<16, 16, 16, signed char, signed char, int, ROW, ROW>(a, b, c, d, 16, 16, 16,
                                                                wmma::mem_row_major);
}

extern "C" __global__ void shared_tiles(const half *a, const half *b, float *d, int n, int skew) {
    __shared__ half left[16 * 32], right[16 * 32];
    __shared__ float sums[16 * 32];
    int pitch = 16 + skew;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    for (int k = 0; k < n; k += 16) {
#pragma unroll 1
        for (int i = threadIdx.x; i < 256; i += 32) {
            left[i / 16 * pitch + i % 16] = a[i / 16 * n + k + i % 16];
            right[i / 16 * pitch + i % 16] = b[(k + i / 16) * 16 + i % 16];
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, ROW> first;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, ROW> second;
        wmma::load_matrix_sync(first, left, pitch);
        wmma::load_matrix_sync(second, right, pitch);
        wmma::mma_sync(sum, first, second, sum);
        __syncwarp();
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2;
    wmma::store_matrix_sync(sums, sum, pitch, wmma::mem_row_major);
    __syncwarp();
#pragma unroll 1
    for (int i = threadIdx.x; i < 256; i += 32)
        d[i] = sums[i / 16 * pitch + i % 16];
}
