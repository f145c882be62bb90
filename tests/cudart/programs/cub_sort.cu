// CUB's sorts by comparison and by digits, its merges, and its choice of the largest.
#include <cub/device/device_merge.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_topk.cuh>

#include <functional>
#include <numeric>

#include "cccl.h"

struct Less {
  __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};

// The places of the numbers in a stable order.
template <typename T, typename F>
std::vector<int> order(const std::vector<T> &a, F less) {
  std::vector<int> found(a.size());
  std::iota(found.begin(), found.end(), 0);
  std::stable_sort(found.begin(), found.end(), [&](int x, int y) { return less(a[x], a[y]); });
  return found;
}
template <typename T>
std::vector<T> taken(const std::vector<T> &a, const std::vector<int> &places) {
  std::vector<T> found;
  for (int place : places) found.push_back(a[place]);
  return found;
}

void radix_keys(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  for (int at = 0; at < n; at += 2) a[at] = -a[at];
  Array<int> in(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceRadixSort::SortKeys(m, b, in.data, out.data, n);
  });
  std::sort(a.begin(), a.end());
  same(name, n, a, out.host());
}
void radix_pairs(const char *name, int n) {
  auto keys = numbers<int>(n, 1000), a = numbers<int>(n, 1 << 24, 2);
  Array<int> in(keys), values(a), out(n), values_out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceRadixSort::SortPairs(m, b, in.data, out.data, values.data, values_out.data, n);
  });
  auto places = order(keys, std::less<int>());
  same(name, n, taken(keys, places), out.host());
  same(name, n, taken(a, places), values_out.host());
}
void radix_descending(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  Array<int> in(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceRadixSort::SortKeysDescending(m, b, in.data, out.data, n, 4, 20);
  });
  auto digits = [](int x) { return x >> 4 & 0xffff; };
  auto places = order(a, [&](int x, int y) { return digits(x) > digits(y); });
  same(name, n, taken(a, places), out.host());
}
void merge_keys(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  Array<int> in(a);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceMergeSort::SortKeys(m, b, in.data, n, Less());
  });
  std::sort(a.begin(), a.end());
  same(name, n, a, in.host());
}
void merge_pairs(const char *name, int n) {
  auto keys = numbers<int>(n, 1000), a = numbers<int>(n, 1 << 24, 2);
  Array<int> in(keys), values(a);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceMergeSort::StableSortPairs(m, b, in.data, values.data, n, Less());
  });
  auto places = order(keys, std::less<int>());
  same(name, n, taken(keys, places), in.host());
  same(name, n, taken(a, places), values.host());
}
void merge_two(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24), c = numbers<int>(n / 2 + 1, 1 << 24, 2);
  std::sort(a.begin(), a.end());
  std::sort(c.begin(), c.end());
  std::vector<int> wanted;
  std::merge(a.begin(), a.end(), c.begin(), c.end(), std::back_inserter(wanted));
  Array<int> first(a), second(c), out(wanted.size());
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceMerge::MergeKeys(m, b, first.data, n, second.data, int(c.size()), out.data);
  });
  same(name, n, wanted, out.host());
}
void largest(const char *name, int n) {
  if (!n) return;  // of no numbers, CUB launches a grid of 0 blocks, which no card begins
  auto a = numbers<int>(n, 1 << 24);
  int k = n / 3;
  Array<int> in(a), out(k);
  auto how = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                      cuda::execution::output_ordering::unsorted);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceTopK::MaxKeys(m, b, in.data, out.data, n, k, how);
  });
  auto found = out.host();
  std::sort(a.begin(), a.end(), std::greater<int>());
  std::sort(found.begin(), found.end(), std::greater<int>());
  a.resize(k);
  same(name, n, a, found);
}

int main(int count, char **words) {
  return tested(count, words,
                {{"RadixSort::SortKeys", 7680, radix_keys},
                 {"RadixSort::SortPairs", 8832, radix_pairs},
                 {"RadixSort::SortKeysDescending", 7680, radix_descending},
                 {"MergeSort::SortKeys", 4352, merge_keys},
                 {"MergeSort::StableSortPairs", 4352, merge_pairs},
                 {"Merge::MergeKeys", 5118, merge_two},
                 {"TopK::MaxKeys", 4096, largest}});
}
