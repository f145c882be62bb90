// CUB's selections, partitions, runs, histograms and differences.
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "cccl.h"

struct Even {
  __host__ __device__ bool operator()(int a) const { return a % 2 == 0; }
};
struct Below {
  int bound;
  __host__ __device__ bool operator()(int a) const { return a < bound; }
};

void select_if(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(n), count(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSelect::If(m, b, in.data, out.data, count.data, n, Even());
  });
  std::vector<int> wanted;
  std::copy_if(a.begin(), a.end(), std::back_inserter(wanted), Even());
  same(name, n, {int(wanted.size())}, count.host());
  same(name, n, wanted, out.host(wanted.size()));
}
void select_flagged(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  auto flags = numbers<char>(n, 2, 2);
  Array<int> in(a), out(n), count(1);
  Array<char> marked(flags);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSelect::Flagged(m, b, in.data, marked.data, out.data, count.data, n);
  });
  std::vector<int> wanted;
  for (int at = 0; at < n; at++)
    if (flags[at]) wanted.push_back(a[at]);
  same(name, n, {int(wanted.size())}, count.host());
  same(name, n, wanted, out.host(wanted.size()));
}
void select_unique(const char *name, int n) {
  auto a = numbers<int>(n, 3);
  Array<int> in(a), out(n), count(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSelect::Unique(m, b, in.data, out.data, count.data, n);
  });
  a.erase(std::unique(a.begin(), a.end()), a.end());
  same(name, n, {int(a.size())}, count.host());
  same(name, n, a, out.host(a.size()));
}
void unique_by_key(const char *name, int n) {
  auto a = numbers<int>(n, 3), values = numbers<int>(n, 1000, 2);
  Array<int> in(a), out(n), count(1), values_in(values), values_out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSelect::UniqueByKey(m, b, in.data, values_in.data, out.data, values_out.data,
                                          count.data, n);
  });
  std::vector<int> keys, first;
  for (int at = 0; at < n; at++)
    if (!at || a[at] != a[at - 1]) keys.push_back(a[at]), first.push_back(values[at]);
  same(name, n, {int(keys.size())}, count.host());
  same(name, n, keys, out.host(keys.size()));
  same(name, n, first, values_out.host(keys.size()));
}
void partition_if(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(n), count(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DevicePartition::If(m, b, in.data, out.data, count.data, n, Even());
  });
  std::vector<int> wanted, rest;
  for (int one : a) (Even()(one) ? wanted : rest).push_back(one);
  same(name, n, {int(wanted.size())}, count.host());
  wanted.insert(wanted.end(), rest.rbegin(), rest.rend());
  same(name, n, wanted, out.host());
}
void partition_in_three(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), first(n), second(n), rest(n), counts(2);
  with_memory([&](void *m, size_t &b) {
    return cub::DevicePartition::If(m, b, in.data, first.data, second.data, rest.data, counts.data, n,
                                    Below{300}, Below{600});
  });
  std::vector<int> wanted[3];
  for (int one : a) wanted[one < 300 ? 0 : one < 600 ? 1 : 2].push_back(one);
  same(name, n, {int(wanted[0].size()), int(wanted[1].size())}, counts.host());
  same(name, n, wanted[0], first.host(wanted[0].size()));
  same(name, n, wanted[1], second.host(wanted[1].size()));
  same(name, n, wanted[2], rest.host(wanted[2].size()));
}
void encode(const char *name, int n) {
  auto a = numbers<int>(n, 3);
  Array<int> in(a), out(n), lengths(n), count(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceRunLengthEncode::Encode(m, b, in.data, out.data, lengths.data, count.data, n);
  });
  std::vector<int> unique, wanted;
  for (int at = 0; at < n; at++) {
    if (!at || a[at] != a[at - 1]) unique.push_back(a[at]), wanted.push_back(0);
    wanted.back()++;
  }
  same(name, n, {int(unique.size())}, count.host());
  same(name, n, unique, out.host(unique.size()));
  same(name, n, wanted, lengths.host(unique.size()));
}
void non_trivial_runs(const char *name, int n) {
  auto a = numbers<int>(n, 3);
  Array<int> in(a), begins(n), lengths(n), count(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceRunLengthEncode::NonTrivialRuns(m, b, in.data, begins.data, lengths.data,
                                                      count.data, n);
  });
  std::vector<int> first, wanted;
  for (int at = 0, end; at < n; at = end) {
    for (end = at + 1; end < n && a[end] == a[at]; end++) {}
    if (end - at > 1) first.push_back(at), wanted.push_back(end - at);
  }
  same(name, n, {int(first.size())}, count.host());
  same(name, n, first, begins.host(first.size()));
  same(name, n, wanted, lengths.host(first.size()));
}
void histogram_even(const char *name, int n) {
  auto a = numbers<float>(n, 1000);
  Array<float> in(a);
  std::vector<int> wanted(10);
  Array<int> out(wanted);
  for (float one : a)
    if (one < 500) wanted[int(one / 50)]++;
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceHistogram::HistogramEven(m, b, in.data, out.data, 11, 0.f, 500.f, n);
  });
  same(name, n, wanted, out.host());
}
void histogram_range(const char *name, int n) {
  auto a = numbers<unsigned char>(n, 256);
  std::vector<int> levels{0, 10, 100, 200, 256}, wanted(4);
  Array<unsigned char> in(a);
  Array<int> bounds(levels), out(wanted);
  for (int one : a) wanted[one < 10 ? 0 : one < 100 ? 1 : one < 200 ? 2 : 3]++;
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceHistogram::HistogramRange(m, b, in.data, out.data, 5, bounds.data, n);
  });
  same(name, n, wanted, out.host());
}
void differences(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(n);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceAdjacentDifference::SubtractLeftCopy(m, b, in.data, out.data, n);
  });
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceAdjacentDifference::SubtractRight(m, b, in.data, n);
  });
  auto left = a, right = a;
  for (int at = 1; at < n; at++) left[at] -= a[at - 1], right[at - 1] -= a[at];
  same(name, n, left, out.host());
  same(name, n, right, in.host());
}

int main(int count, char **words) {
  return tested(count, words,
                {{"Select::If", 6528, select_if},
                 {"Select::Flagged", 5760, select_flagged},
                 {"Select::Unique", 6528, select_unique},
                 {"Select::UniqueByKey", 7168, unique_by_key},
                 {"Partition::If", 3584, partition_if},
                 {"Partition::If in three", 3840, partition_in_three},
                 {"RunLengthEncode::Encode", 2688, encode},
                 {"RunLengthEncode::NonTrivialRuns", 4608, non_trivial_runs},
                 {"Histogram::HistogramEven", 6144, histogram_even},
                 {"Histogram::HistogramRange", 9216, histogram_range},
                 {"AdjacentDifference", 896, differences}});
}
