// nvrtc --gpu-architecture=compute_90
struct Shape {
  __device__ virtual int area(int x) { return x; }
};
struct Box : Shape {
  int side;
  __device__ int area(int x) override { return x * side; }
};
typedef int (*Function)(int, int);
__device__ __noinline__ int first(int a, int b) { return a + 3 * b; }
__device__ int second(int a, int b) { return a - b; }
__device__ __noinline__ float4 scaled(float4 v, float by) { v.x *= by; v.w += by; return v; }
__device__ Function functions[2] = {first, second};
__constant__ float weights[2][3] = {{1, 2.5f, -3}, {1e-3f}};
__constant__ double halves[2] = {0.5, 1.5};
__device__ int numbers[4] = {1, 2, 3};
__device__ int *third = &numbers[2];
extern "C" int printf(const char *, ...);

extern "C" __global__ void objects(int *out, const float4 *v, int n, Box given) {
  Box box;
  box.side = n;
  Shape *shape = n > 3 ? &box : new Box(given);
  int i = threadIdx.x, local[8];
  switch (n) {
    case 0: i += 3; break;
    case 1: i *= out[7]; break;
    case 2: i -= out[3]; break;
    case 3: i ^= 55; break;
    case 4: i = out[i]; break;
    case 5: i /= 3; break;
    case 6: i = __popc(i); break;
  }
  for (int k = 0; k < 8; k++) local[k] = out[k] * i;
  float4 f = scaled(v[i], weights[n & 1][n % 3] + halves[n & 1]);
  int sum = first(i, n) + functions[n & 1](i, n) + local[n & 7] + *third + shape->area(3) + int(f.w);
  for (int twice = 0; twice < 2; twice++)
    asm volatile("{ .reg .pred p; .reg .u32 r0; setp.eq.u32 p, %1, 0;\n"
                 "  @!p bra DONE; add.u32 r0, %1, 3; mov.u32 %0, r0;\nDONE: }"
                 : "+r"(sum) : "r"(i));
  printf("%d\n", sum);
  out[threadIdx.x] = sum;
}
