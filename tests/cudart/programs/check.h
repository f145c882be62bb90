// What the programs share: a check of each call.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t error_ = (call);                                                        \
    if (error_ != cudaSuccess) {                                                        \
      std::printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(error_),             \
                  cudaGetErrorString(error_));                                          \
      std::exit(7);                                                                     \
    }                                                                                   \
  } while (0)
