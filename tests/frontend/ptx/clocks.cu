// Kernels that read the clock, as NVIDIA's sample "clock" does.

extern "C" __global__ void timed(long long *times, float *a) {
    long long start = clock64();
    a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        times[blockIdx.x] = start;
        times[gridDim.x + blockIdx.x] = clock64();
    }
}

extern "C" __global__ void parts(unsigned *words, float *a) {
    unsigned low, high, clock_high;
    unsigned long long whole;
    a[threadIdx.x] = 0;
    asm volatile("mov.u32 %0, %globaltimer_lo;" : "=r"(low));
    asm volatile("mov.u32 %0, %globaltimer_hi;" : "=r"(high));
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(whole));
    asm volatile("mov.u32 %0, %clock_hi;" : "=r"(clock_high));
    if (threadIdx.x == 0) {
        words[0] = low, words[1] = high, words[2] = whole, words[3] = clock(), words[4] = clock_high;
    }
}

extern "C" __global__ void decided(int *out) {
    int value = out[threadIdx.x];
    out[threadIdx.x] = clock() > 60 ? 1 : value;
}

extern "C" __global__ void waiting(long long *out) {
    long long start = clock64();
    while (clock64() - start < 100) {
    }
    *out = clock64();
}
