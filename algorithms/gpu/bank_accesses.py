"""Accesses to shared memory as instructions of a card: their list, and kernels of them.

One kernel makes several requests. Request number i is made `Access.base` to the power of i times.
So the profiler's one count of a launch holds the counts of all requests as digits.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        tables = {"index": index.ravel(), "out": np.zeros(WARP, np.int32)}
        arguments = tuple(
            Argument(given, "array", table.dtype, table.size, table=table)
            for given, table in tables.items()
        )
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


REGISTERS = {
    **dict.fromkeys("awxyz", "r"),
    **dict.fromkeys("hijk", "h"),
    **dict.fromkeys("lm", "l"),
}
"""The constraint of each register in inline assembly."""


def _access(
    name: str, size: int, text: str, outputs: str, inputs: str, lanes: int = WARP
) -> Access:
    """An access by an instruction with such registers; the first may be read and written."""
    first = name.split()[0]
    kind = "cas" if ".cas." in text else {"load": "read", "store": "write"}.get(first, first)
    sign = "+" if text.count("%0") > 1 else "="
    written = ", ".join(f'"{sign}{REGISTERS[one]}"({one})' for one in outputs)
    read = ", ".join(f'"{REGISTERS[one]}"({one})' for one in inputs)
    asm = f'asm volatile("{text};" : {written} : {read} : "memory");'
    return Access(name, kind, size, asm, lanes)


def _matrices() -> Iterator[Access]:
    for count in (1, 2, 4):
        names = ", ".join(f"%{number}" for number in range(count))
        words = "wxyz"[:count]
        load = f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{names}}}, [%{count}]"
        store = f"stmatrix.sync.aligned.m8n8.x{count}.shared.b16 [%{count}], {{{names}}}"
        yield _access(f"ldmatrix .x{count}", 16, load, words, "a", 8 * count)
        yield _access(f"stmatrix .x{count}", 16, store, "", f"{words}a", 8 * count)


_ONE_ADDRESS_A_LANE = (
    ("load of 1 byte", 1, "ld.shared.u8 %0, [%1]", "w", "a"),
    ("load of 2 bytes", 2, "ld.shared.u16 %0, [%1]", "h", "a"),
    ("load of 4 bytes", 4, "ld.shared.u32 %0, [%1]", "w", "a"),
    ("load of 8 bytes", 8, "ld.shared.u64 %0, [%1]", "l", "a"),
    ("load of 16 bytes", 16, "ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]", "wxyz", "a"),
    ("load of 2 times 4 bytes", 8, "ld.shared.v2.u32 {%0, %1}, [%2]", "wx", "a"),
    ("load of 2 times 8 bytes", 16, "ld.shared.v2.u64 {%0, %1}, [%2]", "lm", "a"),
    ("load of 4 times 2 bytes", 8, "ld.shared.v4.u16 {%0, %1, %2, %3}, [%4]", "hijk", "a"),
    ("store of 1 byte", 1, "st.shared.u8 [%0], %1", "", "aw"),
    ("store of 2 bytes", 2, "st.shared.u16 [%0], %1", "", "ah"),
    ("store of 4 bytes", 4, "st.shared.u32 [%0], %1", "", "aw"),
    ("store of 8 bytes", 8, "st.shared.u64 [%0], %1", "", "al"),
    ("store of 16 bytes", 16, "st.shared.v4.u32 [%0], {%1, %2, %3, %4}", "", "awxyz"),
    ("store of 2 times 4 bytes", 8, "st.shared.v2.u32 [%0], {%1, %2}", "", "awx"),
    ("atomic add of 4 bytes", 4, "atom.shared.add.u32 %0, [%1], %2", "w", "ax"),
    ("atomic add of 4 bytes, old value unused", 4, "red.shared.add.u32 [%0], %1", "", "aw"),
    ("atomic exchange of 4 bytes", 4, "atom.shared.exch.b32 %0, [%1], %2", "w", "ax"),
    ("atomic compare and swap of 4 bytes", 4, "atom.shared.cas.b32 %0, [%1], %2, %3", "w", "axy"),
    ("atomic exchange of 8 bytes", 8, "atom.shared.exch.b64 %0, [%1], %0", "l", "a"),
    ("atomic compare and swap of 8 bytes", 8, "atom.shared.cas.b64 %0, [%1], %0, %0", "l", "a"),
)
"""The name and the bytes of an access, its assembly, the registers it sets, those it reads."""

ACCESSES = (*(_access(*row) for row in _ONE_ADDRESS_A_LANE), *_matrices())
"""Every kind of access that is counted."""
