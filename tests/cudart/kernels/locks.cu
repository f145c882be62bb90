// Compare-and-swap, exchange, and a sum of doubles by a loop of swaps.
extern "C" __global__ void claim(int* owners, int* won)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int slot = i % 8;
    if (atomicCAS(&owners[slot], -1, slot) == -1)
        atomicAdd(won, 1);
    atomicOr(&owners[8], 1 << slot);
    atomicXor(&owners[9], 3);
    atomicExch(&owners[10], 7);
}

extern "C" __global__ void swapped_sum(const double* in, double* total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long* bits = (unsigned long long*)total;
    unsigned long long old = *bits, before;
    do {
        before = old;
        old = atomicCAS(bits, before, __double_as_longlong(in[i] + __longlong_as_double(before)));
    } while (before != old);
}
