"""Matrices of small whole numbers, in the words of each type."""

import numpy as np

RANDOM = np.random.RandomState(2)


def small(*shape):
    """Small whole numbers, whose sums of products every type of floats holds exactly."""
    return RANDOM.randint(-4, 5, shape)


def bits_of(numbers, type_):
    """Numbers as the words of memory that hold them."""
    if type_ == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    names = {"f16": "f2", "tf32": "f4", "f32": "f4", "f64": "f8", "s8": "i1", "u8": "u1"}
    return numbers.astype(names.get(type_, "i4"))
