// cooperative_groups, and the barriers, pipelines and atomics of libcu++, on arrays of any size.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <numeric>

#include "cccl.h"

namespace cg = cooperative_groups;
constexpr int TILE = 256, STAGES = 2;

int tiles(int n) { return std::max((n + TILE - 1) / TILE, 1); }

__global__ void sums(const int *in, int *out, int n) {
  auto part = cg::tiled_partition<32>(cg::this_thread_block());
  int at = blockIdx.x * TILE + threadIdx.x;
  int sum = cg::reduce(part, at < n ? in[at] : 0, cg::plus<int>());
  cuda::atomic_ref<int, cuda::thread_scope_device> all(*out);
  if (part.thread_rank() == 0) all.fetch_add(sum);
}
void group_reduce(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(std::vector<int>{0});
  sums<<<tiles(n), TILE>>>(in.data, out.data, n);
  same(name, n, {std::accumulate(a.begin(), a.end(), 0)}, out.host());
}

__global__ void scans(const int *in, int *out, int n) {
  auto part = cg::tiled_partition<32>(cg::this_thread_block());
  int at = blockIdx.x * TILE + threadIdx.x;
  int sum = cg::inclusive_scan(part, at < n ? in[at] : 0, cg::plus<int>());
  if (at < n) out[at] = sum;
}
void group_scan(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(n);
  scans<<<tiles(n), TILE>>>(in.data, out.data, n);
  for (int at = 0; at < n; at++)
    if (at % 32) a[at] += a[at - 1];
  same(name, n, a, out.host());
}

__global__ void rotated(int *a, int *b, int n) {
  auto grid = cg::this_grid();
  for (int at = grid.thread_rank(); at < n; at += grid.size()) b[at] = a[(at + TILE) % n];
  grid.sync();
  for (int at = grid.thread_rank(); at < n; at += grid.size()) a[at] += b[(at + 1) % n];
}
void grid_sync(const char *name, int n) {
  auto a = numbers<int>(n, 1000), wanted = a;
  for (int at = 0; at < n; at++) wanted[at] += a[(at + 1 + TILE) % n];
  Array<int> in(a), out(n);
  void *all[] = {&in.data, &out.data, &n};
  CHECK(cudaLaunchCooperativeKernel((void *)rotated, std::min(tiles(n), 132), TILE, all, 0, 0));
  same(name, n, wanted, in.host());
}

__global__ void reversed(const int *in, int *out, int n) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  __shared__ int s[TILE];
  int first = blockIdx.x * TILE, t = threadIdx.x, held = min(TILE, n - first);
  if (t == 0) init(&barrier, TILE);
  __syncthreads();
  if (t < held) cuda::memcpy_async(s + t, in + first + t, sizeof(int), barrier);
  barrier.arrive_and_wait();
  if (t < held) out[first + t] = s[held - 1 - t];
}
std::vector<int> in_reverse(std::vector<int> a) {
  for (size_t at = 0; at < a.size(); at += TILE)
    std::reverse(a.begin() + at, a.begin() + std::min(at + TILE, a.size()));
  return a;
}
void barrier(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(n);
  reversed<<<tiles(n), TILE>>>(in.data, out.data, n);
  same(name, n, in_reverse(a), out.host());
}

// Each block reverses three tiles; the next one is on its way while it works on one.
__global__ void staged(const int *in, int *out, int n) {
  __shared__ int s[STAGES][TILE];
  auto pipe = cuda::make_pipeline();
  int t = threadIdx.x, step = gridDim.x * TILE, first = blockIdx.x * TILE, ahead = first;
  for (; first < n; first += step) {
    for (; ahead < first + STAGES * step; ahead += step) {
      pipe.producer_acquire();
      if (ahead + t < n)
        cuda::memcpy_async(s[ahead / step % STAGES] + t, in + ahead + t, sizeof(int), pipe);
      pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<STAGES - 1>(pipe);
    __syncthreads();
    int held = min(TILE, n - first);
    if (t < held) out[first + t] = s[first / step % STAGES][held - 1 - t];
    __syncthreads();
    pipe.consumer_release();
  }
}
void pipeline(const char *name, int n) {
  auto a = numbers<int>(n, 1000);
  Array<int> in(a), out(n);
  staged<<<(tiles(n) + 2) / 3, TILE>>>(in.data, out.data, n);
  same(name, n, in_reverse(a), out.host());
}

__global__ void counts(const int *in, int *out, int n) {
  int at = blockIdx.x * TILE + threadIdx.x;
  if (at >= n) return;
  cuda::atomic_ref<int, cuda::thread_scope_device>(out[in[at]]).fetch_add(1);
  cuda::atomic_ref<int, cuda::thread_scope_device> last(out[10]);
  last.fetch_max(at);
}
void atomic_ref(const char *name, int n) {
  auto a = numbers<int>(n, 10);
  std::vector<int> wanted(11);
  for (int one : a) wanted[one]++;
  wanted[10] = std::max(n - 1, 0);
  Array<int> in(a), out(std::vector<int>(11));
  counts<<<tiles(n), TILE>>>(in.data, out.data, n);
  same(name, n, wanted, out.host());
}

int main(int count, char **words) {
  return tested(count, words,
                {{"cooperative_groups::reduce", 256, group_reduce},
                 {"cooperative_groups::inclusive_scan", 256, group_scan},
                 {"grid.sync", 256, grid_sync},
                 {"barrier", 256, barrier},
                 {"pipeline", 256, pipeline},
                 {"atomic_ref", 256, atomic_ref}});
}
