// Memory that both sides access, and memory of the host that the kernel accesses.
#include "check.h"

__global__ void square(long long *a, const int *b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = (long long)b[i] * b[i];
}

int main() {
  long long *a;
  int *b, *device_b;
  CHECK(cudaMallocManaged(&a, 100 * sizeof *a));
  CHECK(cudaHostAlloc(&b, 100 * sizeof *b, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&device_b, b, 0));
  for (int i = 0; i < 100; i++) b[i] = i + 1000000;
  CHECK(cudaMemAdvise(a, 800, cudaMemAdviseSetReadMostly, 0));
  CHECK(cudaMemPrefetchAsync(a, 800, 0));  // as before CUDA 13
  square<<<1, 64>>>(a, device_b, 100);
  CHECK(cudaThreadSynchronize());
  CHECK(cudaDeviceSynchronize());
  cudaPointerAttributes facts;
  CHECK(cudaPointerGetAttributes(&facts, a + 3));
  std::printf("%lld %lld %d\n", a[0], a[99], facts.type == cudaMemoryTypeManaged);
  cudaMemPool_t pool;
  cudaMemPoolProps properties = {};
  CHECK(cudaMemPoolCreate(&pool, &properties));
  size_t used;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  std::printf("%d\n", (int)used);
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaFree(a));
  CHECK(cudaFreeHost(b));
}
