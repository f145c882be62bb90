// Matrices of 8 rows of 16 bytes between shared memory and a warp's registers (ldmatrix, stmatrix).

__device__ unsigned address(const void* place)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

// One matrix, whose rows lie `stride` words of 16 bytes apart, and its transpose.
extern "C" __global__ void transposed(int* out, const int* in, int stride)
{
    __shared__ int4 rows[8 * 8];
    int t = threadIdx.x, a, b;
    if (t < 8) rows[t * stride] = reinterpret_cast<const int4*>(in)[t];
    __syncwarp();
    unsigned place = address(&rows[t % 8 * stride]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(place));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(b) : "r"(place));
    out[t] = a;
    out[32 + t] = b;
}

// Four matrices one above the other, loaded and stored in another order.
extern "C" __global__ void swapped(int4* out, const int4* in, int stride)
{
    __shared__ int4 rows[32 * 8];
    int t = threadIdx.x, a, b, c, d;
    rows[t * stride] = in[t];
    __syncwarp();
    unsigned place = address(&rows[t * stride]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(place));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(place), "r"(d), "r"(c), "r"(b), "r"(a) : "memory");
    __syncwarp();
    out[t] = rows[t * stride];
}

// Two matrices one above the other.
extern "C" __global__ void exchanged(int4* out, const int4* in, int stride)
{
    __shared__ int4 rows[16 * 8];
    int t = threadIdx.x, a, b;
    if (t < 16) rows[t * stride] = in[t];
    __syncwarp();
    unsigned place = address(&rows[t % 16 * stride]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b) : "r"(place));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :: "r"(place), "r"(b), "r"(a) : "memory");
    __syncwarp();
    if (t < 16) out[t] = rows[t * stride];
}

// Four matrices side by side, each transposed in registers.
extern "C" __global__ void turned(int* out, const int* in)
{
    for (int k = 0; k < 4; k++) {
        int word = in[threadIdx.x + 32 * k];
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(word));
        out[threadIdx.x + 32 * k] = word;
    }
}
