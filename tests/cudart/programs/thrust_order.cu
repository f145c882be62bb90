// Thrust's sorts, searches, merges and operations of sets.
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/merge.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>

#include <numeric>

#include "cccl.h"

template <typename T>
std::vector<T> host(const thrust::device_vector<T> &a, size_t n) {
  std::vector<T> found(n);
  thrust::copy(a.begin(), a.begin() + n, found.begin());
  return found;
}
std::vector<int> increasing(int n, int below, int seed) {
  auto found = numbers<int>(n, below, seed);
  std::sort(found.begin(), found.end());
  return found;
}

void sort(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 24);
  thrust::device_vector<int> in(a);
  thrust::sort(in.begin(), in.end());
  std::sort(a.begin(), a.end());
  same(name, n, a, host(in, n));
}
struct Digits {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 < b / 10; }
};
void stable_sort(const char *name, int n) {
  auto a = numbers<int>(n, 1 << 12);
  thrust::device_vector<int> in(a);
  thrust::stable_sort(in.begin(), in.end(), Digits());
  std::stable_sort(a.begin(), a.end(), Digits());
  same(name, n, a, host(in, n));
}
void sort_by_key(const char *name, int n) {
  auto keys = numbers<int>(n, 100);
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  thrust::device_vector<int> in(keys), values(places);
  thrust::stable_sort_by_key(in.begin(), in.end(), values.begin());
  std::stable_sort(places.begin(), places.end(), [&](int x, int y) { return keys[x] < keys[y]; });
  std::sort(keys.begin(), keys.end());
  same(name, n, keys, host(in, n));
  same(name, n, places, host(values, n));
}
void merge(const char *name, int n) {
  auto a = increasing(n, 1000, 1), b = increasing(n / 2 + 3, 1000, 2);
  thrust::device_vector<int> first(a), second(b), out(a.size() + b.size());
  thrust::merge(first.begin(), first.end(), second.begin(), second.end(), out.begin());
  std::vector<int> wanted;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(wanted));
  same(name, n, wanted, host(out, out.size()));
}
template <typename D, typename H>
void of_sets(const char *name, int n, D device, H on_host) {
  auto a = increasing(n, n + 5, 1), b = increasing(n / 2 + 3, n + 5, 2);
  thrust::device_vector<int> first(a), second(b), out(a.size() + b.size());
  auto end = device(first.begin(), first.end(), second.begin(), second.end(), out.begin());
  std::vector<int> wanted;
  on_host(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(wanted));
  same(name, n, wanted, host(out, end - out.begin()));
}
#define OF_SETS(operation)                                            \
  void operation(const char *name, int n) {                           \
    of_sets(name, n, [](auto... all) { return thrust::operation(all...); }, \
            [](auto... all) { return std::operation(all...); });      \
  }
OF_SETS(set_union)
OF_SETS(set_intersection)
OF_SETS(set_difference)
OF_SETS(set_symmetric_difference)
void search(const char *name, int n) {
  auto a = increasing(n, 1000, 1), b = numbers<int>(n, 1000, 2);
  thrust::device_vector<int> in(a), values(b), lower(n), upper(n), found(n);
  thrust::lower_bound(in.begin(), in.end(), values.begin(), values.end(), lower.begin());
  thrust::upper_bound(in.begin(), in.end(), values.begin(), values.end(), upper.begin());
  thrust::binary_search(in.begin(), in.end(), values.begin(), values.end(), found.begin());
  std::vector<int> wanted[3];
  for (int one : b) {
    wanted[0].push_back(int(std::lower_bound(a.begin(), a.end(), one) - a.begin()));
    wanted[1].push_back(int(std::upper_bound(a.begin(), a.end(), one) - a.begin()));
    wanted[2].push_back(std::binary_search(a.begin(), a.end(), one));
  }
  same(name, n, wanted[0], host(lower, n));
  same(name, n, wanted[1], host(upper, n));
  same(name, n, wanted[2], host(found, n));
}

int main(int count, char **words) {
  return tested(count, words,
                {{"sort", 7296, sort},
                 {"stable_sort", 4352, stable_sort},
                 {"stable_sort_by_key", 6528, sort_by_key},
                 {"merge", 5118, merge},
                 {"set_union", 3752, set_union},
                 {"set_intersection", 3752, set_intersection},
                 {"set_difference", 3752, set_difference},
                 {"set_symmetric_difference", 3752, set_symmetric_difference},
                 {"lower_bound, upper_bound, binary_search", 512, search}});
}
