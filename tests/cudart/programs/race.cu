// Threads of a block read what others write, without a barrier.
#include "check.h"

__global__ void reverse(int *a) {
  __shared__ int part[64];
  part[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = part[63 - threadIdx.x];
}

int main() {
  int *a;
  CHECK(cudaMallocManaged(&a, 64 * sizeof *a));
  reverse<<<1, 64>>>(a);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
