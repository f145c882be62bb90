// CUB's sorts, scans and reductions of segments.
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "cccl.h"

// Segments of 0, 1, 2, 4, ... elements, and one of the rest.
std::vector<int> offsets(int n) {
  std::vector<int> found{0, 0};
  for (int size = 1; size < 2000 && found.back() < n; size *= 2)
    found.push_back(std::min(found.back() + size, n));
  found.push_back(n);
  return found;
}

template <typename F>
void sorted(const char *name, int n, F algorithm) {
  auto a = numbers<int>(n, 1 << 24), at = offsets(n);
  Array<int> in(a), begins(at), out(n);
  int segments = int(at.size()) - 1;
  with_memory([&](void *m, size_t &b) {
    return algorithm(m, b, in.data, out.data, n, segments, begins.data, begins.data + 1);
  });
  for (int one = 0; one < segments; one++) std::sort(a.begin() + at[one], a.begin() + at[one + 1]);
  same(name, n, a, out.host());
}
void segmented_sort(const char *name, int n) {
  sorted(name, n, [](auto &&...all) { return cub::DeviceSegmentedSort::SortKeys(all...); });
}
void segmented_radix(const char *name, int n) {
  sorted(name, n, [](auto &&...all) { return cub::DeviceSegmentedRadixSort::SortKeys(all...); });
}
void segmented_pairs(const char *name, int n) {
  auto a = numbers<int>(n, 1000), values = numbers<int>(n, 1 << 24, 2), at = offsets(n);
  Array<int> in(a), begins(at), out(n), values_in(values), values_out(n);
  int segments = int(at.size()) - 1;
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSegmentedSort::StableSortPairs(m, b, in.data, out.data, values_in.data,
                                                     values_out.data, n, segments, begins.data,
                                                     begins.data + 1);
  });
  std::vector<std::pair<int, int>> all;
  for (int one = 0; one < n; one++) all.push_back({a[one], values[one]});
  for (int one = 0; one < segments; one++)
    std::stable_sort(all.begin() + at[one], all.begin() + at[one + 1],
                     [](auto &x, auto &y) { return x.first < y.first; });
  for (int one = 0; one < n; one++) a[one] = all[one].first, values[one] = all[one].second;
  same(name, n, a, out.host());
  same(name, n, values, values_out.host());
}

int main(int count, char **words) {
  return tested(count, words,
                {{"SegmentedSort::SortKeys", 4096, segmented_sort},
                 {"SegmentedRadixSort::SortKeys", 4096, segmented_radix},
                 {"SegmentedSort::StableSortPairs", 4096, segmented_pairs}});
}
