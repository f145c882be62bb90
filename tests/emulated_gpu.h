// Just enough of CUDA to run a kernel on the CPU, one block after the other.
//
// The threads of a block are fibers on one thread of the system. Each runs until it waits at a
// barrier or returns; then the next one runs. They run in ascending or descending order, so that a
// result that depends on the order shows.

#include <ucontext.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#define __global__
#define __device__ static inline __attribute__((unused))
#define __constant__ static const
#define __shared__ thread_local
#define __builtin_assume(condition)
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::copysign;
using std::floor;
using std::fmod;
using std::pow;

struct Dimensions {
    unsigned int x, y, z;
    unsigned int size() const { return x * y * z; }
    Dimensions place(unsigned int n) const { return {n % x, n / x % y, n / x / y}; }
    unsigned int number(Dimensions at) const { return at.x + x * (at.y + y * at.z); }
};
static Dimensions threadIdx, blockIdx, blockDim, gridDim;

static double __longlong_as_double(long long bits)
{
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

static long long __double_as_longlong(double value)
{
    long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int __float_as_int(float value)
{
    int bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float __int_as_float(int bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// The atomics that CUDA has, with its types: a fiber runs on until it waits, so that each is one go.
// A word is computed with without a sign, where it wraps around.

#define ATOMIC(name, Word, result)                     \
    static Word name(Word *word, Word value)           \
    {                                                  \
        Word old = *word;                              \
        *word = (Word)(result);                        \
        return old;                                    \
    }
#define ATOMICS_OF_BITS(Word)                          \
    ATOMIC(atomicAnd, Word, old &value)                \
    ATOMIC(atomicOr, Word, old | value)                \
    ATOMIC(atomicXor, Word, old ^ value)               \
    ATOMIC(atomicExch, Word, value)                    \
    static Word atomicCAS(Word *word, Word compare, Word value) \
    {                                                  \
        Word old = *word;                              \
        *word = old == compare ? value : old;          \
        return old;                                    \
    }
#define ATOMICS_OF_SIZES(Word)                         \
    ATOMIC(atomicMin, Word, old < value ? old : value) \
    ATOMIC(atomicMax, Word, old > value ? old : value)

ATOMICS_OF_BITS(int)
ATOMICS_OF_BITS(unsigned int)
ATOMICS_OF_BITS(unsigned long long)
ATOMICS_OF_SIZES(int)
ATOMICS_OF_SIZES(unsigned int)
ATOMICS_OF_SIZES(long long)
ATOMICS_OF_SIZES(unsigned long long)
ATOMIC(atomicAdd, int, (unsigned int)old + (unsigned int)value)
ATOMIC(atomicAdd, unsigned int, old + value)
ATOMIC(atomicAdd, unsigned long long, old + value)
ATOMIC(atomicAdd, float, old + value)
ATOMIC(atomicAdd, double, old + value)
ATOMIC(atomicSub, int, (unsigned int)old - (unsigned int)value)
ATOMIC(atomicSub, unsigned int, old - value)
ATOMIC(atomicExch, float, value)
ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1)
ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)

static long long clock64()
{
    static long long now = 0;
    return ++now;
}

namespace emulation {

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    bool finished = false;
};

static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static int votes, all_agree, waiting;
static void (*body)(void *);
static void *given;

static void run()
{
    unsigned int self = blockDim.number(threadIdx);
    body(given);
    fibers[self].finished = true;
    swapcontext(&fibers[self].context, &scheduler);
}

static int wait(int vote)
{
    unsigned int self = blockDim.number(threadIdx);
    waiting++;
    votes += vote;
    swapcontext(&fibers[self].context, &scheduler);
    return all_agree;
}

static void run_block(unsigned int threads, bool backward)
{
    if (fibers.size() < threads)
        fibers.resize(threads);
    for (unsigned int t = 0; t < threads; t++) {
        fibers[t].stack.resize(1 << 16);
        fibers[t].finished = false;
        getcontext(&fibers[t].context);
        fibers[t].context.uc_stack.ss_sp = fibers[t].stack.data();
        fibers[t].context.uc_stack.ss_size = fibers[t].stack.size();
        fibers[t].context.uc_link = nullptr;
        makecontext(&fibers[t].context, run, 0);
    }
    do {
        votes = waiting = 0;
        for (unsigned int n = 0; n < threads; n++) {
            unsigned int t = backward ? threads - 1 - n : n;
            if (fibers[t].finished)
                continue;
            threadIdx = blockDim.place(t);
            swapcontext(&scheduler, &fibers[t].context);
        }
        all_agree = votes == waiting;
    } while (waiting);
}

template <class... Parameters, std::size_t... Number>
void launch(void (*kernel)(Parameters...), void **arguments, Dimensions grid, Dimensions block,
            bool backward, std::index_sequence<Number...>)
{
    auto call = [&] { kernel(*(Parameters *)arguments[Number]...); };
    given = &call;
    body = [](void *it) { (*(decltype(call) *)it)(); };
    blockDim = block;
    gridDim = grid;
    for (unsigned int n = 0; n < grid.size(); n++) {
        blockIdx = grid.place(backward ? grid.size() - 1 - n : n);
        run_block(block.size(), backward);
    }
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), void **arguments, Dimensions grid, Dimensions block,
            int backward)
{
    launch(kernel, arguments, grid, block, backward, std::index_sequence_for<Parameters...>());
}

}  // namespace emulation

static void __syncthreads() { emulation::wait(0); }
static int __syncthreads_and(int vote) { return emulation::wait(vote != 0); }
