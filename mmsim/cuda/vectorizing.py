"""`cuda.vectorize` and `cuda.guvectorize`: from functions of elements to functions of arrays.

A thread computes one element of the result or, for `guvectorize`, one of the loop's sub-arrays.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.core.typing.templates import Signature
from numba.np.numpy_support import as_dtype

from mmsim.cuda.allocation import device_array, to_device
from mmsim.cuda.arguments import memory_of
from mmsim.cuda.arrays import DeviceNDArray, is_cuda_ndarray
from mmsim.cuda.dispatcher import Dispatcher, jit
from mmsim.cuda.interface import as_cuda_array, is_cuda_array
from mmsim.cuda.source_text import function_from
from mmsim.cuda.stubs import grid
from mmsim.cuda.types import Type, TypingError, as_signature, is_number, none
from mmsim.printable import counted

Dtypes = tuple[np.dtype[Any], ...]
Shape = tuple[int, ...]
POSITIONAL = "positional argument"

ELEMENTS = """\
def {name}({arguments}, out):
    i = grid(1)
    if i < out.shape[0]:
        out[i] = core({elements})
"""
SUBARRAYS = """\
def {name}({arguments}):
    i = grid(1)
    if i < {first}.shape[0]:
        core({elements})
"""


def vectorize(
    ftylist_or_function: Any = (), target: str = "cuda", identity: Any = None, **options: Any
) -> Callable[[Callable[..., Any]], Vectorized]:
    """Decorate a function of numbers; the result applies it to all elements of arrays.

    Parameters
    ----------
    ftylist_or_function
        The signatures, such as "float32(float32, float32)". Without the result's type, as
        "(float32, float32)", the result has the type of what the function returns.
    target
        "cuda".
    identity
        Accepted without effect.
    """
    _check_target(target, options)
    given = ftylist_or_function
    signatures = [given] if isinstance(given, str) else list(given)
    for option in options:
        if option != "nopython":
            raise KeyError(
                f"Unrecognized options. cuda vectorize target does not support option: '{option}'"
            )
        text = "nopython kwarg for cuda target is redundant"
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    return lambda function: Vectorized(function, [as_signature(one) for one in signatures])


def _check_target(target: str, options: dict[str, Any]) -> None:
    if target != "cuda":
        raise ValueError(f"Unsupported target: {target}")
    if options.pop("cache", False):
        raise TypeError("caching is not supported")


class Vectorized:
    """A function of the elements of arrays. Arrays of different shapes are broadcast."""

    def __init__(self, function: Callable[..., Any], signatures: list[Signature]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        core = jit(function, device=True)
        self._kernels: dict[Dtypes, tuple[np.dtype[Any], Dispatcher]] = {}
        for signature in signatures:
            names = [f"a{number}" for number in range(len(signature.args))]
            kernel = _kernel(ELEMENTS, core, names, ", ".join(f"{name}[i]" for name in names))
            given, result = _dtypes(signature.args), signature.return_type
            self._kernels[given] = (
                _result_of(core, given) if result == none else _dtypes([result])[0],
                kernel,
            )

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Return the results, in `out` or in a new array.

        The array is on the device if an argument or `out` is, else on the host.
        """
        on_device = any(is_cuda_array(arg) for arg in (*args, out))
        given = [_array(arg) for arg in args]
        types = self._types(args, given)
        result, kernel = self._kernels[types]
        shape = np.broadcast_shapes(*(array.shape for array in given))
        inputs = [
            _looped(array.astype(dtype, copy=False), shape, ())
            for array, dtype in zip(given, types, strict=True)
        ]
        made = device_array(math.prod(shape), result, stream=stream)
        kernel.forall(made.size, stream=stream)(*map(to_device, inputs), made)
        return _handed_back(made.reshape(shape), out, on_device)

    def _types(self, args: tuple[Any, ...], given: list[npt.NDArray[Any]]) -> Dtypes:
        """The kernel's argument types for arguments. The types of arrays must match exactly."""
        exact = tuple(array.dtype for array in given)
        if exact in self._kernels:
            return exact
        free = [isinstance(arg, int | float | complex | np.number) for arg in args]
        found = [
            types
            for types in self._kernels
            if len(types) == len(exact)
            and all(any_ or a == b for any_, a, b in zip(free, types, exact, strict=True))
        ]
        if not found:
            raise TypeError(
                "No matching version.  GPU ufunc requires array arguments to have the exact types. "
                " This behaves like regular ufunc with casting='no'."
            )
        if len(found) > 1:
            raise TypeError(
                "Failed to resolve ufunc due to ambiguous signature. Too many untyped scalars. "
                "Use numpy dtype object to type tag."
            )
        return found[0]

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """Reduce all elements of an array of one axis to one, by a function of two."""
        if arg.shape[0] == 0:
            raise TypeError("Reduction on an empty array.")
        part = _array(arg)
        while len(part) > 1:
            half = len(part) // 2
            done = self(part[:half], part[half : 2 * half], stream=stream)
            part = np.concatenate([done, part[2 * half :]])
        return part[0]


