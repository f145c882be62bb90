// Kernels that allocate memory.

extern "C" __global__ void filled(long long *places, int *sums, int bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    int *words = (int *)malloc(bytes);
    places[i] = (long long)words;
    if (words == nullptr) {
        sums[i] = -1;
        return;
    }
    for (int k = 0; k < bytes / 4; k++) {
        words[k] = i + k;
    }
    for (int k = 0; k < bytes / 4; k++) {
        sum += words[k];
    }
    sums[i] = sum;
}

extern "C" __global__ void given_back(int *out) {
    int *words = new int[4];
    words[2] = threadIdx.x;
    out[threadIdx.x] = words[2];
    delete[] words;
    free(nullptr);
}

extern "C" __global__ void twice(int *out) {
    int *words = new int[4];
    words[1] = out[0];
    delete[] words;
    delete[] words;
    out[0] = words[1];
}

extern "C" __global__ void put(int **out) {
    *out = new int[2];
    (*out)[1] = 7;
}

extern "C" __global__ void take(int **from, int *to) {
    *to = (*from)[1];
    delete[] *from;
}
