// CUB's scans.
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_scan.cuh>

#include <numeric>

#include "cccl.h"

struct Larger {
  __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

template <typename T>
void inclusive_sum(const char *name, int n) {
  auto a = numbers<T>(n, 100);
  std::vector<T> wanted(n);
  std::partial_sum(a.begin(), a.end(), wanted.begin());
  Array<T> in(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceScan::InclusiveSum(m, b, in.data, out.data, n);
  });
  same(name, n, wanted, out.host());
}
void exclusive_sum(const char *name, int n) {
  auto a = numbers<int>(n, 100);
  std::vector<int> wanted(n);
  for (int at = 1; at < n; at++) wanted[at] = wanted[at - 1] + a[at - 1];
  Array<int> in(a);
  with_memory([&](void *m, size_t &b) { return cub::DeviceScan::ExclusiveSum(m, b, in.data, n); });
  same(name, n, wanted, in.host());
}
void inclusive_scan(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  std::vector<int> wanted(n);
  std::partial_sum(a.begin(), a.end(), wanted.begin(), Larger());
  Array<int> in(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceScan::InclusiveScan(m, b, in.data, out.data, Larger(), n);
  });
  same(name, n, wanted, out.host());
}
void exclusive_scan(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  std::vector<int> wanted(n, 1000);
  for (int at = 1; at < n; at++) wanted[at] = Larger()(wanted[at - 1], a[at - 1]);
  Array<int> in(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceScan::ExclusiveScan(m, b, in.data, out.data, Larger(), 1000, n);
  });
  same(name, n, wanted, out.host());
}
void inclusive_by_key(const char *name, int n) {
  auto keys = numbers<int>(n, 3), a = numbers<int>(n, 100, 2);
  std::vector<int> wanted(a);
  for (int at = 1; at < n; at++)
    if (keys[at] == keys[at - 1]) wanted[at] += wanted[at - 1];
  Array<int> in(keys), values(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceScan::InclusiveSumByKey(m, b, in.data, values.data, out.data, n);
  });
  same(name, n, wanted, out.host());
}
void exclusive_by_key(const char *name, int n) {
  auto keys = numbers<int>(n, 3), a = numbers<int>(n, 100, 2);
  std::vector<int> wanted(n);
  for (int at = 1; at < n; at++)
    if (keys[at] == keys[at - 1]) wanted[at] = wanted[at - 1] + a[at - 1];
  Array<int> in(keys), values(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceScan::ExclusiveSumByKey(m, b, in.data, values.data, out.data, n);
  });
  same(name, n, wanted, out.host());
}

int main(int count, char **words) {
  return tested(count, words,
                {{"Scan::InclusiveSum", 3072, inclusive_sum<int>},
                 {"Scan::InclusiveSum of doubles", 2688, inclusive_sum<double>},
                 {"Scan::InclusiveSum of chars", 3072, inclusive_sum<unsigned char>},
                 {"Scan::ExclusiveSum", 3072, exclusive_sum},
                 {"Scan::InclusiveScan", 1920, inclusive_scan},
                 {"Scan::ExclusiveScan", 1920, exclusive_scan},
                 {"Scan::InclusiveSumByKey", 4032, inclusive_by_key},
                 {"Scan::ExclusiveSumByKey", 4032, exclusive_by_key}});
}
