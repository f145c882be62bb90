// A complex number. No operation fuses a product and a sum.
template <class Part> struct alignas(2 * sizeof(Part)) complex {
    Part real, imag;

    complex() = default;
    complex(const complex &z) = default;
    __device__ complex(const volatile complex &z) : real(z.real), imag(z.imag) {}
    __device__ complex(Part real, Part imag = 0) : real(real), imag(imag) {}
    template <class Other>
    __device__ complex(const complex<Other> &z) : real(z.real), imag(z.imag) {}
    template <class Other>
    __device__ complex(const volatile complex<Other> &z) : real(z.real), imag(z.imag) {}

    __device__ void operator=(complex z)
    {
        real = z.real;
        imag = z.imag;
    }
    __device__ void operator=(complex z) volatile
    {
        real = z.real;
        imag = z.imag;
    }

    friend __device__ complex operator-(complex x) { return complex(-x.real, -x.imag); }
    friend __device__ complex operator+(complex x, complex y)
    {
        return complex(x.real + y.real, x.imag + y.imag);
    }
    friend __device__ complex operator-(complex x, complex y)
    {
        return complex(x.real - y.real, x.imag - y.imag);
    }
    friend __device__ complex operator*(complex x, complex y)
    {
        return complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real);
    }
    friend __device__ complex operator/(complex x, complex y) // by Smith's method
    {
        if (y.real == 0 && y.imag == 0)
            return complex(x.real / fabs(y.real), x.imag / fabs(y.real));
        if (fabs(y.real) >= fabs(y.imag)) {
            Part ratio = y.imag / y.real, scale = 1 / (y.real + y.imag * ratio);
            return complex((x.real + x.imag * ratio) * scale, (x.imag - x.real * ratio) * scale);
        }
        Part ratio = y.real / y.imag, scale = 1 / (y.imag + y.real * ratio);
        return complex((x.real * ratio + x.imag) * scale, (x.imag * ratio - x.real) * scale);
    }
    friend __device__ bool operator==(complex x, complex y)
    {
        return x.real == y.real && x.imag == y.imag;
    }
    friend __device__ bool operator!=(complex x, complex y) { return !(x == y); }
};

// The distance of a complex number from 0.
template <class Part> __device__ Part complex_abs(complex<Part> x)
{
    return hypot(x.real, x.imag);
}

// The complex number with the same real part and the negative imaginary one.
template <class Part> __device__ complex<Part> complex_conjugate(complex<Part> x)
{
    return complex<Part>(x.real, -x.imag);
}

// A complex number of another lane: CUDA shuffles real numbers only.
template <class Part>
__device__ complex<Part> complex_SHUFFLE(unsigned int mask, complex<Part> x, int other)
{
    Part real = __SHUFFLE(mask, x.real, other);
    return complex<Part>(real, __SHUFFLE(mask, x.imag, other));
}

// The atomic sum of each part: CUDA adds real numbers only.
template <class Part>
__device__ complex<Part> complex_atomic_add(complex<Part> *word, complex<Part> x)
{
    Part real = atomicAdd(&word->real, x.real);
    return complex<Part>(real, atomicAdd(&word->imag, x.imag));
}

// A float16 as its bits. It computes as a float.
struct half_float {
    unsigned short bits;

    half_float() = default;
    half_float(const half_float &x) = default;
    __device__ half_float(const volatile half_float &x) : bits(x.bits) {}
    __device__ half_float(float x) : bits(__half_as_ushort(__float2half_rn(x))) {}
    __device__ half_float(double x) : bits(__half_as_ushort(__double2half(x))) {}
    __device__ half_float(int x) : half_float((float)x) {}
    __device__ operator float() const volatile { return __half2float(__ushort_as_half(bits)); }
    __device__ void operator=(half_float x) { bits = x.bits; }
    __device__ void operator=(half_float x) volatile { bits = x.bits; }
};

// Adjacent words, read by one access; no access moves past another one.
template <class Vector, class Word> __device__ Vector read_vector(const volatile Word *from)
{
    asm volatile("" ::: "memory");
    return *(const Vector *)from;
}

// Adjacent words, written by one access; no access moves past another one.
template <class Vector, class Word> __device__ void write_vector(volatile Word *to, Vector from)
{
    *(Vector *)to = from;
    asm volatile("" ::: "memory");
}

// x SIGN y, which wraps around at 64 bits.
__device__ long long SUM(long long x, long long y)
{
    return (long long)((unsigned long long)x SIGN (unsigned long long)y);
}

// -x, which wraps around at 64 bits.
__device__ long long negate(long long x)
{
    return (long long)(0ULL - (unsigned long long)x);
}