def guvectorize(
    *args: Any, **options: Any
) -> Callable[[Callable[..., Any]], GeneralizedVectorized]:
    """Decorate a function of sub-arrays; the result works along all other axes of arrays.

    `guvectorize(signatures, layout)`. A layout is "(m,n),(n,p)->(m,p)". A signature lists the types
    of the inputs, then those of the outputs; the function writes the outputs.
    """
    if len(args) != 2:
        raise TypeError("guvectorize() takes two positional arguments: signatures and layout")
    given, layout = args
    _check_target(options.pop("target", "cuda"), options)
    options.pop("identity", None)
    if options.pop("writable_args", ()):
        raise TypeError("writable_args are not supported")
    if not options.pop("nopython", True):
        raise TypeError("nopython flag must be True")
    if options:
        names = ", ".join(repr(name) for name in options)
        raise TypeError(f"The following target options are not supported: {names}")
    signatures = [given] if isinstance(given, str | Signature) else list(given)
    return lambda function: GeneralizedVectorized(function, signatures, layout)


class GeneralizedVectorized:
    """A function of sub-arrays that works along all other axes of arrays."""

    def __init__(self, function: Callable[..., Any], signatures: list[Any], layout: str) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._inputs, self._outputs = _layout(layout)
        self._kernels: dict[Dtypes, tuple[Dtypes, Dispatcher]] = {}
        core = jit(function, device=True)
        for one in signatures:
            signature = as_signature(one)
            if signature.return_type != none:
                raise TypeError(
                    f"guvectorized functions cannot return values: signature {one} specifies "
                    f"{signature.return_type} return type"
                )
            dtypes = _dtypes(signature.args)
            count = len(self._inputs)
            kernel = _subarrays(core, signature, [*self._inputs, *self._outputs])
            self._kernels[dtypes[:count]] = dtypes[count:], kernel

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Return the results; `out`, or arguments after the inputs, are arrays for them.

        The results are on the device if an argument is, else on the host.
        """
        count = len(self._inputs)
        outs = self._given_outputs(args, out)
        on_device = any(is_cuda_array(arg) for arg in (*args, *outs))
        inputs = [_array(arg) for arg in args[:count]]
        types = self._types(tuple(array.dtype for array in inputs))
        for arg, array, dtype in zip(args, inputs, types, strict=False):
            if is_cuda_array(arg) and array.dtype != dtype:
                raise TypeError(
                    "compatible signature is possible by casting but "
                    f"{type(arg)} does not support .astype()"
                )
        results, kernel = self._kernels[types]
        loop, sizes = self._sizes(inputs)
        times = math.prod(loop)
        shapes = [tuple(sizes[symbol] for symbol in names) for names in self._outputs]
        for shape, array in zip(shapes, outs, strict=True):
            if array is not None and _array(array).shape != loop + shape:
                raise ValueError("output shape mismatch")
        given = [
            _looped(array.astype(dtype, copy=False), loop, array.shape[array.ndim - len(names) :])
            for array, dtype, names in zip(inputs, types, self._inputs, strict=True)
        ]
        made = [
            device_array((times, *shape), dtype, stream=stream)
            for shape, dtype in zip(shapes, results, strict=True)
        ]
        kernel.forall(times, stream=stream)(*map(to_device, given), *made)
        back = [
            _handed_back(array.reshape(loop + shape), array_out, on_device)
            for array, shape, array_out in zip(made, shapes, outs, strict=True)
        ]
        return back[0] if len(back) == 1 else tuple(back)

    def _given_outputs(self, args: tuple[Any, ...], out: Any) -> list[Any]:
        """The arrays for the results; None for a result without one."""
        count, more = len(self._inputs), len(self._outputs)
        if out is None and len(args) not in (count, count + more):
            raise TypeError(
                f"This gufunc accepts {counted(count, POSITIONAL)} (when providing input only) or "
                f"{counted(count + more, POSITIONAL)} (when providing input and output). Got "
                f"{counted(len(args), POSITIONAL)}."
            )
        if out is not None and len(args) > count:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if out is not None:
            return list(out) if isinstance(out, tuple) else [out]
        return list(args[count:]) or [None] * more

    def _types(self, given: Dtypes) -> Dtypes:
        """The input types of the kernel for inputs of such types."""
        if given in self._kernels:
            return given
        for known in self._kernels:
            if all(np.can_cast(a, b, "same_kind") for a, b in zip(given, known, strict=True)):
                return known
        raise TypeError("no matching signature")

    def _sizes(self, inputs: list[npt.NDArray[Any]]) -> tuple[Shape, dict[str, int]]:
        """The extents of the loop, and the extents of the layout's names."""
        sizes: dict[str, int] = {}
        loops = []
        for number, (array, names) in enumerate(zip(inputs, self._inputs, strict=True), 1):
            outer = array.ndim - len(names)
            if outer < 0:
                raise ValueError(f"arg #{number}: insufficient inner dimension")
            for axis, name in enumerate(names, outer):
                if sizes.setdefault(name, array.shape[axis]) != array.shape[axis]:
                    raise ValueError(f"arg #{number}: shape[{axis}] mismatch argument")
            loops.append(array.shape[:outer])
        largest = max(loops, key=math.prod)
        for number, loop in enumerate(loops, 1):
            if loop not in (largest, (1,), ()):
                raise ValueError(f"arg #{number}: outer dimension mismatch")
        return largest, sizes


