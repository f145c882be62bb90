// Copies of rows with a pitch, and of boxes.
#include "check.h"

__global__ void transpose(const int *in, size_t in_pitch, int *out, size_t out_pitch, int rows,
                          int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
  if (x < columns && y < rows)
    ((int *)((char *)out + x * out_pitch))[y] = ((const int *)((const char *)in + y * in_pitch))[x];
}

int main() {
  const int rows = 5, columns = 13;
  int host[rows][columns], result[columns][rows], *in, *out;
  for (int i = 0; i < rows * columns; i++) host[0][i] = i;
  size_t in_pitch, out_pitch;
  CHECK(cudaMallocPitch(&in, &in_pitch, columns * sizeof(int), rows));
  CHECK(cudaMallocPitch(&out, &out_pitch, rows * sizeof(int), columns));
  CHECK(cudaMemset2D(out, out_pitch, 0, rows * sizeof(int), columns));
  CHECK(cudaMemcpy2D(in, in_pitch, host, sizeof host[0], sizeof host[0], rows,
                     cudaMemcpyHostToDevice));
  transpose<<<dim3(2, 1), dim3(8, 8)>>>(in, in_pitch, out, out_pitch, rows, columns);
  CHECK(cudaMemcpy2D(result, sizeof result[0], out, out_pitch, sizeof result[0], columns,
                     cudaMemcpyDeviceToHost));
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++)
      if (result[x][y] != host[y][x]) return 5;
  cudaExtent extent = make_cudaExtent(8, 2, 3);
  cudaPitchedPtr box;
  CHECK(cudaMalloc3D(&box, extent));
  CHECK(cudaMemset3D(box, 1, extent));
  char small[3][2][8] = {};
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(small, 8, 8, 2);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  int sum = 0;
  for (char one : *(char(*)[48])small) sum += one;
  std::printf("transposed, %d, %d\n", sum, cudaMemcpy2D(in, 4, host, 4, 8, 1, cudaMemcpyDefault));
}
