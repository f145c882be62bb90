extern "C" __global__ void choose(const int* codes, const int* x, int* out)
{
    int i = threadIdx.x;
    int result;
    switch (codes[i]) {
    case 0: result = x[i] + 1; break;
    case 1: result = x[i] * x[i]; break;
    case 2:  // as the next case
    case 3: result = x[i] ^ 0x55; break;
    case 4: result = x[i] / 3; break;
    case 5: result = x[i] % 7; break;
    case 6: result = x[i] << 2; break;
    case 7: result = x[i] >> 1; break;
    default: result = -1;
    }
    out[i] = result;
}

// The first place of a word in each row; -1 if there is none.
extern "C" __global__ void find(const int* rows, int* out, int word, int length)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < length; i++)
        if (rows[row * length + i] == word) {
            out[row] = i;
            return;
        }
    out[row] = -1;
}

// The steps of each number to 1 in the problem of Collatz.
extern "C" __global__ void collatz(int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int x = i + 1;
    int count = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}

// The points of a small Mandelbrot set: a loop with two ends.
extern "C" __global__ void mandelbrot(int* out, int width, int most)
{
    int x = threadIdx.x, y = blockIdx.x;
    float cx = -2.0f + x * 0.125f, cy = -1.0f + y * 0.25f, zx = 0, zy = 0;
    int i = 0;
    do {
        float next = __fadd_rn(__fsub_rn(__fmul_rn(zx, zx), __fmul_rn(zy, zy)), cx);
        zy = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, zx), zy), cy);
        zx = next;
        if (__fadd_rn(__fmul_rn(zx, zx), __fmul_rn(zy, zy)) > 4.0f)
            break;
    } while (++i < most);
    out[y * width + x] = i;
}
