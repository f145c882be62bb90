// Arrays of each thread with indices that only the run knows: local memory.
#define KERNEL extern "C" __global__ void

KERNEL same(int *out, int n) {
    int own[8];
    for (int k = 0; k < 8; k++) own[k] = threadIdx.x * k;
    out[blockIdx.x * blockDim.x + threadIdx.x] = own[n & 7];
}

KERNEL other(int *out, int n) {
    int own[8];
    for (int k = 0; k < 8; k++) own[k] = threadIdx.x * k;
    out[threadIdx.x] = own[threadIdx.x + n & 7];
}

KERNEL wide(double *out, int n) {
    double own[4];
    for (int k = 0; k < 4; k++) own[k] = threadIdx.x + k;
    out[threadIdx.x] = own[n & 3];
}

KERNEL pairs(float *out, int n) {
    float2 own[4];
    for (int k = 0; k < 4; k++) own[k] = make_float2(threadIdx.x, k);
    float2 found = own[n & 3];
    out[threadIdx.x] = found.x + found.y;
}

KERNEL letters(unsigned char *out, int n) {
    unsigned char own[12];
    for (int k = 0; k < 12; k++) own[k] = threadIdx.x + k;
    out[threadIdx.x] = own[n % 12u];
}

KERNEL mixed(int *out, int n) {
    union { unsigned char bytes[16]; short halves[8]; int words[4]; long long longs[2]; } own;
    own.longs[0] = 0x0807060504030201, own.longs[1] = threadIdx.x;
    own.bytes[n & 7] += 100;
    own.halves[n + 1 & 3] += 1;
    out[threadIdx.x] = own.words[n >> 1 & 1] + own.words[2 + (n & 1)];
}

KERNEL beyond(int *out, int n) {
    int own[8];
    for (int k = 0; k < 8; k++) own[k] = k;
    out[threadIdx.x] = own[n];
}

KERNEL known(int *out) {
    volatile int own[4];
    for (int k = 0; k < 4; k++) own[k] = threadIdx.x + k;
    out[threadIdx.x] = own[3];
}

KERNEL held(int *out, int n) {
    __shared__ int *volatile pointers[64];
    int own[4];
    for (int k = 0; k < 4; k++) own[k] = threadIdx.x * k;
    pointers[threadIdx.x] = own;
    int *found = pointers[threadIdx.x];
    out[threadIdx.x] = found[n & 3];
}

__device__ __noinline__ void fill(int *words, int n) {
    for (int k = 0; k < n; k++) words[k] = threadIdx.x + k;
}

KERNEL passed(int *out, int n) {
    int own[4];
    fill(own, n);
    fill(out + threadIdx.x, 1);
    out[threadIdx.x] += own[n - 1];
}
