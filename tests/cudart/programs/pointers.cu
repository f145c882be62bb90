// Pointers in memory: an array of arrays, and a list.
#include "check.h"

struct Node {
  int value;
  Node *next;
};

__global__ void sums(float **rows, float *out, int columns) {
  float sum = 0;
  for (int i = 0; i < columns; i++) sum += rows[threadIdx.x][i];
  out[threadIdx.x] = sum;
}
__global__ void follow(const Node *first, int *out) {
  int sum = 0;
  for (const Node *one = first; one; one = one->next) sum += one->value;
  *out = sum;
}

int main() {
  float *rows[3], **device_rows, *out, host[3];
  for (int row = 0; row < 3; row++) {
    CHECK(cudaMallocManaged(&rows[row], 5 * sizeof(float)));
    for (int i = 0; i < 5; i++) rows[row][i] = row + i;
  }
  CHECK(cudaMalloc(&device_rows, sizeof rows));
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMemcpy(device_rows, rows, sizeof rows, cudaMemcpyHostToDevice));
  sums<<<1, 3>>>(device_rows, out, 5);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g\n", host[0], host[1], host[2]);
  Node *first = nullptr;
  for (int i = 1; i <= 4; i++) {
    Node *node;
    CHECK(cudaMallocManaged(&node, sizeof *node));
    *node = {i, first};
    first = node;
  }
  int *sum;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  follow<<<1, 1>>>(first, sum);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", *sum);
}
