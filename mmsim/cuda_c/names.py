"""Names that C++ allows, as close to the program's as can be."""

from __future__ import annotations

from collections.abc import Iterable

from mmsim.cuda_c.helpers import HELPERS
from mmsim.cuda_c.vectors import VECTOR_TYPES
from mmsim.ir.functions import FUNCTIONS

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
_KNOWN = """
T threadIdx blockIdx blockDim gridDim warpSize clock64 pow fabs fmod floor copysign repeat cycles
memory NULL EOF assert errno stdin stdout stderr linux unix
"""
_FUNCTIONS = """
abort abs access acos asin atan atexit atof beta bcopy bsearch bzero calloc cbrt ceil clock copy
copysign cos cosh ctime div dprintf drem dup equal erf erfc exchange exit exp exp2 expint fabs
fclose fdim ffs fill finite first floor fma fmax fmin fmod fopen free frexp gamma gcvt get getc
getenv getw gmtime hypot index infinity isalpha isinf isnan j0 j1 jn labs ldexp ldiv lgamma log log2
logb lrand48 lrint lround main malloc max memcpy memmove memset min modf move nan next norm on_exit
pair pow printf prev putc puts qsort raise rand random read realloc remainder remove rename rewind
rindex rint round scanf select setbuf signal signbit significand sin sincos sinh size sleep sqrt
srand swab swap sync system tan tanh tgamma time tmpfile tmpnam trunc wait write y0 y1 yn
"""

_CALLED = [one.c for one in FUNCTIONS.values() if one.takes != "complex"]
_MATHEMATICAL = {name for called in _CALLED for name in (called, f"{called}f")}
_VECTORS = {f"{name}{length}" for name in VECTOR_TYPES.values() for length in (2, 4)}
_MADE = {f"make_{name}" for name in _VECTORS}
RESERVED = frozenset((_KEYWORDS + _KNOWN).split()) | {*HELPERS, *_MATHEMATICAL, *_VECTORS, *_MADE}
"""Names that a variable or an array can't have."""

TAKEN = RESERVED | set(_FUNCTIONS.split())
"""Names that a kernel can't have: headers that nvcc includes have functions of that name."""


def identifier(name: str, refused: frozenset[str] = RESERVED) -> str:
    """A name in ASCII, with `_` behind it if C++ or the text itself has it already."""
    plain = "".join(letter if is_plain(letter) else f"u{ord(letter):x}" for letter in name)
    while "__" in plain:
        plain = plain.replace("__", "_")
    if plain.startswith("_"):
        plain = f"p{plain}"
    return f"{plain}_" if plain in refused else plain


def is_plain(letter: str) -> bool:
    """Return whether a name of C++ may contain a letter; a function's name may be any text."""
    return letter.isascii() and (letter.isalnum() or letter == "_")


class Names:
    """The C++ name of every name of a program, no two the same.

    The functions of an array `a` are called `at_a` and so on; variables get other names.
    """

    def __init__(self, arrays: Iterable[str], others: Iterable[str]) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        for array in arrays:
            own = self.of(array)
            self._taken |= {f"{prefix}_{own}" for prefix in ("at", "shift", "offsets", "from")}
        for other in others:
            self.of(other)

    def of(self, name: str) -> str:
        """The C++ name of a variable, a number or an array."""
        if name not in self._given:
            self._given[name] = self.fresh(identifier(name))
        return self._given[name]

    def fresh(self, wanted: str) -> str:
        """A unique name, `wanted` if possible."""
        candidate, number = wanted, 1
        while candidate in self._taken:
            number += 1
            candidate = f"{wanted}_{number}"
        self._taken.add(candidate)
        return candidate
