# %% [markdown]
# # Solutions of 11: your CUDA course without a card
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
bounded_code = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
answer_1 = mm.RawKernel(bounded_code, "add")

# %% name="1" tags=["mistake"]
# One thread too many.
bounded_code = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        c[i] = a[i] + b[i];
}
"""
answer_1 = mm.RawKernel(bounded_code, "add")

# %% name="2"
total_code = r"""
extern "C" __global__ void total(const float* a, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = a[t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[0] = part[0];
}
"""
answer_2 = mm.RawKernel(total_code, "total")

# %% name="2" tags=["mistake"]
# A barrier that only those reach that add.
total_code = r"""
extern "C" __global__ void total(const float* a, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = a[t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) {
            part[t] += part[t + step];
            __syncthreads();
        }
    }
    if (t == 0)
        out[0] = part[0];
}
"""
answer_2 = mm.RawKernel(total_code, "total")

# %% name="3"
# An odd length: then 32 words of a column lie in 32 banks.
answer_3 = [33, 35, 37, 39]

# %% name="3" tags=["mistake"]
answer_3 = [33, 34, 35, 36, 37, 38, 39, 40]

# %% name="4"
# 4 tiles along a row: each of the 128 warps reads 4 parts of a and of b and writes one of c; each
# takes two stages, one for each row.
answer_4 = 128 * (4 + 4 + 1) * 2

# %% name="4" tags=["mistake"]
answer_4 = 128 * (4 + 4 + 1)

# %% name="5"
answer_5 = "i / 32 % 2 == 0"

# %% name="5" tags=["mistake"]
answer_5 = "i % 2 == 1"
