// Parts of an array in streams; the time between two events; a function of the host in a stream.
#include "check.h"

__global__ void twice(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

int main() {
  const int n = 256, parts = 4;
  int *host, *device;
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  CHECK(cudaMalloc(&device, n * sizeof(int)));
  for (int i = 0; i < n; i++) host[i] = i;
  cudaStream_t streams[parts];
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  for (cudaStream_t &one : streams) CHECK(cudaStreamCreate(&one));
  CHECK(cudaEventRecord(begin));
  for (int part = 0; part < parts; part++) {
    int at = part * n / parts, bytes = n / parts * sizeof(int);
    CHECK(cudaMemcpyAsync(device + at, host + at, bytes, cudaMemcpyHostToDevice, streams[part]));
    twice<<<2, n / parts / 2, 0, streams[part]>>>(device + at);
    CHECK(cudaMemcpyAsync(host + at, device + at, bytes, cudaMemcpyDeviceToHost, streams[part]));
  }
  CHECK(cudaEventRecord(end));
  CHECK(cudaStreamWaitEvent(streams[0], end, 0));
  int called = 0;
  CHECK(cudaLaunchHostFunc(streams[0], [](void *data) { *(int *)data = 1; }, &called));
  for (cudaStream_t &one : streams) CHECK(cudaStreamSynchronize(one));
  CHECK(cudaEventSynchronize(end));
  float milliseconds = 0, none = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(cudaEventElapsedTime(&none, end, end));
  for (int i = 0; i < n; i++)
    if (host[i] != 2 * i) return 5;
  std::printf("%.6f ms, %g ms, %d call\n", milliseconds, none, called);
  for (cudaStream_t &one : streams) CHECK(cudaStreamDestroy(one));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaFreeHost(host));
}
