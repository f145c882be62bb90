// The texts of host and device come in the order of the program.
#include <cstdio>

__global__ void tell(float first) {
  std::printf("thread %u of %d: %.1f\n", threadIdx.x, blockDim.x, first + threadIdx.x);
}

int main() {
  std::printf("before\n");
  tell<<<1, 2>>>(-0.5f);
  std::printf("after\n");
  return cudaDeviceSynchronize();
}
