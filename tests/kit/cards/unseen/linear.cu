// A product of matrices with vectors of four floats, a softmax of rows, and stencils.

#define N 64

extern "C" __global__ void matmul4(float* c, const float* a, const float* b)
{
    __shared__ float as[16][64 + 4];
    __shared__ float4 bs[16][16];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < N; k0 += 16) {
        float4 va = reinterpret_cast<const float4*>(a)[(t / 4) * (N / 4) + k0 / 4 + t % 4];
        as[t % 4 * 4 + 0][t / 4] = va.x;
        as[t % 4 * 4 + 1][t / 4] = va.y;
        as[t % 4 * 4 + 2][t / 4] = va.z;
        as[t % 4 * 4 + 3][t / 4] = va.w;
        bs[ty][tx] = reinterpret_cast<const float4*>(b)[(k0 + ty) * (N / 4) + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            float4 x = *reinterpret_cast<float4*>(&as[k][ty * 4]);
            float4 y = bs[k][tx];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        reinterpret_cast<float4*>(c)[(ty * 4 + i) * (N / 4) + tx] =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

extern "C" __global__ void softmax(float* out, const float* in, int columns)
{
    __shared__ float s[128];
    const float* row = in + blockIdx.x * columns;
    int t = threadIdx.x;
    float most = -1e30f;
    for (int i = t; i < columns; i += 128) most = fmaxf(most, row[i]);
    s[t] = most;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    float sum = 0;
    for (int i = t; i < columns; i += 128) sum += __expf(row[i] - most);
    s[t] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    for (int i = t; i < columns; i += 128) out[blockIdx.x * columns + i] = __expf(row[i] - most) / s[0];
}

extern "C" __global__ void stencil_7(float* out, const float* in, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    int plane = nx * ny, at = j * nx + i + plane;
    float below = in[at - plane], here = in[at];
    for (int k = 1; k < nz - 1; k++, at += plane) {
        float above = in[at + plane];
        out[at] = below + above + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] - 6 * here;
        below = here;
        here = above;
    }
}

extern "C" __global__ void stencil_tile(double* out, const double* in, int width, int height)
{
    __shared__ double tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int j = threadIdx.y; j < 10; j += 8)
        for (int i = threadIdx.x; i < 34; i += 32) {
            int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
            bool inside = gx >= 0 && gx < width && gy >= 0 && gy < height;
            tile[j][i] = inside ? in[gy * width + gx] : 0.0;
        }
    __syncthreads();
    if (x < width && y < height) {
        int i = threadIdx.x + 1, j = threadIdx.y + 1;
        double sum = tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i];
        out[y * width + x] = 0.25 * sum;
    }
}
