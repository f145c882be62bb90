"""`cuda.reduce`: from a function of two values, one that reduces an array with it.

The kernels are Numba's: blocks of four warps, which reduce in shared memory.
"""

from __future__ import annotations
