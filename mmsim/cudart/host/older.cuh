// What CUDA 13 has left out of the runtime, for the programs of older courses. Each program
// includes it first.

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000

inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

inline cudaMemLocation mmsim_location(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

inline cudaError_t cudaMemPrefetchAsync(const void *from, size_t bytes, int device,
                                        cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(from, bytes, mmsim_location(device), 0, stream);
}

inline cudaError_t cudaMemAdvise(const void *from, size_t bytes, cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(from, bytes, advice, mmsim_location(device));
}

#endif
#endif
