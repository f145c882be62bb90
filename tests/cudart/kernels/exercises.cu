// Exercises of a first course.

// Sorts 128 numbers in shared memory, after Batcher.
extern "C" __global__ void bitonic_sort(int* a)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t + 64] = a[t + 64];
    for (int size = 2; size <= 128; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (step - 1));
            int x = s[low], y = s[low + step];
            bool up = (low & size) == 0;
            s[low] = (x < y) == up ? x : y;
            s[low + step] = (x < y) == up ? y : x;
        }
    }
    __syncthreads();
    a[t] = s[t];
    a[t + 64] = s[t + 64];
}

// One generation of Conway's game of life, on a torus.
extern "C" __global__ void life(const unsigned char* now, unsigned char* next, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0)
                alive += now[(y + dy + rows) % rows * columns + (x + dx + columns) % columns];
    next[y * columns + x] = alive == 3 || (alive == 2 && now[y * columns + x]);
}

// A sparse matrix in rows times a vector: a thread for each row.
extern "C" __global__ void rows_times(const int* starts, const int* columns, const float* values,
                                      const float* x, float* y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}

// The same, a warp for each row.
extern "C" __global__ void warps_times(const int* starts, const int* columns, const float* values,
                                       const float* x, float* y)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = starts[row] + threadIdx.x; k < starts[row + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}

// A mask of 3 by 3 over an image; each block keeps its part of the image with a border.
extern "C" __global__ void convolve(const float* in, const float* mask, float* out, int rows,
                                    int columns)
{
    __shared__ float tile[10][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int i = threadIdx.y; i < 10; i += 8)
        for (int j = threadIdx.x; j < 18; j += 16) {
            int r = blockIdx.y * 8 + i - 1, c = blockIdx.x * 16 + j - 1;
            bool inside = 0 <= r && r < rows && 0 <= c && c < columns;
            tile[i][j] = inside ? in[r * columns + c] : 0;
        }
    __syncthreads();
    if (x >= columns || y >= rows) return;
    float sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += mask[3 * i + j] * tile[threadIdx.y + i][threadIdx.x + j];
    out[y * columns + x] = sum;
}

// Exclusive prefix sums of 128 numbers, after Blelloch.
extern "C" __global__ void prefix(const int* in, int* out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    int step = 1;
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        step *= 2;
    }
    if (t == 0) s[127] = 0;
    for (int d = 1; d < 128; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            int left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1;
            int value = s[left];
            s[left] = s[right];
            s[right] += value;
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}

// One step of the algorithm of Floyd and Warshall: shorter paths through the vertex k.
extern "C" __global__ void through(int* lengths, int k, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= n) return;
    int old = lengths[y * n + x];
    int other = lengths[y * n + k] + lengths[k * n + x];
    lengths[y * n + x] = min(old, other);
}

// The level of each vertex of a graph: vertices next to those of a level get the next one.
extern "C" __global__ void next_level(const int* starts, const int* neighbours, int* levels,
                                      int level, int n, int* changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] != level) return;
    for (int k = starts[v]; k < starts[v + 1]; k++)
        if (atomicCAS(&levels[neighbours[k]], -1, level + 1) == -1)
            atomicAdd(changed, 2);
}

// The sums of the columns of a matrix, by blocks that reduce parts of rows.
extern "C" __global__ void column_sums(const int* a, int* sums, int rows, int columns)
{
    __shared__ int part[8][32];
    int x = blockIdx.x * 32 + threadIdx.x, sum = 0;
    for (int y = threadIdx.y; y < rows; y += 8)
        sum += a[y * columns + x];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    for (int d = 4; d > 0; d /= 2) {
        if (threadIdx.y < d)
            part[threadIdx.y][threadIdx.x] += part[threadIdx.y + d][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0) sums[x] = part[0][threadIdx.x];
}

// The forces between bodies on a line, a tile of 32 bodies at a time.
extern "C" __global__ void pull(const int* places, int* forces, int n)
{
    __shared__ int near[32];
    int i = blockIdx.x * 32 + threadIdx.x, force = 0;
    int own = i < n ? places[i] : 0;
    for (int tile = 0; tile < n; tile += 32) {
        if (tile + threadIdx.x < n) near[threadIdx.x] = places[tile + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < min(32, n - tile); k++)
            force += (near[k] - own) * abs(near[k] - own);
        __syncthreads();
    }
    if (i < n) forces[i] = force;
}
