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

extern "C" __global__ void alone(long long most) {
    unsigned start = (unsigned)clock();
    long long passed = 0;
    while (passed < most * (threadIdx.x / 32 + 1)) {
        passed = (long long)((unsigned)clock() - start);
    }
}

extern "C" __global__ void apart(unsigned *out, unsigned most) {
    unsigned start = (unsigned)clock(), now, passed;
    most += 100 * (threadIdx.x % 3);
    do {
        now = (unsigned)clock();
        passed = now > start ? now - start : now + (0xffffffffu - start);
    } while (passed < most);
    out[blockIdx.x * blockDim.x + threadIdx.x] = now;
}

extern "C" __global__ void kept(int *out, long long until) {
    int trips = 0;
    while (!(clock64() >= until)) {
        trips++;
    }
    out[threadIdx.x] = trips;
}

extern "C" __global__ void exact(long long *out, long long until) {
    long long now;
    do {
        now = clock64();
    } while (now != until && now < 2 * until);
    out[threadIdx.x] = now;
}

extern "C" __global__ void late(unsigned *out) {
    unsigned now;
    do {
        now = (unsigned)clock64();
    } while (now < 0xfffffff0u);
    out[threadIdx.x] = now;
}