def _array(value: Any) -> npt.NDArray[Any]:
    """The NumPy array of an argument, or of its memory."""
    memory: npt.NDArray[Any] | None = memory_of(value)
    return np.asarray(value) if memory is None else memory


def _looped(array: npt.NDArray[Any], loop: Shape, inner: Shape) -> npt.NDArray[Any]:
    """An input with one axis for the loop. It repeats along loop axes that it lacks."""
    if math.prod(array.shape) == math.prod(inner):
        array = array.reshape(inner)
    return np.ascontiguousarray(np.broadcast_to(array, loop + inner)).reshape(-1, *inner)


def _handed_back(made: DeviceNDArray, out: Any, on_device: bool) -> Any:
    """The result in the wanted place: in `out`, on the device, or on the host."""
    if out is not None:
        _array(out)[...] = made.gpu_data
        return as_cuda_array(out) if is_cuda_array(out) and not is_cuda_ndarray(out) else out
    if on_device:
        return made
    return made.copy_to_host()[()]


def _layout(text: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The names of the axes of each input and each output.

    >>> _layout("(m,n),(n)->()")
    ([('m', 'n'), ('n',)], [()])
    """
    sides = "".join(text.split()).split("->")
    group = r"\((?:\w+(?:,\w+)*,?)?\)"
    if len(sides) != 2 or not all(re.fullmatch(rf"{group}(?:,{group})*,?", one) for one in sides):
        raise ValueError(f'bad token in signature "{text}"')
    inputs, outputs = (
        [tuple(filter(None, names.split(","))) for names in re.findall(r"\(([^)]*)\)", side)]
        for side in sides
    )
    unknown = {name for names in outputs for name in names} - {
        name for names in inputs for name in names
    }
    if unknown:
        raise NameError(f"undefined output symbols: {','.join(sorted(unknown))}")
    return inputs, outputs


def _result_of(core: Dispatcher, given: Dtypes) -> np.dtype[Any]:
    """The type of what a function returns for elements of the types given."""
    from mmsim.frontend.numba.parse import result_type  # loads Numba's inference of types

    return result_type(core.py_func, given)


def _dtypes(several: Iterable[Type]) -> Dtypes:
    """The element types of arguments."""
    found = []
    for type_ in several:
        element = type_.dtype if isinstance(type_, types.Array) else type_
        if not is_number(element):
            raise TypingError(f"{type_} is not a type of elements; write it as float32(float32)")
        found.append(as_dtype(element))
    return tuple(found)


def _subarrays(core: Dispatcher, signature: Signature, axes: list[tuple[str, ...]]) -> Dispatcher:
    """The kernel in which each thread works on one sub-array of each argument."""
    names = [f"a{number}" for number in range(len(axes))]
    elements = []
    for name, type_, inner in zip(names, signature.args, axes, strict=True):
        if inner:
            elements.append(f"{name}[i{', :' * len(inner)}]")
        else:
            elements.append(
                f"{name}[i : i + 1]" if isinstance(type_, types.Array) else f"{name}[i]"
            )
    return _kernel(SUBARRAYS, core, names, ", ".join(elements))


def _kernel(template: str, core: Dispatcher, names: list[str], elements: str) -> Dispatcher:
    name = core.__name__ if core.__name__.isidentifier() else "function"
    text = template.format(
        name=name, arguments=", ".join(names), elements=elements, first=names[-1]
    )
    made: Dispatcher = jit(function_from(text, name, {"grid": grid, "core": core}))
    return made
