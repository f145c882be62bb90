// Integers of 64 bits, high halves of products, and bits.
extern "C" __global__ void hashed(const unsigned long long* in, unsigned long long* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = in[i];
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    out[i] = x ^ (x >> 33);
}

extern "C" __global__ void divided(const long long* a, const long long* b, long long* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[4 * i] = a[i] / b[i];
        out[4 * i + 1] = a[i] % b[i];
        out[4 * i + 2] = __mul64hi(a[i], b[i]);
        out[4 * i + 3] = (long long)((unsigned long long)a[i] % 1000u);
    }
}

extern "C" __global__ void bits(const unsigned int* in, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int x = in[i];
        out[5 * i] = __popc(x);
        out[5 * i + 1] = __clz(x);
        out[5 * i + 2] = __ffs(x);
        out[5 * i + 3] = (int)__brev(x);
        out[5 * i + 4] = (int)__umulhi(x, 0x9e3779b9u);
    }
}

extern "C" __global__ void narrow(const short* a, const signed char* b, unsigned short* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        short sum = a[i] + b[i];
        unsigned short product = (unsigned short)(a[i] * b[i]);
        out[2 * i] = (unsigned short)(sum >> 1);
        out[2 * i + 1] = product / 3;
    }
}
