"""`malloc` and `free` in kernels: functions in PTX, and the heap as a variable of the module.

An allocation lies behind the one before, in the order in which the atomics of `malloc` take effect,
and begins at a multiple of 16 bytes. `malloc` gives 0 for 0 bytes, and where the heap has no room
left. 16 bytes in front of an allocation hold its size and whether it is freed, and the lines that
allocated and freed it. To free memory twice, or memory that `malloc` didn't give, is an error. The
heap begins anew when all of it is free.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import replace
from functools import cache
from typing import cast

from mmsim.frontend.ptx.module import Function, Immediate, Instruction, Module, Where

HEAP, STATE = "device_heap", "device_heap_state"
"""The variables of the heap: its bytes; where the free ones begin, and how many are allocated."""
HEAP_BYTES = 8 << 20
"""The bytes of the heap, unless the host sets the limit cudaLimitMallocHeapSize."""
FUNCTIONS = ("malloc", "free")
TEXT = """
.version 8.0
.target sm_90
.address_size 64

.global .align 8 .u64 device_heap_state;
.global .align 16 .b8 device_heap[{bytes}];

.func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0)
{{
    .reg .pred %p<3>;
    .reg .b64 %rd<14>;
    ld.param.u64 %rd1, [malloc_param_0];
    mov.u64 %rd9, 0;
    sub.s64 %rd2, %rd1, 1; // of 0 bytes, the largest number
    setp.ge.u64 %p1, %rd2, {bytes};
    @%p1 bra $L_end;
    add.s64 %rd3, %rd1, 31;
    and.b64 %rd3, %rd3, -16;
    shl.b64 %rd4, %rd3, 24;
    add.s64 %rd4, %rd4, 1;
    atom.global.add.u64 %rd5, [device_heap_state], %rd4;
    shr.u64 %rd6, %rd5, 24;
    add.s64 %rd7, %rd6, %rd3;
    setp.gt.u64 %p2, %rd7, {bytes};
    @%p2 bra $L_full;
    mov.u64 %rd8, device_heap;
    add.s64 %rd8, %rd8, %rd6;
    mov.line.u64 %rd12, 0;
    shl.b64 %rd12, %rd12, {size_bits};
    or.b64 %rd12, %rd12, %rd1;
    st.global.allocates.u64 [%rd8], %rd12;
    st.global.other.u64 [%rd8+8], {live};
    cvta.global.u64 %rd8, %rd8;
    add.s64 %rd9, %rd8, 16;
    bra $L_end;
$L_full:
    neg.s64 %rd10, %rd4;
    atom.global.add.u64 %rd11, [device_heap_state], %rd10;
$L_end:
    st.param.b64 [func_retval0+0], %rd9;
    ret;
}}

.func free(.param .b64 free_param_0)
{{
    .reg .pred %p<5>;
    .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [free_param_0];
    setp.eq.s64 %p1, %rd1, 0;
    @%p1 bra $L_end;
    ld.other.u64 %rd2, [%rd1+-8];
    setp.eq.s64 %p2, %rd2, {live};
    @%p2 bra $L_live;
    and.b64 %rd7, %rd2, {half};
    setp.eq.s64 %p4, %rd7, {freed};
    @%p4 bra $L_freed;
    trap.free;
$L_freed:
    shr.u64 %rd8, %rd2, 32;
    trap.freed %rd8;
$L_live:
    mov.line.u64 %rd9, 0;
    shl.b64 %rd9, %rd9, 32;
    or.b64 %rd9, %rd9, {freed};
    st.frees.u64 [%rd1+-8], %rd9;
    atom.global.add.u64 %rd3, [device_heap_state], -1;
    and.b64 %rd4, %rd3, 16777215;
    setp.ne.s64 %p3, %rd4, 1;
    @%p3 bra $L_end;
    sub.s64 %rd5, %rd3, 1;
    atom.global.cas.b64 %rd6, [device_heap_state], %rd5, 0;
$L_end:
    ret;
}}
"""
LIVE, FREED = 0x6C6C6F6361746564, 0x65657266
"""The word in front of an allocation, and the lower half of it after it is freed.

The upper half is then the line that freed it.
"""
HALF = (1 << 32) - 1
SIZE_BITS = 40
"""The bits of the size in the word in front of this one; the line of `malloc` is above them."""
HEADER = 16
"""The bytes in front of an allocation."""


def with_heap(module: Module, size: int = HEAP_BYTES) -> Module:
    """The module, with a heap of `size` bytes if it calls `malloc` or `free`."""
    own = _heap(size)
    called = {name: own.functions[name] for name in FUNCTIONS if _is_declared(module, name)}
    if not called:
        return module
    functions = ChainMap(called, cast(dict[str, Function], module.functions))
    return replace(module, functions=functions, variables={**module.variables, **own.variables})


def is_of_heap(function: Function) -> bool:
    """Return whether a function is one of these."""
    return function.name in FUNCTIONS and function.where == _heap().functions[function.name].where


def called(one: Instruction, where: Where, line: int) -> Instruction:
    """An instruction of these functions as one of a line that calls them."""
    if one.name[:2] == ("mov", "line"):
        name = tuple(word for word in one.name if word != "line")
        one = replace(one, name=name, operands=(one.operands[0], Immediate(line)))
    return replace(one, where=where)


@cache
def _heap(size: int = HEAP_BYTES) -> Module:
    """The functions and variables of the heap."""
    from mmsim.frontend.ptx.text import read  # loads the parser

    return read(TEXT.format(bytes=size, live=LIVE, freed=FREED, half=HALF, size_bits=SIZE_BITS))


def _is_declared(module: Module, name: str) -> bool:
    """Return whether a module declares a function and has no body for it."""
    function = module.functions.get(name)
    return function is not None and function.body is None
