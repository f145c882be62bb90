// What the warps agree on, and a place for each lane that has a positive word.
extern "C" __global__ void votes(const int* in, unsigned int* masks, int* places)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = i / 32;
    unsigned int positive = __ballot_sync(0xffffffff, in[i] > 0);
    bool all = __all_sync(0xffffffff, in[i] > -5);
    bool any = __any_sync(0xffffffff, in[i] == 0);
    places[i] = in[i] > 0 ? __popc(positive & ((1u << lane) - 1)) : -1;
    if (lane == 0) {
        masks[3 * warp] = positive;
        masks[3 * warp + 1] = all;
        masks[3 * warp + 2] = any;
    }
}

// Other exchanges: from a lane by its number, from the lane below, across.
extern "C" __global__ void exchanges(const float* in, float* out)
{
    int i = threadIdx.x;
    float first = __shfl_sync(0xffffffff, in[i], 0, 8);
    float below = __shfl_up_sync(0xffffffff, in[i], 1);
    float across = __shfl_xor_sync(0xffffffff, in[i], 5);
    out[i] = first + 100.0f * below + 10000.0f * across;
}
