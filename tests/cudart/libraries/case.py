"""A kernel that uses a device library, and what it computes; modules of such kernels."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import mmsim as mm

PRELUDE = """
#define STORE(x) for (int i = 0; i < I; i++) out[first + i] = x[i]
"""


@dataclass
class Case:
    """A kernel: its body reads `v`, the `I` items of its thread of `T`, and writes `out`.

    `expected` gives the contents of `out` for those of `in`, whose values are less than `most`.
    `checked` is False where the checker finds what the library does.
    """

    name: str
    body: str
    expected: Callable
    threads: int = 64
    items: int = 1
    blocks: int = 2
    most: int = 1000
    type: str = "int"
    out: str = ""
    shared: int = 0
    checked: bool = True

    @property
    def text(self):
        return f"""
namespace of_{self.name} {{
constexpr int T = {self.threads}, I = {self.items};
using V = {self.type};
extern "C" __global__ void {self.name}(const V* in, {self.out or self.type}* out)
{{
    V v[I];
    const int t = threadIdx.x, b = blockIdx.x, first = (b * T + t) * I;
    for (int i = 0; i < I; i++) v[i] = in[first + i];
{self.body}
}}
}}
"""

    def arrays(self):
        """The array before, and the one that is expected."""
        rng = np.random.default_rng(1)
        count = self.threads * self.items * self.blocks
        before = rng.integers(0, self.most, count).astype(TYPES[self.type])
        tile = self.threads * self.items
        parts = [np.asarray(self.expected(part)) for part in before.reshape(-1, tile)]
        return before, np.concatenate(parts).astype(TYPES[self.out or self.type])


TYPES = {
    "int": np.int32,
    "unsigned": np.uint32,
    "unsigned char": np.uint8,
    "float": np.float32,
    "double": np.float64,
}


@dataclass
class Module:
    """Kernels that are compiled together."""

    headers: tuple[str, ...]
    cases: list[Case] = field(default_factory=list)
    more: str = ""

    @cached_property
    def module(self):
        includes = "".join(f"#include <{header}>\n" for header in self.headers)
        texts = "".join(case.text for case in self.cases)
        return mm.RawModule(code=includes + PRELUDE + self.more + texts)

    def kernel(self, name):
        return self.module.get_function(name)
