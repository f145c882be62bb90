// Variables of the device, by their names, by their addresses, and from the host.
#include "check.h"

__constant__ float factors[4] = {1, 2, 3, 4};
__device__ int counter = 10;
__device__ int table[32];
__managed__ int shared_by_both = 100;

__global__ void use(float *out, int *same_table) {
  int i = threadIdx.x;
  out[i] = factors[i % 4];
  atomicAdd(&counter, 1);
  table[i] = i;
  __syncthreads();
  same_table[i] += table[31 - i];
  if (i == 0) shared_by_both += 1;
}

int main() {
  float *out, host[32], new_factors[2] = {30, 40};
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMemcpyToSymbol(factors, new_factors, sizeof new_factors, 2 * sizeof(float)));
  int *address, count, values[32];
  size_t bytes;
  CHECK(cudaGetSymbolAddress((void **)&address, table));
  CHECK(cudaGetSymbolSize(&bytes, table));
  shared_by_both = 200;
  use<<<1, 32>>>(out, address);
  use<<<1, 32>>>(out, address);
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(values, table, sizeof values));
  std::printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]);
  std::printf("%d %d %d %d %d\n", count, shared_by_both, (int)bytes, values[0], values[31]);
}
