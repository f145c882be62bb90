// Mistakes of the host: each call returns its error.
#include "check.h"

__global__ void nothing(int) {}
__device__ int variable;

int main(int argc, char **argv) {
  int host[4] = {}, *device, *none = (int *)12345;
  auto show = [](cudaError_t error) { std::printf("%s\n", cudaGetErrorName(error)); };
  show(cudaMalloc(&device, sizeof host));
  if (argc > 1) return device[0];
  show(cudaMalloc(&none, size_t(1) << 60));
  show(cudaMemcpy(host, device, sizeof host, cudaMemcpyHostToDevice));
  show(cudaMemcpy(device, host, 2 * sizeof host, cudaMemcpyHostToDevice));
  show(cudaMemset(host, 0, 4));
  show(cudaMemcpyToSymbol(host, host, 4));
  show(cudaMemcpyToSymbol(variable, host, 8));
  show(cudaSetDevice(3));
  nothing<<<1, 1025>>>(1);
  show(cudaPeekAtLastError());
  show(cudaGetLastError());
  nothing<<<0, 32>>>(1);
  show(cudaGetLastError());
  show(cudaFree(device + 1));
  show(cudaFree(device));
  show(cudaFree(device));
  show(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
  cudaIpcMemHandle_t shared;
  show(cudaIpcGetMemHandle(&shared, host));
  cudaEvent_t event;
  show(cudaEventCreate(&event));
  float time;
  show(cudaEventElapsedTime(&time, event, event));
  std::printf("%s, %s\n", cudaGetErrorString(cudaErrorInvalidValue),
              cudaGetErrorString((cudaError_t)12345));
}
