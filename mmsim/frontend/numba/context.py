"""The types of kernels and device functions, by Numba's own stages.

`numba.core` makes its intermediate representation of a function's bytecode, renames each
assignment of a name (static single assignment), leaves out branches that a literal decides, and
infers all types. The names of numba.cuda have types of their own here: `Word` for what is
called, `Namespace` for what has members.
"""

from __future__ import annotations

import inspect
import types as python
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numba.core import compiler, types, untyped_passes
from numba.core import ir as numba_ir
from numba.core.analysis import dead_branch_prune, rewrite_semantic_constants
from numba.core.compiler import Flags
from numba.core.cpu_options import ParallelOptions
from numba.core.errors import (  # type: ignore[attr-defined]
    NumbaError,
    NumbaWarning,
    TypingError,
    UnsupportedBytecodeError,
    UnsupportedError,
    WarningsFixer,
)
from numba.core.ir_utils import (
    build_definitions,
    get_definition,
    guard,
    merge_adjacent_blocks,
)
from numba.core.rewrites.registry import rewrite_registry
from numba.core.target_extension import CPU
from numba.core.transforms import canonicalize_cfg
from numba.core.typeinfer import TypeInferer
from numba.core.typing import (  # the first two fill the registry of the builtins
    arraydecl,  # noqa: F401
    builtins,  # noqa: F401
    cmathdecl,
    enumdecl,
    listdecl,
    mathdecl,
    npydecl,
    templates,
)
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import signature
from numba.cpython import rangeobj, tupleobj  # noqa: F401  # their methods, written in Python
from numba.misc.special import literal_unroll
from numba.np.numpy_support import from_dtype

from mmsim.errors import LanguageError
from mmsim.frontend.numba.names import (
    name_of_object,
    python_function,
)
from mmsim.frontend.numba.refusals import refusal
from mmsim.frontend.numba.signatures import Given, Namespace, Refusal
from mmsim.frontend.numba.ssa import name_versions
from mmsim.frontend.numba.templates import (
    OF_MATH,
    REGISTRY,
    WRITTEN,
    Called,
    Word,
    is_declared,
    member_of,
    taken,
)
from mmsim.frontend.numba.values import is_number
from mmsim.frontend.numba.words import NAMESPACES, RULES, VALUES


class DeviceFunction(Called):
    """The type of a function that kernels call, in the language of kernels."""

    def __init__(self, function: python.FunctionType) -> None:
        self.function = function
        super().__init__(f"device function {function.__module__}.{function.__qualname__}")

    @property
    def key(self) -> object:
        """Equal functions have one type."""
        return self.function

    def get_call_type(self, context: Any, args: Given, kws: Any) -> Any:
        """The signature of a call, by the types of the function for these arguments."""
        return context.written(self, self.function, args, kws)


class DeviceArray(types.Array):
    """The type of an array of the device from outside, which is no constant as others are."""

    def copy(  # type: ignore[override]
        self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None
    ) -> types.Array:
        """A copy of the type, which is not constant either."""
        return super().copy(dtype, ndim, layout)


