// A mistake of a kernel, chosen by argv[1]. The error comes with the next call that waits.
#include <cassert>
#include <cstring>

#include "check.h"

__global__ void beyond(int *numbers) { numbers[threadIdx.x + 90] = 1; }
__global__ void before(int *numbers) { numbers[(int)threadIdx.x - 1] = 1; }
__global__ void odd(char *bytes) { *(int *)(bytes + threadIdx.x) = 1; }
__global__ void positive(int *numbers) { assert(numbers[threadIdx.x] > 0); }
__global__ void follow(int **rows, int at) { rows[threadIdx.x][at] = 1; }
__global__ void ends() { __trap(); }

int *row() {
  int *found;
  CHECK(cudaMalloc(&found, 100 * sizeof(int)));
  return found;
}

int main(int argc, char **argv) {
  int *numbers;
  CHECK(cudaMalloc(&numbers, 100 * sizeof(int)));
  CHECK(cudaMemset(numbers, 0, 100 * sizeof(int)));
  auto is = [&](const char *name) { return !std::strcmp(argv[1], name); };
  if (is("beyond")) beyond<<<1, 32>>>(numbers);
  if (is("before")) before<<<1, 32>>>(numbers + 10), before<<<1, 32>>>(numbers);
  if (is("misaligned")) odd<<<1, 32>>>((char *)numbers);
  if (is("assert")) positive<<<1, 32>>>(numbers);
  if (is("trap")) ends<<<1, 32>>>();
  if (is("host")) {
    int own[100];
    beyond<<<1, 10>>>(own);
  }
  if (is("freed")) {
    CHECK(cudaFree(numbers));
    beyond<<<1, 10>>>(numbers);
  }
  if (is("followed") || is("followed-freed")) {
    int **rows, *own = row();
    if (is("followed-freed")) CHECK(cudaFree(own));
    CHECK(cudaMallocManaged(&rows, sizeof(int *)));
    rows[0] = is("followed-freed") ? own : own + 100;
    follow<<<1, 1>>>(rows, 3);
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  beyond<<<1, 10>>>(numbers);
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&numbers, 4)));
  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&numbers, 400));
}
