"""Atomics in CUDA C: the CUDA function for each, and the type of its word."""

from __future__ import annotations

from mmsim.cuda_c.text import C_TYPES, Text
from mmsim.errors import LaunchError
from mmsim.ir.nodes import AtomicOp

NAMES: dict[AtomicOp, str] = {
    "add": "atomicAdd",
    "sub": "atomicSub",
    "max": "atomicMax",
    "min": "atomicMin",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
    "exch": "atomicExch",
    "cas": "atomicCAS",
    "inc": "atomicInc",
    "dec": "atomicDec",
}
BITS = {
    "float32": ("int", "__float_as_int", "__int_as_float"),
    "float64": ("unsigned long long", "__double_as_longlong", "__longlong_as_double"),
}
"""For a float without a CUDA function: a type of integers, and the conversions to and fro."""


def call(op: AtomicOp, held: str, word: str, value: Text, compare: Text | None, used: bool) -> str:
    """The call for a word of an array with such elements.

    If it is `used`, it gives the old word, of the array's type.

    >>> call("add", "int64", "h[3]", Text("1", 16), None, used=True)
    '(long long)atomicAdd((unsigned long long *)&h[3], 1)'
    >>> call("imag", "complex64", "z[i]", Text("v", 16), None, used=False)
    'z[i].imag = complex<float>(v).imag'
    >>> call("cas", "float32", "x[i]", Text("v", 16), Text("old", 16), used=True)
    '__int_as_float(atomicCAS((int *)&x[i], __float_as_int(old), __float_as_int(v)))'
    """
    if op in ("real", "imag"):  # a part is a word of its own
        return f"{word}.{op} = {C_TYPES[held]}({value.code}).{op}"
    if op not in NAMES or (op in ("inc", "dec") and held != "uint32"):
        raise LaunchError(f"CUDA C has no atomic {op} of {held}; Numba writes a loop for it")
    own, name = C_TYPES[held], NAMES[op]
    if held.startswith("complex"):
        return f"complex_atomic_add(({own} *)&{word}, {own}({value.code}))"
    given = [value.code] if compare is None else [compare.code, value.code]
    if (op == "cas" and held in BITS) or (op == "exch" and held == "float64"):
        type_, to, fro = BITS[held]
        words = ", ".join(f"{to}({one})" for one in given)
        text = f"{name}(({type_} *)&{word}, {words})"
        return f"{fro}({text})" if used else text
    type_ = own
    if held == "int64" and op not in ("min", "max"):
        type_ = "unsigned long long"
    if op == "sub" and held in ("int64", "uint64"):
        name, given = NAMES["add"], [f"0ULL - {value.within(13)}"]
    text = f"{name}(({type_} *)&{word}, {', '.join(given)})"
    return text if type_ == own or not used else f"({own}){text}"