def arguments(function: python.FunctionType, args: Given, kws: dict[str, types.Type]) -> Given:
    """The types of the parameters of a call, in their order; a default is its own type."""
    try:
        bound = inspect.signature(function).bind(*args, **kws)
    except TypeError as error:
        raise Refusal(f"{function.__name__!r} can't be called so: {error}") from None
    found: list[types.Type] = []
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise Refusal(f"{function.__name__!r} takes **{name}, which kernels don't have")
        given = bound.arguments.get(name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = tuple(map(types.unliteral, given or ()))
            empty = types.StarArgUniTuple(types.int64, 0)  # it can be iterated
            found.append(types.StarArgTuple.from_types(rest) if rest else empty)
        else:
            found.append(types.Omitted(parameter.default) if given is None else given)
    return tuple(found)


_calls: dict[tuple[Any, Given], Any] = {}
"""The signatures of calls whose arguments are numbers."""
BASE: Any = BaseContext
INFERENCE: Any = TypeInferer
"""Without types, as most of their methods have none."""
FAILURES = (
    *(NumbaError, UnsupportedBytecodeError, NotImplementedError),
    *(AssertionError, AttributeError, LookupError, ValueError),
)
"""Errors of Numba's stages on what they don't know."""


class Context(BASE):  # type: ignore[misc]
    """Numba's types of its own functions, and ours of numba.cuda's.

    An overload of Numba's is not compiled but inlined, and an intrinsic is left out.
    """

    loads = 0
    """The number of times that functions were installed for a module."""

    def load_additional_registries(self) -> None:
        """Those of what kernels use, then those of numba.cuda's names."""
        for one in (REGISTRY, cmathdecl.registry, enumdecl.registry, listdecl.registry):
            self.install_registry(one)
        self.install_registry(npydecl.registry)
        self.install_registry(mathdecl.registry)

    def _load_builtins(self) -> None:
        self.install_registry(templates.builtin_registry)

    def install_registry(self, registry: Any) -> None:
        """Install what is new in a registry; ours of a function of math goes first."""
        known = self._registries.setdefault(registry, templates.RegistryLoader(registry))
        for template in filter(None, map(taken, known.new_registrations("functions"))):
            self.insert_function(template(self))
        for template in filter(None, map(taken, known.new_registrations("attributes"))):
            self.insert_attributes(template(self))
        for value, type_ in known.new_registrations("globals"):
            self._install_global(value, type_)

    def _install_global(self, value: Any, type_: Any) -> None:
        found = [*filter(None, map(taken, getattr(type_, "templates", ())))]
        before = self._lookup_global(value)
        if found:
            type_ = types.Function(found)
        elif isinstance(type_, types.Function):
            return
        if before is None:
            self.insert_global(value, type_)
        elif value not in OF_MATH:
            self._remove_global(value)
            self._insert_global(value, before.augment(type_))

    def _with_functions_of(self, module: str) -> None:
        """Install what Numba writes in Python for a module; NumPy's takes a third of a second."""
        if module == "cmath":
            from numba.cpython import cmathimpl  # noqa: F401
        else:
            from numba.np import arraymath  # noqa: F401
        self.refresh()
        self.loads += 1

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        """The type of a member: of numba.cuda's, or of arrays, which Numba writes in Python."""
        found = member_of(typ, attr) or super().resolve_getattr(typ, attr)
        if found is None and isinstance(typ, types.Array):
            self._with_functions_of("numpy")
            return super().resolve_getattr(typ, attr)
        return found

    def resolve_function_type(self, func: Any, args: Given, kws: Any) -> Any:
        """The signature of a call; one of numbers is found once for all kernels."""
        if kws or not isinstance(func, types.Function) or not all(map(is_number, args)):
            return super().resolve_function_type(func, args, kws)
        key = func, tuple(args)
        if key not in _calls:
            _calls[key] = super().resolve_function_type(func, args, kws)
        return _calls[key]

    def written(self, key: Any, function: python.FunctionType, args: Given, kws: Any) -> Any:
        """The signature of a call of a function in Python: a device function, or one of Numba's."""
        given = arguments(function, args, kws)
        WRITTEN[key, given] = function
        try:
            return signature(inferred(function, given).result, *given)
        except LanguageError as error:
            raise TypingError(str(error)) from error

    def resolve_value_type(self, val: Any) -> Any:
        """The type of an object from outside of a kernel."""
        if isinstance(val, python.ModuleType):
            return self._get_global_type(val)
        lies = None if isinstance(val, type) else getattr(val, "__cuda_array_interface__", None)
        if lies is not None:  # an array of the device
            dtype = np.dtype(getattr(val, "dtype", lies["typestr"]))
            return DeviceArray(from_dtype(dtype), len(lies["shape"]), "A")
        member, function = name_of_object(val), python_function(val)
        if member in VALUES:
            return types.int32
        if member in NAMESPACES:
            return Namespace(member)
        is_own = function is not val and member not in RULES
        is_of_numpy = str(getattr(val, "__module__", "")).startswith("numpy")
        is_here = (not member or is_own) and not is_of_numpy and self._lookup_global(val) is None
        if function is not None and is_here:
            return DeviceFunction(function)
        if member:
            return Word(member)
        if callable(val) and not isinstance(val, type):
            known = self._lookup_global(val)
            if any(map(is_declared, getattr(known, "templates", ()))):
                return known
            module = str(getattr(val, "__module__", ""))
            if known is None and module.startswith(("numpy", "cmath")):
                self._with_functions_of(module)
        return super().resolve_value_type(val)


@cache
def context() -> Context:
    """The one context of this process."""
    found = Context()
    found.refresh()
    return found


class Inference(INFERENCE):  # type: ignore[misc]
    """Numba's inference of types, which finds what it refuses."""

    def __init__(self, func_ir: Any) -> None:
        super().__init__(context(), func_ir, WarningsFixer(NumbaWarning))
        self.at: Any = None
        self._made: list[Any] = []

    def constrain_statement(self, inst: Any) -> None:
        """Note the constraints that an instruction gives."""
        self.at = inst
        if isinstance(getattr(inst, "value", None), numba_ir.Yield):
            raise UnsupportedError("yield", loc=inst.loc)
        super().constrain_statement(inst)
        self._made += [inst] * (len(self.constraints.constraints) - len(self._made))

    def results(self, args: Given, is_strict: bool = True) -> Any:
        """The types of variables, of the result, of operations; if not strict, of what is known."""
        with self.context.callstack.register(CPU, self, self.func_id, args), self.warnings:
            for index, (name, type_) in enumerate(zip(self.func_ir.arg_names, args, strict=True)):
                self.seed_argument(name, index, type_)
            self.build_constraint()
            self.at = None
            self.propagate(is_strict)
            return self.unify(is_strict)

    def refused(self, error: Exception) -> tuple[Any, Exception]:
        """The instruction that is refused, None if it isn't one, and the error of it alone."""
        if self.at is None:
            for inst, constraint in zip(self._made, self.constraints.constraints, strict=False):
                try:
                    constraint(self)
                except FAILURES as own:
                    return inst, own
        return self.at, error


class Inferred:
    """A function's representation in static single assignment, with all types.

    `types` maps the names of its variables to types, `calls` its operations to signatures.
    """

    def __init__(self, function: python.FunctionType, args: Given) -> None:
        self.function = function
        self.args = args
        self.live: Any = None  # its `Liveness`, once it is lowered
        infer = None
        try:
            self.ir = compiler.run_frontend(function)
            _untyped_passes(self.ir, args)
            infer = Inference(self.ir)
            found = infer.results(args)
        except FAILURES as error:
            raise refusal(function, error, infer) from error
        self.types: dict[str, types.Type] = found[0]
        self.result: types.Type = found[1]
        self.calls: dict[Any, Any] = found[2]


@dataclass
class _State:
    """The state of a compilation, as far as Numba's rewriting reads it."""

    func_ir: Any
    args: Given
    typemap: Any = None
    calltypes: Any = None
    flags: Any = field(default_factory=Flags)

    def known_kinds(self) -> None:
        """Leave out the branches that `isinstance` decides, by the types that are known so far."""
        self.flags.enable_ssa = True
        self.typemap, _, self.calltypes = Inference(self.func_ir).results(self.args, False)
        untyped_passes.PropagateLiterals().run_pass(self)
        _known_branches(self.func_ir, self.args)

    def unrolled(self) -> None:
        """Repeat the bodies of loops over `literal_unroll(...)`, by the types that are known."""
        for block in self.func_ir.blocks.values():
            for one in block.find_insts(numba_ir.Assign):
                facts = vars(one.value).get("_kws", vars(one.value))
                if "literal_unroll" in (facts.get("name"), facts.get("attr")):
                    one.value = numba_ir.Global("literal_unroll", literal_unroll, one.loc)
        self.func_ir._definitions = build_definitions(self.func_ir.blocks)
        self.typemap, _, self.calltypes = Inference(self.func_ir).results(self.args, False)
        untyped_passes.IterLoopCanonicalization().run_pass(self)
        rewrite_semantic_constants(self.func_ir, self.args)
        untyped_passes.MixedContainerUnroller().run_pass(self)


def checked_names(func_ir: Any) -> None:
    """Take `strict=False` from calls of zip, which Numba types without keywords.

    Refuse other names in calls of functions inside of this one, which Numba inlines without them.
    """
    calls = (one for block in func_ir.blocks.values() for one in block.find_exprs("call"))
    for call in [one for one in calls if one.kws]:
        called = guard(get_definition, func_ir, call.func)
        if isinstance(called, numba_ir.Global) and called.value is zip:
            known = [guard(get_definition, func_ir, var) for _, var in call.kws]
            if all(getattr(value, "value", True) is False for value in known):
                call.kws = ()
        if getattr(called, "op", "") == "make_function":
            said = ", ".join(f"{name}=" for name, _ in call.kws)
            message = f"a function inside another one takes its arguments in order: no {said}"
            raise TypingError(message, loc=call.loc)


def _known_branches(func_ir: Any, args: Given) -> None:
    rewrite_semantic_constants(func_ir, args)
    dead_branch_prune(func_ir, args)


def _without_jumps(blocks: dict[int, Any]) -> None:
    """Let jumps go to the head of a loop, not to a block that does nothing but jump there.

    Python's bytecode has such a block before the head, EXTENDED_ARG, if the loop is long.
    """
    merge_adjacent_blocks(blocks)
    idle = {
        label: block.terminator.target
        for label, block in blocks.items()
        if len(block.body) == 1 and isinstance(block.terminator, numba_ir.Jump)
    }
    heads = {label for label, block in blocks.items() if [*block.find_exprs("iternext")]}
    for label in idle:
        if idle[label] in heads:
            del blocks[label]
            for jump in (block.terminator for block in blocks.values()):
                for name in ("target", "truebr", "falsebr"):
                    if getattr(jump, name, None) == label:
                        setattr(jump, name, idle[label])


def _untyped_passes(func_ir: Any, args: Given) -> None:
    """Closures inlined, branches of literals left out, each assignment with a name of its own."""
    checked_names(func_ir)
    code, state = func_ir.func_id.code, _State(func_ir, args)
    has_inner = any(isinstance(one, python.CodeType) for one in code.co_consts)
    if has_inner or "reduce" in code.co_names:
        # its import takes as long as all others here
        from numba.core.inline_closurecall import InlineClosureCallPass

        InlineClosureCallPass(func_ir, ParallelOptions(False), {}, False).run()
    _known_branches(func_ir, args)
    if has_inner:
        untyped_passes.MakeFunctionToJitFunction().run_pass(state)
    if "literal_unroll" in (*code.co_names, *code.co_freevars):
        state.unrolled()
    _without_jumps(func_ir.blocks)
    func_ir.blocks = canonicalize_cfg(func_ir.blocks)
    name_versions(func_ir.blocks)
    func_ir._definitions = build_definitions(func_ir.blocks)
    dead_branch_prune(func_ir, args)
    if "isinstance" in code.co_names:
        state.known_kinds()
    rewrite_registry.apply("before-inference", state)
    func_ir.blocks = canonicalize_cfg(func_ir.blocks)


_inferred: dict[tuple[python.FunctionType, Given], Inferred] = {}
"""The latest functions with their types."""
MOST = 500
"""The most functions whose types are held."""
_refused: dict[tuple[python.FunctionType, Given], LanguageError] = {}
"""The functions without types, as long as the kernel that calls them is at work."""
_inside: list[python.FunctionType] = []
"""The functions whose types are being inferred, each called by the one before."""


def inferred(function: python.FunctionType, args: Given) -> Inferred:
    """A function with its types for these arguments, inferred once.

    Raise a `LanguageError` with the line in the function if it has none, or calls itself.
    """
    found = _inferred.get((function, args))
    if found is not None:
        return found
    if function in _inside:
        raise Refusal(
            f"{function.__name__!r} calls itself", "write a loop: kernels have no recursion"
        )
    if (function, args) in _refused:
        raise _refused[function, args]
    if not _inside:
        context().refresh()  # there may be new overloads
    _inside.append(function)
    loads = context().loads
    try:
        try:
            found = Inferred(function, args)
        except LanguageError:
            if context().loads == loads:
                raise
            found = Inferred(function, args)  # what was installed meanwhile has other types now
        _inferred[function, args] = found
        if len(_inferred) > MOST:
            _inferred.pop(next(iter(_inferred)))
    except LanguageError as error:
        _refused[function, args] = error
        raise
    finally:
        _inside.pop()
        if not _inside:
            _refused.clear()
    return found
