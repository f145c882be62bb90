// A launch whose blocks wait for each other.
#include <cooperative_groups.h>

#include "check.h"

__global__ void rotate(int *a, int *b, int n) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  if (i < n) b[i] = a[i];
  grid.sync();
  if (i < n) a[i] = b[(i + 100) % n];
}

int main() {
  int n = 256, host[256], *a, *b, can = 0;
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  CHECK(cudaMalloc(&a, sizeof host));
  CHECK(cudaMalloc(&b, sizeof host));
  for (int i = 0; i < n; i++) host[i] = i;
  CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
  void *args[] = {&a, &b, &n};
  CHECK(cudaLaunchCooperativeKernel((void *)rotate, 4, 64, args, 0, 0));
  CHECK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%d %d %d\n", can, host[0], host[200]);
  std::printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel((void *)rotate, 100000, 64,
                                                                   args, 0, 0)));
}
