// A pipeline of a block: all its threads copy parts, two stages ahead, and use them together.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

extern "C" __global__ void staged(int* out, const int* in, int parts)
{
    constexpr auto scope = cuda::thread_scope_block;
    __shared__ cuda::pipeline_shared_state<scope, 2> state;
    __shared__ int s[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0, t = threadIdx.x;
    for (int k = 0, next = 0; k < parts; k++) {
        for (; next < parts && next < k + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[next % 2], in + next * 64, sizeof s[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[k % 2][63 - t];
        pipe.consumer_release();
    }
    out[t] = sum;
}

// One warp copies, the others use what it copies.
extern "C" __global__ void divided(int* out, const int* in, int parts)
{
    constexpr auto scope = cuda::thread_scope_block;
    __shared__ cuda::pipeline_shared_state<scope, 2> state;
    __shared__ int s[2][32];
    auto block = cg::this_thread_block();
    int t = threadIdx.x;
    auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int k = 0; k < parts; k++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[k % 2][t], &in[k * 32 + t], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        int sum = 0;
        for (int k = 0; k < parts; k++) {
            pipe.consumer_wait();
            sum += s[k % 2][63 - t];
            pipe.consumer_release();
        }
        out[t - 32] = sum;
    }
}
