// Block and warp collectives of CUB.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

extern "C" __global__ void block_sum(int* out, const int* in)
{
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ Reduce::TempStorage memory;
    int sum = Reduce(memory).Sum(in[blockIdx.x * 128 + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void block_sum_raking(int* out, const int* in)
{
    using Reduce = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING>;
    __shared__ Reduce::TempStorage memory;
    int sum = Reduce(memory).Sum(in[blockIdx.x * 128 + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void block_prefix(int* out, const int* in)
{
    using Scan = cub::BlockScan<int, 128>;
    __shared__ Scan::TempStorage memory;
    int at = blockIdx.x * 128 + threadIdx.x, sum;
    Scan(memory).InclusiveSum(in[at], sum);
    out[at] = sum;
}

extern "C" __global__ void block_prefix_raking(int* out, const int* in)
{
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING>;
    __shared__ Scan::TempStorage memory;
    int at = blockIdx.x * 128 + threadIdx.x, sum;
    Scan(memory).InclusiveSum(in[at], sum);
    out[at] = sum;
}

extern "C" __global__ void block_exchange(int* out, const int* in)
{
    using Exchange = cub::BlockExchange<int, 64, 4>;
    __shared__ Exchange::TempStorage memory;
    int items[4];
    for (int k = 0; k < 4; k++) items[k] = in[threadIdx.x * 4 + k];
    Exchange(memory).BlockedToStriped(items, items);
    for (int k = 0; k < 4; k++) out[k * 64 + threadIdx.x] = items[k];
}

extern "C" __global__ void block_sort(unsigned* out, const unsigned* in)
{
    using Sort = cub::BlockRadixSort<unsigned, 64, 2>;
    __shared__ Sort::TempStorage memory;
    unsigned keys[2] = {in[threadIdx.x * 2], in[threadIdx.x * 2 + 1]};
    Sort(memory).Sort(keys, 0, 8);
    out[threadIdx.x * 2] = keys[0];
    out[threadIdx.x * 2 + 1] = keys[1];
}

extern "C" __global__ void warp_sums(int* out, const int* in)
{
    using Reduce = cub::WarpReduce<int, 16>;
    __shared__ Reduce::TempStorage memory[4];
    int at = threadIdx.x;
    int sum = Reduce(memory[at / 16]).Sum(in[at]);
    if (at % 16 == 0) out[at / 16] = sum;
}

extern "C" __global__ void warp_prefix(int* out, const int* in)
{
    using Scan = cub::WarpScan<int>;
    __shared__ Scan::TempStorage memory[2];
    int at = threadIdx.x, sum;
    Scan(memory[at / 32]).InclusiveSum(in[at], sum);
    out[at] = sum;
}
