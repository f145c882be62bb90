// Products of matrices on tensor cores (mma) of each type, from shared memory by ldmatrix or from
// global memory by the lanes' own loads.

__device__ unsigned address(const void* place)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

// A of 16 by 16 and B of 16 by 8 numbers of 16 bits, in rows; rows of A are 48 bytes apart.
__device__ void load(int* a, int* b, const int4* left, const int4* right)
{
    __shared__ int4 rows[16 * 3], other[16];
    int t = threadIdx.x;
    rows[t / 2 * 3 + t % 2] = left[t];
    if (t < 16) other[t] = right[t];
    __syncwarp();
    unsigned place = address(&rows[t % 16 * 3 + t / 16]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(place));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1]) : "r"(address(&other[t % 16])));
}

template <typename Number>
__device__ void store(Number* d, const Number* sums)
{
    int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    for (int k = 0; k < 4; k++) d[(row + k / 2 * 8) * 8 + column + k % 2] = sums[k];
}

#define FLOATS(name, type)                                                                    \
    extern "C" __global__ void name(float* d, const int4* left, const int4* right)            \
    {                                                                                         \
        int a[4], b[2];                                                                       \
        float c[4] = {1, 1, 1, 1};                                                            \
        load(a, b, left, right);                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 "           \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                         \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));     \
        store(d, c);                                                                          \
    }
FLOATS(halves, "f16")
FLOATS(brains, "bf16")

extern "C" __global__ void half_sums(int* d, const int4* left, const int4* right)
{
    int a[4], b[2], c[2] = {0x3c003c00, 0x3c003c00};
    load(a, b, left, right);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    d[threadIdx.x] = c[0];
    d[threadIdx.x + 32] = c[1];
}

extern "C" __global__ void singles(float* d, const float* left, const float* right)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned a[4], b[2];
    float c[4] = {1, 1, 1, 1};
    for (int k = 0; k < 4; k++) {
        float x = left[(g + k % 2 * 8) * 8 + t + k / 2 * 4];
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[k]) : "f"(x));
    }
    for (int k = 0; k < 2; k++) {
        float x = right[(t + 4 * k) * 8 + g];
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b[k]) : "f"(x));
    }
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    store(d, c);
}

extern "C" __global__ void doubles(double* d, const double* left, const double* right)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    double c[2] = {1, 1};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1]) : "d"(left[g * 4 + t]), "d"(right[t * 8 + g]));
    reinterpret_cast<double2*>(d)[threadIdx.x] = make_double2(c[0], c[1]);
}

// B lies in columns.
extern "C" __global__ void bytes(int* d, const int* left, const int* right)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    int c[4] = {1, 1, 1, 1};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(left[g * 8 + t]), "r"(left[g * 8 + 64 + t]), "r"(left[g * 8 + t + 4]),
                   "r"(left[g * 8 + 64 + t + 4]), "r"(right[g * 8 + t]), "r"(right[g * 8 + t + 4]));
    store(d, c);
}
