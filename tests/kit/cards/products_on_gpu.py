"""Products of random matrices on a card: what mma and wmma compute, bit by bit.

    python -m tests.kit.cards.products_on_gpu FILE.npz
    python -m tests.kit.cards.products_on_gpu FILE.npz --compare FILE.json

The first needs NumPy, CuPy and a card. It writes what the card leaves in D for the matrices of
`drawn`, for each form of mma and of wmma. The second compares it with the model. It writes how many
numbers are equal, and the card's numbers for the first matrices of each kind, in hexadecimal.
"""

from __future__ import annotations

import argparse
import datetime
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.kit.generators.fragments import (
    FORMS,
    NUMBERS,
    WMMA_FORMS,
    fragments,
    kernel_text,
    matrices_of,
    parts_of,
    registers,
    wmma_text,
)

KINDS = ("near", "wide", "cancelling", "bits", "special")
"""The kinds of random numbers, of which each form gets as many matrices."""
EACH = 100
EXPONENTS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23), "f64": (11, 52)}
"""The bits of the exponent and of the fraction of a number in a register."""
MACHINE = mm.HMM(1, 32, 50, 5, bank_bytes=4)
ORDERS = (("row", "col", "row"), ("col", "row", "col"))


def encoded(numbers: Any, type_: str) -> Any:
    """The numbers of a type nearest to floats; those of bf16 and tf32 are cut off."""
    if type_ == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    with np.errstate(over="ignore"):
        return numbers.astype(NUMBERS[type_])


def numbers(draw: Any, kind: str, type_: str, *shape: int) -> Any:
    """Random numbers of a type."""
    if type_ not in EXPONENTS:
        limits = np.iinfo(NUMBERS[type_])
        if type_ == "s32" and kind == "near":
            return draw.randint(-1000, 1000, shape).astype(np.int32)
        return draw.randint(limits.min, limits.max + 1, shape, np.int64).astype(NUMBERS[type_])
    exponent, fraction = EXPONENTS[type_]
    words = np.dtype(f"u{(1 + exponent + fraction) // 8}")
    if kind == "bits":
        largest = (1 << exponent) - 1
        powers = draw.randint(0, largest, shape).astype(words)
        if exponent > 8:
            powers = powers // words.type(4) + words.type(3 * largest // 8)  # products are finite
        found = draw.randint(0, 1 << fraction, shape).astype(words)
        found |= powers << words.type(fraction)
        found |= draw.randint(0, 2, shape).astype(words) << words.type(exponent + fraction)
        return found.view(NUMBERS[type_])
    found = draw.uniform(-1, 1, shape)
    if kind == "wide":
        most = {"f16": 7}.get(type_, 18)
        found = found * 2.0 ** draw.randint(-most, most + 1, shape)
    found = encoded(found, type_)
    if kind == "special":
        bits = found.view(words)
        odd = draw.random_sample(shape) < 0.03
        tops = ((1 << exponent) - 1) << fraction
        values = [0, 1, 1 << fraction - 1, tops - 1, tops, tops, tops + 1]
        chosen = np.array(values, words)[draw.randint(0, len(values), shape)]
        sign = draw.randint(0, 2, shape).astype(words) << words.type(exponent + fraction)
        bits[...] = np.where(odd, chosen | sign, bits)
    return found


def cancelling(draw: Any, matrices: tuple[Any, ...], types: tuple[str, ...]) -> None:
    """Make many products cancel: neighbours along k have other signs and nearly equal sizes."""
    a, b, _ = matrices
    for matrix, type_ in ((a, types[1]), (b.swapaxes(-1, -2), types[2])):
        exponent, fraction = EXPONENTS[type_]
        bits = matrix.view(f"u{(1 + exponent + fraction) // 8}")
        other = draw.randint(0, 4, bits[..., 1::2].shape).astype(bits.dtype)
        bits[..., 1::2] = bits[..., 0::2] ^ other
    bits = a.view(f"u{a.itemsize}")
    bits[..., 1::2] ^= bits.dtype.type(1 << 8 * a.itemsize - 1)


def drawn(shape: tuple[int, ...], types: tuple[str, ...], seed: int) -> tuple[Any, Any, Any]:
    """The matrices A, B and C of a form: as many of each kind, always the same ones."""
    m, n, k = shape
    draw = np.random.RandomState(seed)
    found: list[tuple[Any, ...]] = []
    for kind in KINDS:
        own = "wide" if kind == "cancelling" else kind
        sizes = ((m, k), (k, n), (m, n))
        three = tuple(
            numbers(draw, own, type_, EACH, *size)
            for type_, size in zip(types[1:], sizes, strict=True)
        )
        if kind == "cancelling" and types[1] in EXPONENTS:
            cancelling(draw, three, types)
        found.append(three)
    a, b, c = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return a, b, c


