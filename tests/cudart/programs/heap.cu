// Objects with virtual functions, which kernels make, use and delete.
#include <cstdio>
#include <cuda_runtime.h>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ Square(int side) : side(side) {}
  __device__ int area() const override { return side * side; }
};
struct Strip : Shape {
  int *sides;
  __device__ Strip(int one, int other) : sides(new int[2]{one, other}) {}
  __device__ ~Strip() override { delete[] sides; }
  __device__ int area() const override { return sides[0] * sides[1]; }
};

__global__ void make(Shape **shapes) {
  int i = threadIdx.x;
  if (i % 2) {
    shapes[i] = new Square(i);
  } else {
    shapes[i] = new Strip(i, 10);
  }
}
__global__ void use(Shape **shapes, int *areas) {
  areas[threadIdx.x] = shapes[threadIdx.x]->area();
  delete shapes[threadIdx.x];
}
__global__ void much(int *found) { *found = malloc(size_t(3) << 20) != nullptr; }
__global__ void wait(long long ticks) {
  for (long long start = clock64(); clock64() - start < ticks;) {
  }
}

int main() {
  Shape **shapes;
  int *areas, sum = 0;
  size_t limit = 0;
  cudaMalloc(&shapes, 64 * sizeof(Shape *));
  cudaMallocManaged(&areas, 64 * sizeof(int));
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 << 20);
  cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
  make<<<1, 64>>>(shapes);
  use<<<1, 64>>>(shapes, areas);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; i++) sum += areas[i] == (i % 2 ? i * i : 10 * i);
  much<<<1, 1>>>(areas);
  wait<<<1, 32>>>(1000000000);
  cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d right, %zu bytes, much %d, %s\n", sum, limit, areas[0], cudaGetErrorName(error));
  error = cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20);
  std::printf("%s, %s\n", cudaGetErrorName(error),
              cudaGetErrorName(cudaDeviceSetLimit(cudaLimit(77), 1)));
}
