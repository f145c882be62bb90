// What the programs of CUB and Thrust share: cases, sizes, numbers, and arrays of the device.
// PROGRAM [CASE [SIZE...]] runs one case or all of them, with given sizes or those around a tile.
#pragma once
#include "check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// Pseudorandom numbers below a bound, the same on every computer.
template <typename T>
std::vector<T> numbers(size_t n, uint32_t below, uint32_t seed = 1) {
  std::vector<T> found(n);
  for (T &one : found) {
    seed = seed * 1664525u + 1013904223u;
    one = T((seed >> 8) % below);
  }
  return found;
}

// An array of the device.
template <typename T>
class Array {
 public:
  explicit Array(size_t n) : size_(n) { CHECK(cudaMalloc(&data, n * sizeof(T))); }
  explicit Array(const std::vector<T> &from) : Array(from.size()) {
    CHECK(cudaMemcpy(data, from.data(), size_ * sizeof(T), cudaMemcpyDefault));
  }
  Array(const Array &) = delete;
  ~Array() { CHECK(cudaFree(data)); }
  std::vector<T> host(size_t n) const {
    std::vector<T> found(n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found.data(), data, n * sizeof(T), cudaMemcpyDefault));
    return found;
  }
  std::vector<T> host() const { return host(size_); }
  T *data = nullptr;

 private:
  size_t size_;
};

// Call an algorithm of CUB for the size of its memory, then with the memory.
template <typename F>
void with_memory(F algorithm) {
  size_t bytes = 0;
  CHECK(algorithm(nullptr, bytes));
  Array<char> memory(bytes);
  CHECK(algorithm((void *)memory.data, bytes));
}

inline bool failed = false;

template <typename T>
void same(const char *what, int n, const std::vector<T> &wanted, const std::vector<T> &found) {
  if (wanted.size() != found.size()) {
    std::printf("%s of %d: %zu elements, not %zu\n", what, n, found.size(), wanted.size());
    failed = true;
    return;
  }
  for (size_t at = 0; at < wanted.size(); at++)
    if (std::memcmp(&wanted[at], &found[at], sizeof(T))) {
      std::printf("%s of %d: element %zu is %g, not %g\n", what, n, at, double(found[at]),
                  double(wanted[at]));
      failed = true;
      return;
    }
}

// A case: what it runs, and the elements of a tile.
struct Case {
  const char *name;
  int tile;
  void (*run)(const char *name, int n);
};

inline int tested(int count, char **words, const std::vector<Case> &cases) {
  int done = 0;
  for (const Case &one : cases) {
    if (count > 1 && std::string(words[1]) != "all" && one.name != std::string(words[1])) continue;
    int t = one.tile;
    std::vector<int> sizes{0, 1, t - 1, t, t + 1};
    if (count > 2) sizes.clear();
    for (int word = 2; word < count; word++) sizes.push_back(std::atoi(words[word]));
    for (int n : sizes) one.run(one.name, n);
    done++;
  }
  std::printf(failed ? "differs\n" : done ? "OK\n" : "no such case\n");
  return failed || !done;
}
