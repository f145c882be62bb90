"""Accesses to shared memory as instructions of a card: their list, and kernels of them.

One kernel makes several requests. Request number i is made `Access.base` to the power of i times.
So the profiler's one count of a launch holds the counts of all requests as digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mmsim.cuda_c.kernels import WARP, Argument, Kernel
from mmsim.model.byte_banks import ByteBanks
from mmsim.model.conflicts import Conflict

SHARED_BYTES = 16384
BLOCKS = 64
"""The blocks of a launch among which the repetitions are shared."""
COUNTED = 2**24
"""The most repetitions of a request in a launch."""
Index = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Access:
    """One instruction for shared memory: `kind` as a rule knows it, of `size` bytes a lane.

    `text` is its assembly, with the address in a and with registers w, x, y, z (of 4 bytes), h,
    i, j, k (of 2), l and m (of 8). Only the first `lanes` lanes give addresses.
    """

    name: str
    kind: str
    size: int
    text: str
    lanes: int = WARP

    @property
    def elements(self) -> int:
        """The elements of its size in shared memory."""
        return SHARED_BYTES // self.size

    @property
    def whole(self) -> bool:
        """Return whether all lanes of a warp have to take part."""
        return "matrix" in self.text

    @property
    def rule(self) -> Conflict:
        """The rule that should predict its stages."""
        return ByteBanks(WARP).of_access(self.size, self.kind)

    @property
    def base(self) -> int:
        """A number above the stages of any request."""
        return 128 if self.kind in ("atomic", "cas") else 64

    @cached_property
    def packed(self) -> int:
        """The number of requests that one launch counts."""
        return int(np.log2(COUNTED)) // int(np.log2(self.base)) + 1

    def stages(self, index: Index) -> int:
        """The stages of a request by the rule; lanes with a negative index have none."""
        lanes = np.flatnonzero(index[: self.lanes] >= 0)
        if lanes.size == 0:
            return 0
        return self.rule.stages(index[lanes].tolist(), lanes)

    def kernel(self, name: str, requests: list[Index]) -> Kernel:
        """The kernel for at most `packed` requests."""
        index = np.full((self.packed, WARP), -1, np.int32)
        for number, request in enumerate(requests):
            index[number] = request
        arguments = (_table("index", index.ravel()), _table("out", np.zeros(WARP, np.int32)))
        source = self.source(name)
        return Kernel(source, name, "global", arguments, (BLOCKS, 1, 1), (WARP, 1, 1), 0)

    def source(self, name: str) -> str:
        """Its CUDA C."""
        condition = "true" if self.whole else "at >= 0"
        times = ", ".join(str(self.base**digit) for digit in range(self.packed))
        return f"""extern "C" __global__ void {name}(const int *index, int *out)
{{
    __shared__ __align__(1024) unsigned char memory[{SHARED_BYTES}];
    const int times[] = {{{times}}};
    unsigned int base = (unsigned int)__cvta_generic_to_shared(memory);
    unsigned int w = threadIdx.x, x = 2, y = 3, z = 4;
    unsigned long long l = w, m = 0;
    unsigned short h = w, i = 0, j = 0, k = 0;
    int sum = 0, nothing = out[threadIdx.x];
    for (int request = 0; request < {self.packed}; request++) {{
        int at = index[request * {WARP} + threadIdx.x];
        bool none = __all_sync(~0u, at < 0);
        unsigned int a = base + (at < 0 ? 0 : at) * {self.size};
        int all = none ? 0 : times[request];
        int own = all / {BLOCKS} + (blockIdx.x < all % {BLOCKS});
        if ({condition})
            #pragma unroll 1
            for (int time = 0; time < own; time++) {{
                {self.text}
                sum += w + x + y + z + l + (l >> 32) + m + (m >> 32) + h + i + j + k;
                a += nothing;  // the assembler can't know that it makes the same request again
            }}
    }}
    out[threadIdx.x] = sum;
}}
"""


def _table(name: str, table: Index) -> Argument:
    return Argument(name, "array", table.dtype, table.size, table=table)


def _asm(text: str, *operands: str) -> str:
    outputs = ", ".join(one for one in operands if one.startswith(('"=', '"+')))
    inputs = ", ".join(one for one in operands if not one.startswith(('"=', '"+')))
    return f'asm volatile("{text};" : {outputs} : {inputs} : "memory");'


def _loads() -> list[Access]:
    one = '"=r"(w)'
    several = ('"=r"(w)', '"=r"(x)', '"=r"(y)', '"=r"(z)', '"r"(a)')
    texts = {
        ("load of 1 byte", 1): _asm("ld.shared.u8 %0, [%1]", one, '"r"(a)'),
        ("load of 2 bytes", 2): _asm("ld.shared.u16 %0, [%1]", '"=h"(h)', '"r"(a)'),
        ("load of 4 bytes", 4): _asm("ld.shared.u32 %0, [%1]", one, '"r"(a)'),
        ("load of 8 bytes", 8): _asm("ld.shared.u64 %0, [%1]", '"=l"(l)', '"r"(a)'),
        ("load of 16 bytes", 16): _asm("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]", *several),
        ("load of 2 times 4 bytes", 8): _asm(
            "ld.shared.v2.u32 {%0, %1}, [%2]", '"=r"(w)', '"=r"(x)', '"r"(a)'
        ),
        ("load of 2 times 8 bytes", 16): _asm(
            "ld.shared.v2.u64 {%0, %1}, [%2]", '"=l"(l)', '"=l"(m)', '"r"(a)'
        ),
        ("load of 4 times 2 bytes", 8): _asm(
            "ld.shared.v4.u16 {%0, %1, %2, %3}, [%4]",
            *('"=h"(h)', '"=h"(i)', '"=h"(j)', '"=h"(k)', '"r"(a)'),
        ),
    }
    return [Access(name, "read", size, text) for (name, size), text in texts.items()]


def _stores() -> list[Access]:
    several = ('"r"(a)', '"r"(w)', '"r"(x)', '"r"(y)', '"r"(z)')
    texts = {
        ("store of 1 byte", 1): _asm("st.shared.u8 [%0], %1", '"r"(a)', '"r"(w)'),
        ("store of 2 bytes", 2): _asm("st.shared.u16 [%0], %1", '"r"(a)', '"h"(h)'),
        ("store of 4 bytes", 4): _asm("st.shared.u32 [%0], %1", '"r"(a)', '"r"(w)'),
        ("store of 8 bytes", 8): _asm("st.shared.u64 [%0], %1", '"r"(a)', '"l"(l)'),
        ("store of 16 bytes", 16): _asm("st.shared.v4.u32 [%0], {%1, %2, %3, %4}", *several),
        ("store of 2 times 4 bytes", 8): _asm(
            "st.shared.v2.u32 [%0], {%1, %2}", '"r"(a)', '"r"(w)', '"r"(x)'
        ),
    }
    return [Access(name, "write", size, text) for (name, size), text in texts.items()]


def _atomics() -> list[Access]:
    texts = {
        ("atomic add of 4 bytes", 4): _asm(
            "atom.shared.add.u32 %0, [%1], %2", '"=r"(w)', '"r"(a)', '"r"(x)'
        ),
        ("atomic add of 4 bytes, old value unused", 4): _asm(
            "red.shared.add.u32 [%0], %1", '"r"(a)', '"r"(w)'
        ),
        ("atomic exchange of 4 bytes", 4): _asm(
            "atom.shared.exch.b32 %0, [%1], %2", '"=r"(w)', '"r"(a)', '"r"(x)'
        ),
        ("atomic compare and swap of 4 bytes", 4): _asm(
            "atom.shared.cas.b32 %0, [%1], %2, %3", '"=r"(w)', '"r"(a)', '"r"(x)', '"r"(y)'
        ),
        ("atomic exchange of 8 bytes", 8): _asm(
            "atom.shared.exch.b64 %0, [%1], %0", '"+l"(l)', '"r"(a)'
        ),
        ("atomic compare and swap of 8 bytes", 8): _asm(
            "atom.shared.cas.b64 %0, [%1], %0, %0", '"+l"(l)', '"r"(a)'
        ),
    }
    return [
        Access(name, "cas" if "cas" in text else "atomic", size, text)
        for (name, size), text in texts.items()
    ]


def _matrices() -> list[Access]:
    found = []
    for count in (1, 2, 4):
        names = ", ".join(f"%{number}" for number in range(count))
        loaded = [f'"=r"({name})' for name in "wxyz"[:count]]
        stored = [f'"r"({name})' for name in "wxyz"[:count]]
        load = f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{names}}}, [%{count}]"
        store = f"stmatrix.sync.aligned.m8n8.x{count}.shared.b16 [%{count}], {{{names}}}"
        rows = 8 * count
        text = _asm(load, *loaded, '"r"(a)')
        found.append(Access(f"ldmatrix .x{count}", "ldmatrix", 16, text, rows))
        text = _asm(store, *stored, '"r"(a)')
        found.append(Access(f"stmatrix .x{count}", "stmatrix", 16, text, rows))
    return found


ACCESSES = (*_loads(), *_stores(), *_atomics(), *_matrices())
"""Every kind of access that is counted."""
