// C++ of the host only, which asks for the device.
#include <cstdio>
#include <cuda_runtime.h>

int main() {
  cudaDeviceProp found;
  cudaError_t error = cudaGetDeviceProperties(&found, 0);
  std::printf("%s %d %d\n", cudaGetErrorName(error), found.major, found.warpSize);
}
