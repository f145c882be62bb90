// From pixels of three bytes to gray, with integers.
extern "C" __global__ void grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int at = y * width + x;
        unsigned char r = rgb[3 * at], g = rgb[3 * at + 1], b = rgb[3 * at + 2];
        gray[at] = (unsigned char)((77 * r + 150 * g + 29 * b) >> 8);
    }
}