// abs(x), which wraps around at 64 bits.
__device__ long long absolute(long long x)
{
    return x < 0 ? negate(x) : x;
}

// Python's x // y, which rounds down; 0 where y is 0.
__device__ long long floor_div(long long x, long long y)
{
    if (y == 0 || y == -1)
        return y == 0 ? 0 : negate(x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

// Python's x % y, which has the sign of y; 0 where y is 0.
__device__ long long modulo(long long x, long long y)
{
    if (y == 0 || y == -1)
        return 0;
    return x % y != 0 && (x < 0) != (y < 0) ? x % y + y : x % y;
}

// x PYTHONS y of numbers without a sign, and 0 where y is 0.
__device__ unsigned long long unsigned_DIVISION(unsigned long long x, unsigned long long y)
{
    return y == 0 ? 0 : x SIGN y;
}

// x ** y of whole numbers of one type, y not negative, which wraps around.
template <class Value, class Other> __device__ Value power(Value x, Other y)
{
    unsigned long long result = 1, square = x;
    for (; y > 0; y >>= 1, square *= square)
        if (y & 1)
            result *= square;
    return (Value)result;
}

// An index as Python counts: from the end where it is negative.
__device__ long long from_end(long long index, long long size)
{
    return index < 0 ? index + size : index;
}

// The float that is larger than all others.
__device__ double infinite()
{
    return __longlong_as_double(0x7ff0000000000000LL);
}

// words *= factor: 512 bits, the lowest word first.
__device__ void multiply_words(unsigned int *words, unsigned long long factor)
{
    unsigned int result[16] = {};
    for (int half = 0; half < 2; half++) {
        unsigned long long part = half ? factor >> 32 : factor & 0xffffffffULL, carry = 0;
        for (int n = 0; n + half < 16; n++) {
            carry += words[n] * part + result[n + half];
            result[n + half] = (unsigned int)carry;
            carry >>= 32;
        }
    }
    for (int n = 0; n < 16; n++)
        words[n] = result[n];
}

// Shift words up until the highest bit is 1; how far.
__device__ int to_the_top(unsigned int *words)
{
    int shift = 0;
    while (!(words[15] >> 31)) {
        int step = words[15] == 0 ? 32 : 1;
        for (int n = 15; n >= 0; n--) {
            unsigned int below = n > 0 ? words[n - 1] : 0;
            words[n] = step == 32 ? below : words[n] << 1 | below >> 31;
        }
        shift += step;
    }
    return shift;
}

// Whether x ** n, or x ** -0.5 where n is 0, is rounded to a float above `low`, for x > 0.
__device__ bool rounds_up(double x, int n, double low)
{
    long long bits[2] = {__double_as_longlong(x), __double_as_longlong(low)};
    unsigned long long whole[2];
    int scale[2];
    for (int k = 0; k < 2; k++) { // whole * 2 ** scale
        int exponent = (int)(bits[k] >> 52);
        whole[k] = (bits[k] & 0xfffffffffffffLL) | (exponent > 0 ? 1LL << 52 : 0);
        scale[k] = (exponent > 0 ? exponent : 1) - 1075;
    }
    unsigned long long middle = 2 * whole[1] + 1; // between `low` and the next float
    unsigned int left[16] = {1}, right[16] = {1};
    int left_scale = 0, right_scale = 0;
    for (int k = 0; k < (n > 0 ? n : n < 0 ? -n : 1); k++) {
        multiply_words(n > 0 ? left : right, whole[0]);
        (n > 0 ? left_scale : right_scale) += scale[0];
    }
    for (int k = 0; k < (n == 0 ? 2 : 1); k++) {
        multiply_words(right, middle);
        right_scale += scale[1] - 1;
    }
    left_scale -= to_the_top(left);
    right_scale -= to_the_top(right);
    if (left_scale != right_scale)
        return left_scale > right_scale;
    for (int k = 15; k >= 0; k--)
        if (left[k] != right[k])
            return left[k] > right[k];
    return whole[1] & 1; // a tie goes to the even one
}

// x ** n, or x ** -0.5 where n is 0, rounded to the nearest float, for x > 0.
__device__ double rounded_power(double x, int n)
{
    int scale;
    double fraction = frexp(x, &scale), found = 1;
    if (n == 0) {
        int odd = scale & 1;
        found = 1 / sqrt(odd ? fraction / 2 : fraction);
        scale = -((scale + odd) / 2);
    } else {
        for (int k = 0; k < (n > 0 ? n : -n); k++)
            found *= fraction;
        found = n > 0 ? found : 1 / found;
        scale *= n;
    }
    long long near = __double_as_longlong(ldexp(found, scale));
    const long long infinity = 0x7ff0000000000000LL;
    if (near >= infinity)
        near = infinity - 1;
    while (near < infinity && rounds_up(x, n, __longlong_as_double(near)))
        near++;
    while (near > 0 && !rounds_up(x, n, __longlong_as_double(near - 1)))
        near--;
    return __longlong_as_double(near);
}

// Python's x ** y of floats: rounded exactly where y is -4 to 8 and whole, 0.5 or -0.5.
__device__ double float_power(double x, double y)
{
    if (y == 2)
        return x * x;
    if (y == 0.5)
        return fabs(x) == infinite() ? fabs(x) : sqrt(x + 0.0);
    bool whole = y == floor(y) && y >= -4 && y <= 8 && y != 0;
    if (x == 0 || !(fabs(x) < infinite()) || !(whole || (y == -0.5 && x > 0)))
        return pow(x, y);
    double found = rounded_power(fabs(x), whole ? (int)y : 0);
    return x < 0 && (int)y % 2 != 0 ? -found : found;
}

// x << y for any y from 0 on, of the bits that the type has.
template <class Value> __device__ Value shift_left(Value x, unsigned long long y)
{
    return y < 8 * sizeof(Value) ? (Value)((unsigned long long)x << y) : (Value)0;
}

// x >> y for any y from 0 on, of the bits that the type has.
template <class Value> __device__ Value shift_right(Value x, unsigned long long y)
{
    return (Value)(y < 8 * sizeof(Value) ? x >> y : x < 0 ? -1 : 0);
}

// EXTREME(x, y) of one type: y only if it is WORD.
template <class Value, class Other> __device__ Value EXTREMEimum(Value x, Other y)
{
    return y SIGN x ? (Value)y : x;
}

// x // y of floats of one type: Python's, and NumPy's where y is 0.
template <class Value> __device__ Value float_floor_div(Value x, Value y)
{
    Value rest = fmod(x, y), quotient = (x - rest) / y;
    if (y == 0)
        return x / y;
    if (rest != 0 && (y < 0) != (rest < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign((Value)0, x / y);
    return floor(quotient) + (Value)(quotient - floor(quotient) > (Value)0.5);
}

// x % y of floats of one type: Python's, and NumPy's where y is 0.
template <class Value> __device__ Value float_modulo(Value x, Value y)
{
    Value rest = fmod(x, y);
    if (y == 0)
        return rest;
    if (rest == 0)
        return copysign((Value)0, y);
    return (y < 0) != (rest < 0) ? rest + y : rest;
}

// -1, 0 or 1: whether an unsigned number is less than, equal to or greater than a signed one.
__device__ int order(unsigned long long x, long long y)
{
    if (y < 0 || x > (unsigned long long)y)
        return 1;
    return x < (unsigned long long)y ? -1 : 0;
}

// x LOGIC y: one of the two, y only where it is needed.
template <class Value, class Other> __device__ Value value_LOGIC(Value x, Other y)
{
    return x != 0 ? THEN : ELSE;
}

// How often a loop over range(start, stop, step) turns; the way may have 64 bits.
__device__ unsigned long long trips(long long start, long long stop, long long step)
{
    if (step > 0 ? start >= stop : start <= stop)
        return 0;
    unsigned long long from = step > 0 ? start : stop, to = step > 0 ? stop : start;
    unsigned long long stride = step > 0 ? step : -(unsigned long long)step;
    return stride == 0 ? 0 : (to - from - 1) / stride + 1;
}

// The float that is not a number.
__device__ double not_a_number()
{
    return __longlong_as_double(0x7ff8000000000000LL);
}

// The number of this thread in its block.
__device__ unsigned int own_number()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// The number of threads of the block.
__device__ unsigned int threads_at_work()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

// The mask of a warp's first lanes: as many as its block has threads left, at most all of them.
__device__ unsigned int first_lanes(int threads, int width)
{
    return threads < 32 && threads < width ? (1u << threads) - 1
                                           : 0xffffffffu >> (32 - width);
}

// The lanes of the mask if all of them hold one value, else 0.
template <class Word> __device__ unsigned int match_all(unsigned int lanes, Word value)
{
    int same;
    return __match_all_sync(lanes, value, &same);
}

// All words 0; the threads of the block share the work.
template <class Word> __device__ void clear(volatile Word *words, int count)
{
    for (int n = threadIdx.x; n < count; n += blockDim.x)
        words[n] = 0;
}

// All registers of this thread 0.
template <class Word> __device__ void clear_registers(Word *words, int count)
{
    for (int n = 0; n < count; n++)
        words[n] = 0;
}

// Copy words in the order of their addresses; the threads of the block share the work.
template <class To, class From> __device__ void copy_words(To *to, From *from, int count)
{
    for (int n = threadIdx.x; n < count; n += blockDim.x)
        to[n] = from[n];
}
