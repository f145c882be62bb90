// Two arrays of different types in dynamic shared memory.
extern "C" __global__ void reversed(double* words, unsigned char* bytes)
{
    extern __shared__ double memory[];
    double* own = memory;
    unsigned char* own_bytes = (unsigned char*)&memory[blockDim.x];
    int t = threadIdx.x, last = blockDim.x - 1;
    own[t] = words[t];
    own_bytes[t] = bytes[t];
    __syncthreads();
    words[t] = own[last - t];
    bytes[t] = own_bytes[last - t];
}
