// Functions of the library, in double and in single precision.
extern "C" __global__ void doubles(const double* x, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrt(fabs(x[i])) + fma(x[i], 0.5, 1.0) / (1.0 + x[i] * x[i]) + floor(x[i]);
}

extern "C" __global__ void transcendental(const double* x, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = exp(-x[i] * x[i]) + sin(x[i]) * log(2.0 + x[i] * x[i]);
}

extern "C" __global__ void singles(const float* x, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = expf(x[i]) / (1.0f + expf(x[i])) + rsqrtf(1.0f + x[i] * x[i]);
}

extern "C" __global__ void rounded(const float* x, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (int)x[i] + 100 * __float2int_rn(x[i]) + 10000 * __float2int_ru(x[i]);
}
