// Forms of addresses, of parameters and of control flow, each in a small kernel.
#define N extern "C" __global__ void
N choose(float *out, const float *a, const float *b, int n) { int i=threadIdx.x; const float *p = (i&1) ? a : b; out[i]=p[i/2]; }
N null(float *out, const float *a, const int *mask, int n) { int i=threadIdx.x; if (mask && !mask[i]) return; out[i]=a[i]; }
N bytes(unsigned *out, const unsigned char *a) { int i=threadIdx.x; const uchar4 v=((const uchar4*)a)[i]; out[i]=v.x+256*v.y+65536*v.z+(unsigned)a[4*i+3]*16777216u; }
struct P { float x; int k; double d; short s; char c; };
N st(double *out, P p) { out[threadIdx.x] = p.x*p.k + p.d + p.s + p.c; }
N sw(int *out, const int *a) { int i=threadIdx.x, r; switch (a[i]) { case 0: r=7; break; case 1: r=i*3; break; case 2: r=-i; break; case 3: r=100; break; case 4: r=i*i; break; case 5: r=9; break; default: r=-1; } out[i]=r; }
__device__ __noinline__ int collatz(long long n) { int k=0; while (n!=1) { n = n&1 ? 3*n+1 : n/2; k++; } return k; }
N col(int *out) { int i=threadIdx.x; out[i] = collatz(i+1) + collatz(2*i+1); }
N vote(unsigned *out, const int *a) { int i=threadIdx.x; unsigned b=__ballot_sync(~0u,a[i]>0); int any=__any_sync(~0u,a[i]>5), all=__all_sync(~0u,a[i]>=0); out[i]=b + any + 2*all + __popc(b & ((1u<<(i&31))-1)); }
N shf(int *out) { int i=threadIdx.x; int v=i*i; out[i]=__shfl_sync(~0u,v,3)+1000*__shfl_up_sync(~0u,v,2)+ 7*__shfl_xor_sync(~0u,v,5) + 13*__shfl_down_sync(~0u,v,1,8)+17*__shfl_sync(~0u,v,i+1,4); }
N cnt(int *out, const int *a) { int c=__syncthreads_count(a[threadIdx.x]>0); int o=__syncthreads_or(a[threadIdx.x]>6); int d=__syncthreads_and(a[threadIdx.x]>-1); out[threadIdx.x]=c*100+(o!=0)*10+(d!=0); }
N ptrloop(float *out, const float *a, int n) { float s=0; for (const float *p=a+threadIdx.x, *e=a+n; p<e; p+=blockDim.x) s+=*p; out[threadIdx.x]=s; }
N i64(unsigned long long *out, const unsigned long long *a) { int i=threadIdx.x; unsigned long long x=a[i]; out[i]=(x*x)^(x>>7)^__umul64hi(x,x)+x/3+x%1000; }
N half2(unsigned short *out, const float *a) { int i=threadIdx.x; unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a[i])); out[i]=h; }
N dbl(double *out, const double *a) { int i=threadIdx.x; out[i]=sqrt(a[i])*sin(a[i])+floor(a[i])+ (float)a[i]; }
N flt(float *out, const float *a) { int i=threadIdx.x; out[i]=sqrtf(a[i])+__expf(a[i])+ rintf(a[i]) + fminf(a[i],0.5f) + a[i]/3.0f + (int)(a[i]*10) ; }
N cas(int *out, const int *a) { int i=threadIdx.x; int old=out[0], assumed; do { assumed=old; old=atomicCAS(out,assumed,assumed+a[i]); } while(old!=assumed); }
N amax(int *o, unsigned *u, float *f, const int *a) { int i=threadIdx.x; atomicMax(o,a[i]); atomicMin(u,(unsigned)a[i]); float v=atomicExch(f, (float)a[i]); atomicAdd(f+1,v*0+1); }
N loc(int *out, int n) { int t[16]; int i=threadIdx.x; for (int k=0;k<16;k++) t[k]=k*i; int s=0; for (int k=0;k<n;k++) s+=t[(k*7+i)&15]; out[i]=s; }
__constant__ float table[4] = {1.5f,2.5f,3.5f,4.5f};
N con(float *out) { out[threadIdx.x]=table[threadIdx.x&3]; }
__device__ int counter = 5;
N glob(int *out) { out[threadIdx.x]=atomicAdd(&counter, 1); }
