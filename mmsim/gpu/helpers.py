"""Device functions for operators that C lacks or means differently.

They mean what `mmsim.language.operators` says. A text holds those that it calls.
"""

from __future__ import annotations

import re

HELPERS: dict[str, str] = {
    "add": """
// x + y, which wraps around at 64 bits.
__device__ long long add(long long x, long long y)
{
    return (long long)((unsigned long long)x + (unsigned long long)y);
}
""",
    "subtract": """
// x - y, which wraps around at 64 bits.
__device__ long long subtract(long long x, long long y)
{
    return (long long)((unsigned long long)x - (unsigned long long)y);
}
""",
    "multiply": """
// x * y, which wraps around at 64 bits.
__device__ long long multiply(long long x, long long y)
{
    return (long long)((unsigned long long)x * (unsigned long long)y);
}
""",
    "negate": """
// -x, which wraps around at 64 bits.
__device__ long long negate(long long x)
{
    return (long long)(0ULL - (unsigned long long)x);
}
""",
    "absolute": """
// abs(x), which wraps around at 64 bits.
__device__ long long absolute(long long x)
{
    return x < 0 ? negate(x) : x;
}
""",
    "floor_div": """
// Python's x // y, which rounds down.
__device__ long long floor_div(long long x, long long y)
{
    if (y == -1)
        return negate(x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}
""",
    "modulo": """
// Python's x % y, which has the sign of y.
__device__ long long modulo(long long x, long long y)
{
    if (y == -1)
        return 0;
    return x % y != 0 && (x < 0) != (y < 0) ? x % y + y : x % y;
}
""",
    "float_floor_div": """
// Python's x // y of floats.
__device__ double float_floor_div(double x, double y)
{
    double rest = fmod(x, y), quotient = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign(0.0, x / y);
    return floor(quotient) + (quotient - floor(quotient) > 0.5);
}
""",
    "float_modulo": """
// Python's x % y of floats.
__device__ double float_modulo(double x, double y)
{
    double rest = fmod(x, y);
    if (rest == 0)
        return copysign(0.0, y);
    return (y < 0) != (rest < 0) ? rest + y : rest;
}
""",
    "power": """
// x ** y of whole numbers, y >= 0, which wraps around at 64 bits.
__device__ long long power(long long x, long long y)
{
    unsigned long long result = 1, square = (unsigned long long)x;
    for (; y > 0; y >>= 1, square *= square)
        if (y & 1)
            result *= square;
    return (long long)result;
}
""",
    "shift_left": """
// x << y for any y >= 0.
__device__ long long shift_left(long long x, long long y)
{
    return y > 63 ? 0 : (long long)((unsigned long long)x << y);
}
""",
    "shift_right": """
// x >> y for any y >= 0.
__device__ long long shift_right(long long x, long long y)
{
    return x >> (y > 63 ? 63 : y);
}
""",
    "minimum": """
// min(x, y): y only if it is less.
__device__ long long minimum(long long x, long long y)
{
    return y < x ? y : x;
}
""",
    "maximum": """
// max(x, y): y only if it is greater.
__device__ long long maximum(long long x, long long y)
{
    return y > x ? y : x;
}
""",
    "float_minimum": """
// min(x, y) of floats: y only if it is less.
__device__ double float_minimum(double x, double y)
{
    return y < x ? y : x;
}
""",
    "float_maximum": """
// max(x, y) of floats: y only if it is greater.
__device__ double float_maximum(double x, double y)
{
    return y > x ? y : x;
}
""",
    "value_and": """
// x and y: one of the two, y only where it is needed.
template <class Value, class Other> __device__ Value value_and(Value x, Other y)
{
    return x != 0 ? y() : x;
}
""",
    "value_or": """
// x or y: one of the two, y only where it is needed.
template <class Value, class Other> __device__ Value value_or(Value x, Other y)
{
    return x != 0 ? x : y();
}
""",
    "trips": """
// How often a loop over range(start, stop, step) turns; the way may have 64 bits.
__device__ unsigned long long trips(long long start, long long stop, long long step)
{
    if (step > 0 ? start >= stop : start <= stop)
        return 0;
    unsigned long long from = step > 0 ? start : stop, to = step > 0 ? stop : start;
    unsigned long long stride = step > 0 ? step : -(unsigned long long)step;
    return stride == 0 ? 0 : (to - from - 1) / stride + 1;
}
""",
    "infinite": """
// The float that is larger than all others.
__device__ double infinite()
{
    return __longlong_as_double(0x7ff0000000000000LL);
}
""",
    "not_a_number": """
// The float that is no number.
__device__ double not_a_number()
{
    return __longlong_as_double(0x7ff8000000000000LL);
}
""",
    "clear": """
// All words 0; the threads of the block share the work.
template <class Word> __device__ void clear(volatile Word *words, int count)
{
    for (int n = threadIdx.x; n < count; n += blockDim.x)
        words[n] = 0;
}
""",
    "clear_registers": """
// All registers of this thread 0.
template <class Word> __device__ void clear_registers(Word *words, int count)
{
    for (int n = 0; n < count; n++)
        words[n] = 0;
}
""",
    "copy_words": """
// Copy words in the order of their addresses; the threads of the block share the work.
template <class To, class From> __device__ void copy_words(To *to, From *from, int count)
{
    for (int n = threadIdx.x; n < count; n += blockDim.x)
        to[n] = from[n];
}
""",
}


def called(text: str) -> list[str]:
    """The device functions that a text needs, those first that others call."""
    needed: set[str] = set()
    pending = [text]
    while pending:
        for name in re.findall(r"\b([a-z_]+)\(", pending.pop()):
            if name in HELPERS and name not in needed:
                needed.add(name)
                pending.append(HELPERS[name])
    return [HELPERS[name].strip() for name in HELPERS if name in needed]
