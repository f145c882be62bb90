"""Stand-ins for the C headers that kernels often include, which NVRTC lacks.

NVRTC itself has `printf`, `assert`, `size_t` and CUDA's mathematical functions.
"""

INTEGERS = """#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
"""
IN_STD = """#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
}
"""
LIMITS = """#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL
"""
FLOATS = """#pragma once
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
"""
MATHEMATICS = """#pragma once
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
"""

STAND_INS = {
    "stdint.h": INTEGERS,
    "cstdint": IN_STD,
    "limits.h": LIMITS,
    "climits": LIMITS,
    "float.h": FLOATS,
    "cfloat": FLOATS,
    "math.h": MATHEMATICS,
    "cmath": MATHEMATICS,
    **dict.fromkeys(("assert.h", "cassert", "stddef.h", "cstddef", "stdio.h", "cstdio"), ""),
    **dict.fromkeys(("stdlib.h", "cstdlib", "string.h", "cstring"), ""),
}
"""The text of each header by its name."""
