// Structs with pointers as arguments; pointers into the middle of an array; a lambda.
#include "check.h"

struct Matrix {
  int rows, columns;
  float *data;
  __device__ float at(int y, int x) const { return data[y * columns + x]; }
};
struct Pair {
  Matrix left, right;
  char sign;
};

__global__ void product(Pair pair, Matrix out) {
  int y = threadIdx.y, x = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < pair.left.columns; k++) sum += pair.left.at(y, k) * pair.right.at(k, x);
  out.data[y * out.columns + x] = pair.sign == '-' ? -sum : sum;
}

template <typename F>
__global__ void each(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

int main() {
  float *all, host[12], result[4];
  CHECK(cudaMalloc(&all, 16 * sizeof(float)));
  for (int i = 0; i < 12; i++) host[i] = i;
  CHECK(cudaMemcpy(all, host, sizeof host, cudaMemcpyHostToDevice));
  Pair pair = {{2, 3, all}, {3, 2, all + 6}, '-'};
  product<<<1, dim3(2, 2)>>>(pair, Matrix{2, 2, all + 12});
  float *twice = all + 12;
  each<<<2, 3>>>(4, [=] __device__(int i) { twice[i] *= 2; });
  CHECK(cudaMemcpy(result, all + 12, sizeof result, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
}
