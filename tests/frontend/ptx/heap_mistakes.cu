// Mistakes with memory that kernels allocate, and what looks like one.

struct Pair {
    short first;
    int second;
};

extern "C" __global__ void used_after(int *out) {
    int *words = (int *)malloc(16);
    words[0] = out[0];
    words[3] = 7;
    free(words);
    out[0] = words[0];
}

extern "C" __global__ void past_the_end(int *out, int at) {
    int *words = (int *)malloc(12);
    words[at] = 5;
    out[threadIdx.x] = at;
}

extern "C" __global__ void unset(int *out, int at) {
    int *words = (int *)malloc(16);
    words[threadIdx.x % 2] = 5;
    out[threadIdx.x] = words[at];
    free(words);
}

extern "C" __global__ void put(int **held) {
    held[0] = new int[2];
    held[1] = new int[3];
    held[0][0] = 1;
    delete[] held[1];
}

extern "C" __global__ void take(int **held, int *out, int which, int at) {
    out[0] = held[which][at];
}

extern "C" __global__ void give_back(int **held, int which) {
    delete[] held[which];
}

extern "C" __global__ void right(int *out) {
    int i = threadIdx.x;
    char *bytes = (char *)malloc(5);
    Pair *pair = new Pair;
    unsigned *count = new unsigned(0);
    for (int k = 0; k < 5; k++) {
        bytes[k] = i + k;
    }
    pair->first = bytes[4];
    pair->second = 3;
    atomicAdd(count, 2u);
    Pair copied = *pair;
    out[i] = copied.first + copied.second + *count;
    delete pair;
    free(bytes);
    delete count;
}
