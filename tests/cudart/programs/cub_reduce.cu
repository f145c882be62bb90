// CUB's reductions.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <map>
#include <numeric>

#include "cccl.h"

struct Larger {
  __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
struct Square {
  __host__ __device__ long long operator()(int a) const { return (long long)a * a; }
};

void sum(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(1);
  with_memory([&](void *m, size_t &b) { return cub::DeviceReduce::Sum(m, b, in.data, out.data, n); });
  same(name, n, {std::accumulate(a.begin(), a.end(), 0)}, out.host());
}
void sum_of_doubles(const char *name, int n) {
  auto a = numbers<double>(n, 1000);
  Array<double> in(a), out(1);
  with_memory([&](void *m, size_t &b) { return cub::DeviceReduce::Sum(m, b, in.data, out.data, n); });
  same(name, n, {std::accumulate(a.begin(), a.end(), 0.)}, out.host());
}
void sum_of_chars(const char *name, int n) {
  auto a = numbers<unsigned char>(n, 256);
  Array<unsigned char> in(a), out(1);
  with_memory([&](void *m, size_t &b) { return cub::DeviceReduce::Sum(m, b, in.data, out.data, n); });
  same(name, n, {std::accumulate(a.begin(), a.end(), (unsigned char)0)}, out.host());
}
void min_and_max(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  Array<int> in(a), least(1), most(1);
  with_memory([&](void *m, size_t &b) { return cub::DeviceReduce::Min(m, b, in.data, least.data, n); });
  with_memory([&](void *m, size_t &b) { return cub::DeviceReduce::Max(m, b, in.data, most.data, n); });
  if (!n) return;
  same(name, n, {*std::min_element(a.begin(), a.end())}, least.host());
  same(name, n, {*std::max_element(a.begin(), a.end())}, most.host());
}
void arg_min(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 12);
  if (!n) return;
  Array<int> in(a), least(1);
  Array<long long> at(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceReduce::ArgMin(m, b, in.data, least.data, at.data, (long long)n);
  });
  auto found = std::min_element(a.begin(), a.end());
  same(name, n, {*found}, least.host());
  same<long long>(name, n, {found - a.begin()}, at.host());
}
void reduce(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  Array<int> in(a), out(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceReduce::Reduce(m, b, in.data, out.data, n, Larger(), -5);
  });
  same(name, n, {std::accumulate(a.begin(), a.end(), -5, Larger())}, out.host());
}
void transform_reduce(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 12);
  Array<int> in(a);
  Array<long long> out(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceReduce::TransformReduce(m, b, in.data, out.data, n, cuda::std::plus<>(), Square(),
                                              3ll);
  });
  long long wanted = 3;
  for (int one : a) wanted += Square()(one);
  same(name, n, {wanted}, out.host());
}
void reduce_by_key(const char *name, int n) {
  auto keys = numbers<int>(n, 3), a = numbers<int>(n, 1000, 2);
  std::vector<int> unique, sums;
  for (int at = 0; at < n; at++) {
    if (!at || keys[at] != keys[at - 1]) unique.push_back(keys[at]), sums.push_back(0);
    sums.back() += a[at];
  }
  Array<int> in(keys), values(a), keys_out(n), sums_out(n), runs(1);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceReduce::ReduceByKey(m, b, in.data, keys_out.data, values.data, sums_out.data,
                                          runs.data, cuda::std::plus<>(), n);
  });
  same(name, n, {int(unique.size())}, runs.host());
  same(name, n, unique, keys_out.host(unique.size()));
  same(name, n, sums, sums_out.host(unique.size()));
}
// Segments of 0, 1, 2, ... elements.
std::vector<int> offsets(int n) {
  std::vector<int> found{0};
  for (int size = 0; found.back() < n; size++) found.push_back(std::min(found.back() + size, n));
  return found;
}
void segmented_sum(const char *name, int n) {
  auto a = numbers<int>(n, 1000), at = offsets(n);
  int segments = int(at.size()) - 1;
  Array<int> in(a), begins(at), out(segments);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSegmentedReduce::Sum(m, b, in.data, out.data, segments, begins.data,
                                           begins.data + 1);
  });
  std::vector<int> wanted;
  for (int one = 0; one < segments; one++)
    wanted.push_back(std::accumulate(&a[0] + at[one], &a[0] + at[one + 1], 0));
  same(name, n, wanted, out.host());
}
void segmented_max(const char *name, int n) {
  auto a = numbers<int>(n, 1000), at = offsets(n);
  int segments = int(at.size()) - 1;
  Array<int> in(a), begins(at), out(segments);
  with_memory([&](void *m, size_t &b) {
    return cub::DeviceSegmentedReduce::Reduce(m, b, in.data, out.data, segments, begins.data,
                                              begins.data + 1, Larger(), -1);
  });
  std::vector<int> wanted;
  for (int one = 0; one < segments; one++)
    wanted.push_back(std::accumulate(&a[0] + at[one], &a[0] + at[one + 1], -1, Larger()));
  same(name, n, wanted, out.host());
}

int main(int count, char **words) {
  return tested(count, words,
                {{"Reduce::Sum", 4096, sum},
                 {"Reduce::Sum of doubles", 4096, sum_of_doubles},
                 {"Reduce::Sum of chars", 4096, sum_of_chars},
                 {"Reduce::Min and Max", 4096, min_and_max},
                 {"Reduce::ArgMin", 4096, arg_min},
                 {"Reduce::Reduce", 4096, reduce},
                 {"Reduce::TransformReduce", 4096, transform_reduce},
                 {"Reduce::ReduceByKey", 4608, reduce_by_key},
                 {"SegmentedReduce::Sum", 4096, segmented_sum},
                 {"SegmentedReduce::Reduce", 4096, segmented_max}});
}
