// Barriers of the grid, of the blocks and of tiles by cooperative groups.
#include <cooperative_groups.h>
#define KERNEL extern "C" __global__ void
using namespace cooperative_groups;

KERNEL shifted(int *a)
{
    grid_group grid = this_grid();
    int i = grid.thread_rank();
    int next = a[i + 1];
    grid.sync();
    a[i] = next;
}

KERNEL divergent(int *a)
{
    grid_group grid = this_grid();
    if (blockIdx.x == 0) grid.sync();
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

KERNEL counted(unsigned *counter, unsigned *out)
{
    unsigned place;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(place) : "l"(counter) : "memory");
    this_grid().sync();
    out[threadIdx.x + blockIdx.x * blockDim.x] = place + *counter;
}
