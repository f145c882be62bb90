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
  square<<<1, 64>>>(a, device_b, 100);
  CHECK(cudaDeviceSynchronize());
  cudaPointerAttributes facts;
  CHECK(cudaPointerGetAttributes(&facts, a + 3));
  std::printf("%lld %lld %d\n", a[0], a[99], facts.type == cudaMemoryTypeManaged);
  CHECK(cudaFree(a));
  CHECK(cudaFreeHost(b));
}
