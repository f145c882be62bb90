// Thrust's transformations, reductions, scans and selections.
#include <thrust/adjacent_difference.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <numeric>

#include "cccl.h"

using Vector = thrust::device_vector<int>;

std::vector<int> host(const Vector &a, size_t n) {
  std::vector<int> found(n);
  thrust::copy(a.begin(), a.begin() + n, found.begin());
  return found;
}
struct Even {
  __host__ __device__ bool operator()(int a) const { return a % 2 == 0; }
};
struct Twice {
  __host__ __device__ int operator()(int a) const { return 2 * a; }
};

void transform(const char *name, int n) {
  auto a = numbers<int>(n, 1000), b = numbers<int>(n, 1000, 2);
  Vector x(a), y(b), out(n);
  thrust::transform(x.begin(), x.end(), y.begin(), out.begin(), thrust::minus<int>());
  std::vector<int> wanted(n);
  std::transform(a.begin(), a.end(), b.begin(), wanted.begin(), std::minus<int>());
  same(name, n, wanted, host(out, n));
}
void reduce(const char *name, int n) {
  auto a = numbers<int>(n, 1000), b = numbers<int>(n, 1000, 2);
  Vector x(a), y(b);
  int sum = std::accumulate(a.begin(), a.end(), 3), evens = 0;
  for (int one : a) evens += Even()(one);
  int product = 0;
  for (int at = 0; at < n; at++) product += a[at] * b[at];
  std::vector<int> wanted{sum, 2 * (sum - 3), evens, product}, found{
      thrust::reduce(x.begin(), x.end(), 3),
      thrust::transform_reduce(x.begin(), x.end(), Twice(), 0, thrust::plus<int>()),
      int(thrust::count_if(x.begin(), x.end(), Even())),
      thrust::inner_product(x.begin(), x.end(), y.begin(), 0)};
  same(name, n, wanted, found);
}
void extrema(const char *name, int n) {
  auto a = numbers<int>(n, 500);
  Vector x(a);
  auto both = thrust::minmax_element(x.begin(), x.end());
  auto wanted = std::minmax_element(a.begin(), a.end());
  if (!n) return;
  auto most = std::max_element(a.begin(), a.end()) - a.begin();  // the first one
  same<int>(name, n, {int(wanted.first - a.begin()), a[most], int(most)},
            {int(both.first - x.begin()), *both.second,
             int(thrust::max_element(x.begin(), x.end()) - x.begin())});
}
void reduce_by_key(const char *name, int n) {
  auto keys = numbers<int>(n, 3), a = numbers<int>(n, 100, 2);
  Vector x(keys), y(a), out(n), sums(n);
  auto ends = thrust::reduce_by_key(x.begin(), x.end(), y.begin(), out.begin(), sums.begin());
  std::vector<int> unique, wanted;
  for (int at = 0; at < n; at++) {
    if (!at || keys[at] != keys[at - 1]) unique.push_back(keys[at]), wanted.push_back(0);
    wanted.back() += a[at];
  }
  same(name, n, unique, host(out, ends.first - out.begin()));
  same(name, n, wanted, host(sums, ends.second - sums.begin()));
}
void scans(const char *name, int n) {
  auto a = numbers<int>(n, 100);
  Vector x(a), in(n), ex(n);
  thrust::inclusive_scan(x.begin(), x.end(), in.begin());
  thrust::exclusive_scan(x.begin(), x.end(), ex.begin(), 4);
  std::vector<int> wanted(n), before(n, 4);
  std::partial_sum(a.begin(), a.end(), wanted.begin());
  for (int at = 1; at < n; at++) before[at] = wanted[at - 1] + 4;
  same(name, n, wanted, host(in, n));
  same(name, n, before, host(ex, n));
}
void scan_by_key(const char *name, int n) {
  auto keys = numbers<int>(n, 3), a = numbers<int>(n, 100, 2);
  Vector x(keys), y(a), out(n);
  thrust::exclusive_scan_by_key(x.begin(), x.end(), y.begin(), out.begin());
  std::vector<int> wanted(n);
  for (int at = 1; at < n; at++)
    if (keys[at] == keys[at - 1]) wanted[at] = wanted[at - 1] + a[at - 1];
  same(name, n, wanted, host(out, n));
}
void selections(const char *name, int n) {
  auto a = numbers<int>(n, 4);
  Vector x(a), out(n), parts(a), left(a), different(a);
  auto end = thrust::copy_if(x.begin(), x.end(), out.begin(), Even());
  auto middle = thrust::stable_partition(parts.begin(), parts.end(), Even());
  auto kept = thrust::remove_if(left.begin(), left.end(), Even());
  auto last = thrust::unique(different.begin(), different.end());
  std::vector<int> even, odd;
  for (int one : a) (Even()(one) ? even : odd).push_back(one);
  same(name, n, even, host(out, end - out.begin()));
  same(name, n, odd, host(left, kept - left.begin()));
  same<int>(name, n, {int(even.size())}, {int(middle - parts.begin())});
  even.insert(even.end(), odd.begin(), odd.end());
  same(name, n, even, host(parts, n));
  a.erase(std::unique(a.begin(), a.end()), a.end());
  same(name, n, a, host(different, last - different.begin()));
}
void moves(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Vector x(a), places(n), gathered(n), scattered(n), differences(n);
  thrust::sequence(places.begin(), places.end());
  thrust::reverse(places.begin(), places.end());
  thrust::gather(places.begin(), places.end(), x.begin(), gathered.begin());
  thrust::scatter(x.begin(), x.end(), places.begin(), scattered.begin());
  thrust::adjacent_difference(x.begin(), x.end(), differences.begin());
  auto wanted = a;
  for (int at = 1; at < n; at++) wanted[at] = a[at] - a[at - 1];
  same(name, n, wanted, host(differences, n));
  std::reverse(a.begin(), a.end());
  same(name, n, a, host(gathered, n));
  same(name, n, a, host(scattered, n));
}

int main(int count, char **words) {
  return tested(count, words,
                {{"transform", 1024, transform},
                 {"reduce, transform_reduce, count_if, inner_product", 4096, reduce},
                 {"max_element, minmax_element", 4096, extrema},
                 {"reduce_by_key", 2304, reduce_by_key},
                 {"inclusive_scan, exclusive_scan", 3072, scans},
                 {"exclusive_scan_by_key", 4032, scan_by_key},
                 {"copy_if, stable_partition, remove_if, unique", 3584, selections},
                 {"sequence, reverse, gather, scatter, adjacent_difference", 1024, moves}});
}
