__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__constant__ unsigned int crc_of_nibble[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

extern "C" __global__ void smooth(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < 5; k++) {
        int at = min(max(i + k - 2, 0), n - 1);
        sum += weights[k] * in[at];
    }
    out[i] = sum;
}

// The CRC-32 of each row of bytes.
extern "C" __global__ void checksums(const unsigned char* rows, unsigned int* out, int length)
{
    const unsigned char* row = rows + threadIdx.x * length;
    unsigned int crc = 0xffffffff;
    for (int i = 0; i < length; i++) {
        crc = crc_of_nibble[(crc ^ row[i]) & 15] ^ (crc >> 4);
        crc = crc_of_nibble[(crc ^ (row[i] >> 4)) & 15] ^ (crc >> 4);
    }
    out[threadIdx.x] = ~crc;
}
