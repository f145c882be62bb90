// Just enough of CUDA to run a kernel on the CPU, one block at a time.
//
// The threads of a block are fibers on one thread of the system. Each runs until it waits at a
// barrier, or for lanes of its warp, or returns; then the next one runs. They run in ascending or descending order, so that a
// result that depends on the order shows. Blocks that wait for each other run side by side, each on
// a thread of the system.

#include <ucontext.h>

#include <cmath>
#include <cstdlib>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__ inline __attribute__((unused))
#define __constant__ static const
#define __shared__ thread_local
#define __builtin_assume(condition)
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::copysign;
using std::floor;
using std::fabs;
using std::fmod;
using std::hypot;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::pow;

struct Dimensions {
    unsigned int x, y, z;
    unsigned int size() const { return x * y * z; }
    Dimensions place(unsigned int n) const { return {n % x, n / x % y, n / x / y}; }
    unsigned int number(Dimensions at) const { return at.x + x * (at.y + y * at.z); }
};
static thread_local Dimensions threadIdx, blockIdx, blockDim, gridDim;

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

typedef _Float16 __half;

static __half __float2half_rn(float x)
{
    return x;
}

static __half __double2half(double x)
{
    return x;
}

static float __half2float(__half x)
{
    return x;
}

static unsigned short __half_as_ushort(__half x)
{
    unsigned short bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

static __half __ushort_as_half(unsigned short bits)
{
    __half x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
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

// The atomics that CUDA has, with its types: each is indivisible, also where blocks run in parallel.
// A word is computed with without a sign, where it wraps around.

static std::mutex atomics;

#define ATOMIC(name, Word, result)                     \
    static Word name(Word *word, Word value)           \
    {                                                  \
        std::lock_guard<std::mutex> alone(atomics);    \
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
        std::lock_guard<std::mutex> alone(atomics);    \
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
// The vector types. A vector lies over the words of any array.

#define VECTORS(Word, name)                                                             \
    struct __attribute__((may_alias, aligned(2 * sizeof(Word)))) name##2 { Word x, y; }; \
    static name##2 make_##name##2(Word x, Word y) { return {x, y}; }
#define LONGER_VECTORS(Word, name)                                                      \
    VECTORS(Word, name)                                                                 \
    struct __attribute__((may_alias, aligned(4 * sizeof(Word)))) name##4 { Word x, y, z, w; }; \
    static name##4 make_##name##4(Word x, Word y, Word z, Word w) { return {x, y, z, w}; }

LONGER_VECTORS(signed char, char)
LONGER_VECTORS(unsigned char, uchar)
LONGER_VECTORS(short, short)
LONGER_VECTORS(unsigned short, ushort)
LONGER_VECTORS(int, int)
LONGER_VECTORS(unsigned int, uint)
LONGER_VECTORS(float, float)
VECTORS(long long, longlong)
VECTORS(unsigned long long, ulonglong)
VECTORS(double, double)

static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __popc(unsigned int x) { return __builtin_popcount(x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
static int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
static int __ffsll(long long x) { return __builtin_ffsll(x); }
static int __ffs(int x) { return __builtin_ffs(x); }

static unsigned long long __brevll(unsigned long long x)
{
    unsigned long long turned = 0;
    for (int bit = 0; bit < 64; bit++)
        turned |= (x >> bit & 1) << (63 - bit);
    return turned;
}

static unsigned int __brev(unsigned int x) { return __brevll(x) >> 32; }

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
    bool at_barrier = false, at_grid = false;
    unsigned int meets = 0;  // the mask of the lanes that it waits for
    long long value = 0;     // what it gives them
    std::vector<long long> seen;  // what they gave
};

static thread_local std::vector<Fiber> fibers;
static thread_local ucontext_t scheduler;
static unsigned int width = 32;
static thread_local int votes, agreed, waiting, present;
static thread_local void (*body)(void *);
static thread_local void *given;

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
    fibers[self].at_barrier = true;
    swapcontext(&fibers[self].context, &scheduler);
    return agreed;
}

// Blocks wait here for all others.
static std::mutex lock;
static std::condition_variable opened;
static unsigned int blocks_missing, blocks_all, turn;

static void wait_for_blocks()
{
    std::unique_lock<std::mutex> held(lock);
    unsigned int mine = turn;
    if (--blocks_missing == 0) {
        blocks_missing = blocks_all;
        turn++;
        opened.notify_all();
    }
    opened.wait(held, [&] { return turn != mine; });
}

// What each lane of a warp gives to the others in a mask, which all wait until they are there.
static const std::vector<long long> &meet(unsigned int mask, long long value)
{
    unsigned int self = blockDim.number(threadIdx), first = self - self % width;
    if (!(mask >> self % width & 1))
        std::abort();
    fibers[self].meets = mask;
    fibers[self].value = value;
    bool all = true;
    for (unsigned int lane = 0; lane < width; lane++)
        if (mask >> lane & 1)
            all = all && fibers[first + lane].meets == mask;
    if (all) {
        std::vector<long long> values(width);
        for (unsigned int lane = 0; lane < width; lane++)
            if (mask >> lane & 1)
                values[lane] = fibers[first + lane].value;
        for (unsigned int lane = 0; lane < width; lane++)
            if (mask >> lane & 1) {
                fibers[first + lane].seen = values;
                fibers[first + lane].meets = 0;
            }
    }
    while (fibers[self].meets)
        swapcontext(&fibers[self].context, &scheduler);
    return fibers[self].seen;
}

template <class Word> long long bits_of(Word value)
{
    static_assert(std::is_arithmetic<Word>::value, "CUDA exchanges integers and floats only");
    long long bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class Word> Word shuffle(unsigned int mask, Word value, long long lane, int own)
{
    lane = lane < 0 || lane >= (long long)width ? own : lane;
    long long bits = meet(mask, bits_of(value))[lane];
    if (!(mask >> lane & 1))
        std::abort();
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

static void run_block(unsigned int threads, bool backward)
{
    if (fibers.size() < threads)
        fibers.resize(threads);
    for (unsigned int t = 0; t < threads; t++) {
        fibers[t].stack.resize(1 << 16);
        fibers[t].finished = fibers[t].at_barrier = false;
        fibers[t].meets = 0;
        getcontext(&fibers[t].context);
        fibers[t].context.uc_stack.ss_sp = fibers[t].stack.data();
        fibers[t].context.uc_stack.ss_size = fibers[t].stack.size();
        fibers[t].context.uc_link = nullptr;
        makecontext(&fibers[t].context, run, 0);
    }
    do {
        votes = waiting = 0;
        for (bool runs = true; runs;) {
            runs = false;
            bool stuck = true;  // all that run wait for lanes that don't come
            for (unsigned int n = 0; n < threads; n++) {
                unsigned int t = backward ? threads - 1 - n : n;
                if (fibers[t].finished || fibers[t].at_barrier)
                    continue;
                runs = true;
                stuck = stuck && fibers[t].meets;
                threadIdx = blockDim.place(t);
                swapcontext(&scheduler, &fibers[t].context);
            }
            if (runs && stuck)
                std::abort();
        }
        agreed = votes;
        bool of_grid = false;
        for (unsigned int t = 0; t < threads; t++) {
            of_grid = of_grid || fibers[t].at_grid;
            fibers[t].at_barrier = fibers[t].at_grid = false;
        }
        if (of_grid)
            wait_for_blocks();
        present = waiting;
    } while (waiting);
}

template <class... Parameters, std::size_t... Number>
void launch_block(void (*kernel)(Parameters...), void **arguments, unsigned int number,
                  Dimensions grid, Dimensions block, bool backward, std::index_sequence<Number...>)
{
    auto call = [&] { kernel(*(Parameters *)arguments[Number]...); };
    given = &call;
    body = [](void *it) { (*(decltype(call) *)it)(); };
    blockDim = block;
    gridDim = grid;
    blockIdx = grid.place(number);
    run_block(block.size(), backward);
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), void **arguments, Dimensions grid, Dimensions block,
            int backward, unsigned int lanes, bool cooperative)
{
    width = lanes;
    blocks_all = blocks_missing = grid.size();
    std::vector<std::thread> running;
    for (unsigned int n = 0; n < grid.size(); n++) {
        auto run = [=] {
            unsigned int number = backward ? grid.size() - 1 - n : n;
            launch_block(kernel, arguments, number, grid, block, backward,
                         std::index_sequence_for<Parameters...>());
        };
        if (cooperative)
            running.emplace_back(run);
        else
            run();
    }
    for (auto &one : running)
        one.join();
}

}  // namespace emulation

static void __syncthreads() { emulation::wait(0); }
static int __syncthreads_and(int vote) { return emulation::wait(vote != 0) == emulation::present; }
static int __syncthreads_or(int vote) { return emulation::wait(vote != 0) > 0; }
static int __syncthreads_count(int vote) { return emulation::wait(vote != 0); }

static void __syncwarp(unsigned int mask) { emulation::meet(mask, 0); }

static unsigned int __ballot_sync(unsigned int mask, int test)
{
    const std::vector<long long> &seen = emulation::meet(mask, test != 0);
    unsigned int found = 0;
    for (unsigned int lane = 0; lane < emulation::width; lane++)
        if (mask >> lane & 1)
            found |= (unsigned int)seen[lane] << lane;
    return found;
}

static int __any_sync(unsigned int mask, int test) { return __ballot_sync(mask, test) != 0; }
static int __all_sync(unsigned int mask, int test) { return __ballot_sync(mask, test) == mask; }

template <class Word> unsigned int __match_any_sync(unsigned int mask, Word value)
{
    const std::vector<long long> &seen = emulation::meet(mask, emulation::bits_of(value));
    unsigned int found = 0;
    for (unsigned int lane = 0; lane < emulation::width; lane++)
        if (mask >> lane & 1 && seen[lane] == emulation::bits_of(value))
            found |= 1u << lane;
    return found;
}

template <class Word> unsigned int __match_all_sync(unsigned int mask, Word value, int *same)
{
    unsigned int found = __match_any_sync(mask, value);
    *same = found == mask;
    return *same ? mask : 0;
}

template <class Word> Word __shfl_sync(unsigned int mask, Word value, int lane)
{
    int width = emulation::width;
    return emulation::shuffle(mask, value, (lane % width + width) % width, 0);
}

template <class Word> Word __shfl_up_sync(unsigned int mask, Word value, unsigned int distance)
{
    int own = blockDim.number(threadIdx) % emulation::width;
    return emulation::shuffle(mask, value, own - (long long)distance, own);
}

template <class Word> Word __shfl_down_sync(unsigned int mask, Word value, unsigned int distance)
{
    int own = blockDim.number(threadIdx) % emulation::width;
    return emulation::shuffle(mask, value, own + (long long)distance, own);
}

template <class Word> Word __shfl_xor_sync(unsigned int mask, Word value, int bits)
{
    int own = blockDim.number(threadIdx) % emulation::width;
    return emulation::shuffle(mask, value, own ^ bits, own);
}

namespace cooperative_groups {

struct Grid {
    void sync()
    {
        emulation::fibers[blockDim.number(threadIdx)].at_grid = true;
        emulation::wait(0);
    }
};

static Grid this_grid() { return Grid(); }

}  // namespace cooperative_groups
