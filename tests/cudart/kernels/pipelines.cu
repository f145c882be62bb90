// Copies in the background (cp.async, cuda::memcpy_async) and barriers in shared memory.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned address(const void* place)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

// Each warp adds parts of 8 bytes, of which two groups are always under way.
extern "C" __global__ void grouped(int2* out, const int2* in, int parts)
{
    __shared__ int2 staged[3][64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                     :: "r"(address(&staged[k][t])), "l"(&in[k * 64 + t]));
        asm volatile("cp.async.commit_group;");
    }
    int2 sum = make_int2(0, 0);
    for (int k = 0; k < parts; k++) {
        if (k + 2 < parts)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                         :: "r"(address(&staged[(k + 2) % 3][t])), "l"(&in[(k + 2) * 64 + t]));
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        sum.x += staged[k % 3][t ^ 1].x;
        sum.y += staged[k % 3][63 - t].y;
        __syncthreads();
    }
    out[t] = sum;
}

// Each lane copies the first `t % 17` of 16 bytes; the others are zeros.
extern "C" __global__ void filled(int4* out, const int4* in)
{
    __shared__ int4 staged[32];
    int t = threadIdx.x;
    staged[t] = make_int4(1, 2, 3, 4);
    __syncwarp();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(address(&staged[t])), "l"(&in[t]), "r"(t % 17));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[t] = staged[t];
}

// Words of 4 bytes, `stride` apart in shared memory, by cp.async.ca.
extern "C" __global__ void strided(int* out, const int* in, int stride)
{
    __shared__ int staged[32 * 32];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(address(&staged[t * stride])), "l"(&in[t * 2]));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[t] = staged[(31 - t) * stride];
}

// Sums by phases of a barrier; each thread works between its arrival and its wait.
extern "C" __global__ void phases(int* out, const int* in)
{
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ __align__(8) unsigned char memory[sizeof(Barrier)];
    Barrier* barrier = reinterpret_cast<Barrier*>(memory);
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(barrier, 64);
    s[t] = in[t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        auto token = barrier->arrive();
        int own = in[(t + d) % 64] & 1;
        barrier->wait(cuda::std::move(token));
        int sum = t < d ? s[t] + s[t + d] : 0;
        barrier->arrive_and_wait();
        if (t < d) s[t] = sum + own;
    }
    if (t == 0) out[0] = s[0];
}

// A block copies into shared memory and waits at the barrier that the copy was given.
extern "C" __global__ void delivered(int* out, const int* in)
{
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ __align__(8) unsigned char memory[sizeof(Barrier)];
    Barrier* barrier = reinterpret_cast<Barrier*>(memory);
    __shared__ __align__(16) int s[256];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, s, in + blockIdx.x * 256, sizeof(s), *barrier);
    barrier->arrive_and_wait();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        out[blockIdx.x * 256 + k] = s[255 - k];
}

// Two stages of a pipeline of each thread.
extern "C" __global__ void stages(int* out, const int* in, int parts)
{
    __shared__ int s[2][64];
    auto pipe = cuda::make_pipeline();
    int sum = 0, t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&s[0][t], &in[t], sizeof(int), pipe);
    pipe.producer_commit();
    for (int k = 0; k < parts; k++) {
        pipe.producer_acquire();
        if (k + 1 < parts)
            cuda::memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * 64 + t], sizeof(int), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        sum += s[k % 2][63 - t];
        __syncthreads();
        pipe.consumer_release();
    }
    out[t] = sum;
}
