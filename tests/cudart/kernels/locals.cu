// Arrays of each thread in local memory, of each size of element, with places that agree or differ
// between the lanes.

template <typename Number, int size>
__device__ void keep(Number* out, const int* places, int n)
{
    Number own[size];
    int t = threadIdx.x;
    for (int k = 0; k < size; k++) own[places[k]] = Number(k);  // all lanes at one place
    for (int k = 0; k < n; k++) {
        int at = (places[k] + t * 3) % size;  // each at its own
        own[at] = own[(at + 5) % size] + Number(1);
    }
    Number sum = 0;
    for (int k = 0; k < size; k++) sum = sum + own[places[k]];
    out[t] = sum;
}

extern "C" __global__ void bytes(unsigned char* out, const int* places, int n)
{
    keep<unsigned char, 32>(out, places, n);
}

extern "C" __global__ void shorts(short* out, const int* places, int n)
{
    keep<short, 16>(out, places, n);
}

extern "C" __global__ void words(int* out, const int* places, int n)
{
    keep<int, 16>(out, places, n);
}

extern "C" __global__ void doubles(double* out, const int* places, int n)
{
    keep<double, 8>(out, places, n);
}

// Vectors of 16 bytes.
extern "C" __global__ void fours(int4* out, const int* places, int n)
{
    int4 own[8];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) own[places[k]] = make_int4(k, t, k + t, 1);
    for (int k = 0; k < n; k++) own[(places[k] + t) % 8].y += 7;
    int4 one = own[places[0]], other = own[t % 8];
    out[t] = make_int4(one.x + other.x, one.y + other.y, one.z + other.z, one.w + other.w);
}
