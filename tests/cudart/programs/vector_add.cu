// The sum of two vectors of argv[1] numbers; argv[2] is the exit status.
#include <vector>

#include "check.h"

__global__ void add(const float *a, const float *b, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  int n = std::atoi(argv[1]);
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
  size_t bytes = n * sizeof(float);
  float *d_a, *d_b, *d_sum;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_b, bytes));
  CHECK(cudaMalloc(&d_sum, bytes));
  CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  add<<<(n + 127) / 128, 128>>>(d_a, d_b, d_sum, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(sum.data(), d_sum, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_sum));
  for (int i = 0; i < n; i++)
    if (sum[i] != 3 * i) return 5;
  std::printf("%d sums\n", n);
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
