// Device code in two files, for nvcc -rdc=true: a function, variables, and names of one file alone.
#include "check.h"

extern __device__ int table[4];
__device__ int pick(int);
void scale(int *);
static __device__ int own = 100;

static __global__ void look(int *a) { a[threadIdx.x] = pick(threadIdx.x) + own; }

int main() {
  int *a, given[4] = {1, 2, 3, 4};
  CHECK(cudaMallocManaged(&a, sizeof given));
  CHECK(cudaMemcpyToSymbol(table, given, sizeof given));
  look<<<1, 4>>>(a);
  scale(a);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
}
