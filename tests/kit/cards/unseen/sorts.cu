// A prefix sum without bank conflicts, a bitonic sort of pairs, and a sort in global memory.

#define SKIP(i) ((i) + ((i) >> 5))

extern "C" __global__ void blelloch(int* out, const int* in)
{
    __shared__ int s[SKIP(512)];
    int t = threadIdx.x, offset = 1;
    const int n = 512;
    s[SKIP(t)] = in[blockIdx.x * n + t];
    s[SKIP(t + n / 2)] = in[blockIdx.x * n + t + n / 2];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            s[SKIP(b)] += s[SKIP(a)];
        }
        offset *= 2;
    }
    if (t == 0) s[SKIP(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int x = s[SKIP(a)];
            s[SKIP(a)] = s[SKIP(b)];
            s[SKIP(b)] += x;
        }
    }
    __syncthreads();
    out[blockIdx.x * n + t] = s[SKIP(t)];
    out[blockIdx.x * n + t + n / 2] = s[SKIP(t + n / 2)];
}

extern "C" __global__ void bitonic_pairs(long long* data)
{
    __shared__ long long s[256];
    int t = threadIdx.x;
    s[t] = data[t];
    s[t + 128] = data[t + 128];
    for (int size = 2; size <= 256; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (d - 1));
            bool up = (i & size) == 0;
            long long a = s[i], b = s[i + d];
            if ((a > b) == up) {
                s[i] = b;
                s[i + d] = a;
            }
        }
    __syncthreads();
    data[t] = s[t];
    data[t + 128] = s[t + 128];
}

extern "C" __global__ void bitonic_step(float* data, int j, int k)
{
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    unsigned other = i ^ j;
    if (other > i) {
        if ((i & k) == 0 && data[i] > data[other]) {
            float x = data[i];
            data[i] = data[other];
            data[other] = x;
        }
        if ((i & k) != 0 && data[i] < data[other]) {
            float x = data[i];
            data[i] = data[other];
            data[other] = x;
        }
    }
}
