#define TILE 8

// C = A B for an n x k and a k x m matrix, tile by tile.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n, int k, int m)
{
    __shared__ float of_a[TILE][TILE];
    __shared__ float of_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        int x = first + threadIdx.x, y = first + threadIdx.y;
        of_a[threadIdx.y][threadIdx.x] = row < n && x < k ? a[row * k + x] : 0.0f;
        of_b[threadIdx.y][threadIdx.x] = y < k && column < m ? b[y * m + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += of_a[threadIdx.y][i] * of_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < m)
        c[row * m + column] = sum;
}
