"""Complex numbers in C: their type, which NVRTC lacks, and its operations.

The meaning is that of `mmsim.ir.functions`. In memory they are volatile, as all words are.
"""

from __future__ import annotations

SHUFFLE = """
// A complex number of another lane: CUDA shuffles real numbers only.
template <class Part>
__device__ complex<Part> complex_NAME(unsigned int mask, complex<Part> x, int other)
{
    Part real = __NAME(mask, x.real, other);
    return complex<Part>(real, __NAME(mask, x.imag, other));
}
"""
COMPLEX_HELPERS: dict[str, str] = {
    "complex": """
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
""",
    "complex_abs": """
// The distance of a complex number from 0.
template <class Part> __device__ Part complex_abs(complex<Part> x)
{
    return hypot(x.real, x.imag);
}
""",
    "complex_conjugate": """
// The complex number with the same real part and the negative imaginary one.
template <class Part> __device__ complex<Part> complex_conjugate(complex<Part> x)
{
    return complex<Part>(x.real, -x.imag);
}
""",
    **{
        f"complex_{name}": SHUFFLE.replace("NAME", name)
        for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
    },
}
