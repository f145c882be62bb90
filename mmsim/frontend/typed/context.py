"""The types of kernels and device functions, by Numba's own stages.

`numba.core` makes its intermediate representation of a function's bytecode, renames each
assignment of a name (static single assignment), leaves out branches that a literal decides, and
infers all types. The names of numba.cuda have types of their own here: `Word` for what is
called, `Namespace` for what has members.
"""

from __future__ import annotations

import types as python
from functools import cache
from typing import Any, NamedTuple

from numba.core import compiler, postproc, rewrites, types, typing
from numba.core.analysis import dead_branch_prune, rewrite_semantic_constants
from numba.core.cpu import ParallelOptions
from numba.core.inline_closurecall import InlineClosureCallPass
from numba.core.registry import cpu_target
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import type_inference_stage
from numba.core.typing import templates
from numba.core.utils import pysignature

from mmsim.frontend.numba.dialect import python_function
from mmsim.frontend.numba.functions import written_out
from mmsim.frontend.numba.names import name_of_object, type_name
from mmsim.frontend.typed.graph import without_strictness
from mmsim.frontend.typed.signatures import GRID, NAMESPACES, VALUES, returned

Given = tuple[types.Type, ...]


class Namespace(types.Opaque):  # type: ignore[misc]
    """The type of a name of numba.cuda that has members, such as cuda.threadIdx."""

    def __init__(self, member: str) -> None:
        self.member = member
        super().__init__(f"cuda.{member}")


class Word(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of a function of numba.cuda; its results follow from `signatures`."""

    def __init__(self, member: str) -> None:
        self.member = member
        super().__init__(f"function cuda.{member}")

    def get_call_type(self, context: Any, args: Given, kws: dict[str, types.Type]) -> Any:
        """The signature of a call; keywords come after the other arguments."""
        given, result = returned(self.member, args, kws)
        return typing.signature(result, *given)

    def get_call_signatures(self) -> tuple[tuple[()], bool]:
        """None in particular."""
        return (), False

    def get_impl_key(self, sig: Any) -> Any:
        """Nothing is compiled."""
        return self.member


class DeviceFunction(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of a function that kernels call, in the language of kernels."""

    def __init__(self, function: python.FunctionType) -> None:
        self.function = function
        super().__init__(f"device function {function.__module__}.{function.__qualname__}")

    @property
    def key(self) -> object:
        """Equal functions have one type."""
        return self.function

    def get_call_type(self, context: Any, args: Given, kws: dict[str, types.Type]) -> Any:
        """The signature of a call, by the types of the function for these arguments."""
        given = arguments(self.function, args, kws)
        return typing.signature(inferred(self.function, given).result, *given)

    def get_call_signatures(self) -> tuple[tuple[()], bool]:
        """None in particular."""
        return (), False

    def get_impl_key(self, sig: Any) -> Any:
        """Nothing is compiled."""
        return self.function


def arguments(function: python.FunctionType, args: Given, kws: dict[str, types.Type]) -> Given:
    """The types of the parameters of a call, in their order; a default is its own type."""
    bound = pysignature(function).bind(*args, **kws)
    found: list[types.Type] = []
    for name, parameter in bound.signature.parameters.items():
        if name in bound.arguments:
            given = bound.arguments[name]
            is_rest = parameter.kind is parameter.VAR_POSITIONAL
            found.append(types.StarArgTuple.from_types(given) if is_rest else given)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            found.append(types.StarArgUniTuple(types.int64, 0))  # it can be iterated
        else:
            found.append(types.Omitted(parameter.default))
    return tuple(found)


REGISTRY = templates.Registry()


@REGISTRY.register_attr
class NamespaceAttributes(templates.AttributeTemplate):  # type: ignore[misc]
    """The members of the namespaces of numba.cuda."""

    key = Namespace

    def generic_resolve(self, owner: Namespace, name: str) -> types.Type | None:
        """The type of a member: a number, or a function."""
        member = f"{owner.member}.{name}"
        return VALUES.get(member) or Word(member)


@REGISTRY.register_attr
class GridAttributes(templates.AttributeTemplate):  # type: ignore[misc]
    """The members of the grid."""

    key = types.Opaque

    def generic_resolve(self, owner: types.Opaque, name: str) -> types.Type | None:
        """The barrier of the grid."""
        return Word("grid.sync") if (owner, name) == (GRID, "sync") else None


class Context(typing.Context):  # type: ignore[misc]
    """Numba's types of its own functions, and ours of numba.cuda's."""

    def load_additional_registries(self) -> None:
        """Those of Numba, then those of numba.cuda's names."""
        super().load_additional_registries()
        self.install_registry(REGISTRY)

    def resolve_value_type(self, val: Any) -> Any:
        """The type of an object from outside of a kernel."""
        member = "" if isinstance(val, python.ModuleType) else name_of_object(val)
        if member in VALUES:
            return VALUES[member]
        if member in NAMESPACES:
            return Namespace(member)
        if member and not type_name(val) and python_function(val) in (None, val):
            return Word(member)
        function = python_function(val)
        if function is not None and not member:
            return DeviceFunction(function)
        if callable(val) and not isinstance(val, type):
            known = self._get_global_type(val)
            written = None if known is not None else written_out(val, None)
            if written is not None:
                return DeviceFunction(written)
        return super().resolve_value_type(val)

    def resolve_module_constants(self, typ: Any, attr: str) -> Any:
        """The type of a member of a module; some that Numba lacks are written out here."""
        found = super().resolve_module_constants(typ, attr)
        if found is None and hasattr(typ.pymod, attr):
            written = written_out(getattr(typ.pymod, attr), None)
            return None if written is None else DeviceFunction(written)
        return found


@cache
def context() -> Context:
    """The one context of this process, with all of Numba's registries."""
    found = Context()
    found.refresh()
    return found


class Inferred:
    """A function's representation in static single assignment, with all types.

    `types` maps the names of its variables to types, `calls` its operations to signatures.
    """

    def __init__(self, function: python.FunctionType, args: Given) -> None:
        self.function = function
        self.args = args
        self.ir = compiler.run_frontend(function)
        _untyped_passes(self.ir, args)
        found = type_inference_stage(context(), cpu_target.target_context, self.ir, args, None)
        self.types: dict[str, types.Type] = found.typemap
        self.calls: dict[Any, Any] = found.calltypes
        self.result: types.Type = found.return_type


class _State(NamedTuple):
    """The state that Numba's rewriting takes."""

    func_ir: Any
    typemap: None = None
    calltypes: None = None


def _untyped_passes(func_ir: Any, args: Given) -> None:
    """Closures inlined, branches of literals left out, each assignment with a name of its own."""
    without_strictness(func_ir)
    InlineClosureCallPass(func_ir, ParallelOptions(False), {}, False).run()
    rewrite_semantic_constants(func_ir, args)
    dead_branch_prune(func_ir, args)
    postproc.PostProcessor(func_ir).run(emit_dels=False)
    func_ir.blocks = reconstruct_ssa(func_ir).blocks
    rewrites.rewrite_registry.apply("before-inference", _State(func_ir))
    postproc.PostProcessor(func_ir).run(emit_dels=False)


_inferred: dict[tuple[python.FunctionType, Given], Inferred] = {}


def inferred(function: python.FunctionType, args: Given) -> Inferred:
    """A function with its types for these arguments, inferred once."""
    found = _inferred.get((function, args))
    if found is None:
        found = _inferred[function, args] = Inferred(function, args)
    return found
