// Graphs: recorded from two streams, made node by node, updated, cloned.
#include <cstdio>

__global__ void add(int *numbers, int number) { numbers[threadIdx.x] += number; }

static int held[32];
static int calls = 0;
static void count(void *) { calls++; }

int main() {
  int *numbers;
  cudaMalloc(&numbers, sizeof held);
  cudaMemset(numbers, 0, sizeof held);
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(numbers, 1);
  cudaEventRecord(begin, stream);
  cudaStreamWaitEvent(other, begin, 0);
  add<<<1, 32, 0, other>>>(numbers, 10);
  cudaEventRecord(end, other);
  cudaStreamWaitEvent(stream, end, 0);
  cudaMemcpyAsync(held, numbers, sizeof held, cudaMemcpyDeviceToHost, stream);
  cudaLaunchHostFunc(stream, count, nullptr);
  cudaStreamCaptureStatus status, after;
  cudaStreamIsCapturing(stream, &status);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaStreamIsCapturing(other, &after);
  cudaGraphExec_t made;
  cudaGraphInstantiate(&made, graph, 0);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  std::printf("%d %d %d %zu\n", held[0], status == cudaStreamCaptureStatusActive,
              after == cudaStreamCaptureStatusNone, nodes);
  for (int number = 0; number < 3; number++) cudaGraphLaunch(made, stream);
  std::printf("%d %d\n", held[31], calls);

  // The node that is added first depends on the other one.
  cudaGraph_t by_hand, clone;
  cudaGraphCreate(&by_hand, 0);
  cudaGraphNode_t kernel, fill;
  int number = 5;
  void *args[] = {&numbers, &number};
  cudaKernelNodeParams launch = {};
  launch.func = (void *)add;
  launch.gridDim = 1;
  launch.blockDim = 32;
  launch.kernelParams = args;
  cudaGraphAddKernelNode(&kernel, by_hand, nullptr, 0, &launch);
  cudaMemsetParams filling = {};
  filling.dst = numbers;
  filling.value = 1000;
  filling.elementSize = 4;
  filling.width = 32;
  filling.height = 1;
  cudaGraphAddMemsetNode(&fill, by_hand, nullptr, 0, &filling);
#if CUDART_VERSION >= 13000
  cudaGraphAddDependencies(by_hand, &fill, &kernel, nullptr, 1);
#else
  cudaGraphAddDependencies(by_hand, &fill, &kernel, 1);
#endif
  cudaGraphClone(&clone, by_hand);
  cudaGraphExec_t second, third;
  cudaGraphInstantiate(&second, by_hand, 0);
  cudaGraphInstantiate(&third, clone, 0);
  cudaGraphLaunch(second, stream);
  cudaMemcpy(held, numbers, sizeof held, cudaMemcpyDefault);
  std::printf("%d ", held[0]);
  number = 7;
  cudaGraphExecKernelNodeSetParams(second, kernel, &launch);
  cudaGraphLaunch(second, stream);
  cudaMemcpy(held, numbers, sizeof held, cudaMemcpyDefault);
  std::printf("%d ", held[0]);
  cudaGraphLaunch(third, stream);
  cudaMemcpy(held, numbers, sizeof held, cudaMemcpyDefault);
  std::printf("%d\n", held[0]);
  cudaGraphExecUpdateResultInfo info;
  cudaError_t equal = cudaGraphExecUpdate(second, by_hand, &info);
  cudaError_t unequal = cudaGraphExecUpdate(second, graph, &info);
  std::printf("%s %s\n", cudaGetErrorName(equal), cudaGetErrorName(unequal));
  cudaGraphExecDestroy(second);
  cudaGraphDestroy(graph);
  return cudaDeviceSynchronize();
}
