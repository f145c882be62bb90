struct Line {
    float slope;
    int shift;
    double start;
};

struct Matrix {
    float* words;
    int rows, columns;
};

struct Particle {
    float3 place;
    float mass;
    short kind;
    unsigned char flags[2];
};

// A struct by value, without pointers.
extern "C" __global__ void on_line(Line line, double* out)
{
    int i = threadIdx.x;
    out[i] = line.start + line.slope * (i + line.shift);
}

// Structs by value, with pointers.
extern "C" __global__ void scale_rows(Matrix matrix, Matrix factors)
{
    for (int row = threadIdx.x; row < matrix.rows; row += blockDim.x)
        for (int column = 0; column < matrix.columns; column++)
            matrix.words[row * matrix.columns + column] *= factors.words[row];
}

// An array of structs.
extern "C" __global__ void fall(Particle* all, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (all[i].flags[0] & 1)) {
        all[i].place.z -= by * all[i].mass;
        all[i].kind += 1;
        all[i].flags[1] = 7;
    }
}
