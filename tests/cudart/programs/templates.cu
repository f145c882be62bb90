// Instances of a template, dynamic shared memory, facts of kernels.
#include "check.h"

template <typename T, int N>
__global__ void reduce(const T *in, T *out) {
  extern __shared__ char bytes[];
  T *part = (T *)bytes;
  int i = threadIdx.x;
  part[i] = in[blockIdx.x * N + i];
  for (int step = N / 2; step; step /= 2) {
    __syncthreads();
    if (i < step) part[i] += part[i + step];
  }
  if (i == 0) out[blockIdx.x] = part[0];
}
__global__ __launch_bounds__(64) void bounded(int *out) {
  __shared__ int part[100];
  part[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = part[threadIdx.x];
}

template <typename T>
double total(int blocks) {
  const int n = 64;
  T *in, *out, first[n * 3], sums[3];
  for (int i = 0; i < n * blocks; i++) first[i] = T(i) / 2;
  CHECK(cudaMalloc(&in, n * blocks * sizeof(T)));
  CHECK(cudaMallocAsync(&out, blocks * sizeof(T), 0));
  CHECK(cudaMemcpy(in, first, n * blocks * sizeof(T), cudaMemcpyDefault));
  reduce<T, n><<<blocks, n, n * sizeof(T)>>>(in, out);
  CHECK(cudaMemcpy(sums, out, blocks * sizeof(T), cudaMemcpyDefault));
  CHECK(cudaFree(in));
  CHECK(cudaFreeAsync(out, 0));
  double all = 0;
  for (int i = 0; i < blocks; i++) all += sums[i];
  return all;
}

int main() {
  std::printf("%g %g %g\n", total<float>(3), total<double>(2), total<int>(1));
  cudaFuncAttributes facts;
  CHECK(cudaFuncGetAttributes(&facts, bounded));
  int size, grid, blocks;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, bounded));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 64, 0));
  std::printf("%d %d %d %d\n", facts.maxThreadsPerBlock, (int)facts.sharedSizeBytes, size, blocks);
  float *none = nullptr;
  auto wide = reduce<float, 64>;
  wide<<<1, 64, 50000>>>(none, none);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  CHECK(cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  CHECK(cudaMalloc(&none, 256));
  wide<<<1, 64, 50000>>>(none, none);
  CHECK(cudaGetLastError());
  bounded<<<1, 65>>>((int *)none);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
