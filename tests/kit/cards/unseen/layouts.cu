// Points as an array of structs and as a struct of arrays; copies with strides and offsets.

struct Point {
    float x, y, z;
};

struct __align__(16) Body {
    float x, y, z, mass;
};

extern "C" __global__ void move_points(Point* points, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        points[i].x += dt;
        points[i].y -= dt;
        points[i].z *= 2.0f;
    }
}

extern "C" __global__ void move_bodies(Body* bodies, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Body b = bodies[i];
        b.x += dt * b.mass;
        b.y -= dt;
        bodies[i] = b;
    }
}

extern "C" __global__ void move_arrays(float* x, float* y, float* z, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += dt;
        y[i] -= dt;
        z[i] *= 2.0f;
    }
}

extern "C" __global__ void strided_copy(float* out, const float* in, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    out[i] = in[i];
}

extern "C" __global__ void offset_copy(double* out, const double* in, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + offset;
    out[i] = in[i];
}

extern "C" __global__ void reversed_copy(short* out, const short* in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[n - 1 - i];
}