def forms() -> Iterator[tuple[str, tuple[int, ...], tuple[str, ...], tuple[Any, Any, Any]]]:
    """The names of the forms, their shapes, the types of D, A, B and C, and their matrices."""
    for seed, form in enumerate(FORMS):
        shape, types = parts_of(form)
        yield form, shape, types, drawn(shape, types, seed)
    for number, form in enumerate(WMMA_FORMS):
        name, type_, sum_ = form.split()
        shape = tuple(map(int, name[1:].replace("n", " ").replace("k", " ").split()))
        types = sum_, type_, type_, sum_
        yield form, shape, types, drawn(shape, types, 100 + number)


def launch(form: str, number: int, matrices: Any, types: Any, shape: Any) -> tuple[str, list[Any]]:
    """The PTX of a form, and what it reads; `number` chooses how matrices lie in memory."""
    if form in FORMS:
        parts = zip(matrices, "abc", types[1:], strict=True)
        given = [fragments(matrix, which, shape, type_) for matrix, which, type_ in parts]
        return kernel_text("mma.sync.aligned." + form, registers(form)), given
    orders = ORDERS[number % 2]
    given = [
        np.ascontiguousarray(matrix if order == "row" else matrix.swapaxes(-1, -2))
        for matrix, order in zip(matrices, orders, strict=True)
    ]
    return wmma_text(form, orders), given


def result(form: str, number: int, out: Any, types: Any, shape: Any) -> Any:
    """D, from what a kernel writes."""
    if form in FORMS:
        return matrices_of(out, shape, types[0])
    return np.ascontiguousarray(out if ORDERS[number % 2][2] == "row" else out.swapaxes(-1, -2))


def compute(file: Path) -> None:
    """Multiply on the card, and write the file."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    found = {
        "device": np.array(properties["name"].decode()),
        "driver": np.array(cupy.cuda.runtime.driverGetVersion()),
        "date": np.array(str(datetime.date.today())),
    }
    for number, (form, shape, types, matrices) in enumerate(forms()):
        text, given = launch(form, number, matrices, types, shape)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as written:
            written.write(text)
            written.flush()
            kernel = cupy.RawModule(path=written.name).get_function("multiply")
        out = cupy.asarray(np.full_like(given[-1], 77))
        arrays = [cupy.asarray(one) for one in given]
        order = [out, *arrays] if form in FORMS else [*arrays, out]
        kernel((len(given[0]),), (32,), tuple(order))
        cupy.cuda.runtime.deviceSynchronize()
        found[form] = result(form, number, cupy.asnumpy(out), types, shape)
    np.savez_compressed(file, **found)


def of_model(number: int, form: str, shape: Any, types: Any, matrices: Any) -> Any:
    """D in the model."""
    text, given = launch(form, number, matrices, types, shape)
    program = PtxProgram(read(text), "multiply", ptx=text)
    out = np.zeros_like(given[-1])
    args = [out, *given] if form in FORMS else [*given, out]
    special = program.specialized(args)
    run = MACHINE.run(special.program, *special.args, grid=len(given[0]), block=32)
    left = [*run.arrays.values()][0 if form in FORMS else -1]
    return result(form, number, left.reshape(out.shape), types, shape)


def equal(one: Any, other: Any) -> Any:
    """Return for each number whether all bits are equal; any two NaNs count as equal."""
    words = f"u{one.dtype.itemsize}"
    return (one.view(words) == other.view(words)) | ((one != one) & (other != other))


def compare(file: Path, record: Path) -> None:
    """Compare with the model, and write the record."""
    card = np.load(file)
    found = {}
    for number, (form, shape, types, matrices) in enumerate(forms()):
        own = np.ascontiguousarray(card[form])
        same = equal(own, of_model(number, form, shape, types, matrices))
        found[form] = {
            "numbers": int(same.size),
            "equal": int(same.sum()),
            "card": [one.byteswap().tobytes().hex() for one in own[::EACH]],
        }
        print(form, found[form]["equal"], "of", found[form]["numbers"])
    driver = int(card["driver"])
    kept = {
        "device": str(card["device"]),
        "driver": f"CUDA {driver // 1000}.{driver % 1000 // 10}",
        "date": str(card["date"]),
        "command": "python -m tests.kit.cards.products_on_gpu FILE.npz, and --compare FILE.json",
        "forms": found,
    }
    record.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def main() -> None:
    """Multiply on the card, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.npz")
    parser.add_argument("--compare", type=Path, metavar="FILE.json")
    asked = parser.parse_args()
    if asked.compare:
        compare(asked.file, asked.compare)
    else:
        compute(asked.file)


if __name__ == "__main__":
    main()
