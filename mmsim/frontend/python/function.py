"""A function that is being parsed: its text, the meaning of its names, and its refusals.

The kind of a name may show only after its use: a later line may assign an array to a variable, or
use a parameter as an array. Then parsing begins again with this knowledge (`Restart`).
"""

from __future__ import annotations

import ast
import enum
import inspect
import sys
import types
from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python.scope import (
    Alias,
    Captured,
    Entity,
    Missing,
    NoArray,
    ParameterUse,
    Restart,
    Role,
    ThreadName,
    Unit,
    VariableName,
    View,
    outside,
)
from mmsim.frontend.python.source import FunctionText, assigned_in
from mmsim.ir import nodes as ir


@dataclass(eq=False)
class Function:
    """The program itself, or a helper at one of its calls.

    `python` is the function itself, `bound` gives the meaning of its own names. A helper has a
    `scope` that it leaves where it returns, and a variable for its value, called `given_name`.
    `looping` says whether its call is in a loop.
    """

    unit: Unit
    python: types.FunctionType
    text: FunctionText
    bound: dict[str, Entity]
    scope: str | None = None
    given_name: str = ""
    looping: bool = False

    def __post_init__(self) -> None:
        self.assignments = Counter(assigned_in(self.text.node.body))
        self.assigned = list(self.assignments)

    # Places and refusals

    def place(self, node: ast.AST) -> Place:
        """The place of a node."""
        return self.text.place(node)

    def refuse(self, node: ast.AST, message: str, advice: str = "") -> LanguageError:
        """An error for a node: the fault, and the replacement."""
        return LanguageError(message, self.place(node), advice)

    def refuse_no_array(self, node: ast.expr) -> None:
        """Refuse the thread in the place of an array."""
        entity = self.entity(node.id) if isinstance(node, ast.Name) else None
        if isinstance(entity, ThreadName):
            raise self.refuse(
                node,
                f"{ast.unparse(node)!r} is the thread, not an array",
                "a program's first parameter is the thread: write def name(T, ...)",
            )

    def entity(self, name: str) -> Entity:
        """The meaning of a name here; names of this function hide those outside."""
        return self.bound.get(name) or outside(self.python, name)

    def captured(self, node: ast.expr) -> Any:
        """The outside object of a name or a dotted name, else `Missing()`."""
        if isinstance(node, ast.Name):
            entity = self.entity(node.id)
            return entity.value if isinstance(entity, Captured) else Missing()
        if isinstance(node, ast.Attribute):
            owner = self.captured(node.value)
            return member(owner, node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return member_called(self.captured(node.value), node.slice.value)
        return Missing()

    def array(self, node: ast.expr) -> Alias | None:
        """The array or part that `node` names, None if it names something else.

        Such a use makes a parameter an array parameter.
        """
        if not isinstance(node, ast.Name):
            return None
        entity = self.entity(node.id)
        if isinstance(entity, ParameterUse):
            self.use(entity, "array", node)
        elif isinstance(entity, NoArray):
            raise self.refuse(
                node,
                f"{node.id!r} may not name one array here",
                "assign an array to it on every path to this line",
            )
        elif isinstance(entity, VariableName):
            self.learn(node.id, Role(self.place(node)))
        return self.stands_for(entity)

    def is_array(self, node: ast.expr) -> bool:
        """Return whether an expression certainly names an array."""
        entity = self.entity(node.id) if isinstance(node, ast.Name) else None
        return isinstance(entity, Alias) or (
            isinstance(entity, ParameterUse) and entity.use == "array"
        )

    def learn(self, name: str, role: Role, function: types.FunctionType | None = None) -> NoReturn:
        """Begin again with the kind of a name that this function assigns, or another one."""
        self.unit.known.roles[function or self.python, name] = role
        raise Restart

    def learn_array(self, parameter: str, wrong: LanguageError) -> NoReturn:
        """Begin again with a parameter as an array; `wrong` is the error if it is not one."""
        if parameter in self.unit.known.arrays:
            raise self.unit.known.arrays[parameter]
        self.unit.known.arrays[parameter] = wrong
        raise Restart

    def role(self, name: str) -> Role | None:
        """The kind of a name that this function assigns, None for a number."""
        return self.unit.known.roles.get((self.python, name))

    def use(self, parameter: ParameterUse, use: ir.Use, node: ast.AST) -> None:
        """Record the use of a parameter; after a different use, begin again."""
        if parameter.use not in ("unused", use):
            before = parameter.used_at.line if parameter.used_at else 0
            wrong = self.refuse(
                node,
                f"{parameter.name!r} is used as {with_article(use)} here and as "
                f"{with_article(parameter.use)} in line {before}",
                "a parameter is either an array or a number",
            )
            self.learn_array(parameter.name, wrong)
        if parameter.use == "unused":
            parameter.use, parameter.used_at = use, self.place(node)

    def variable(self, node: ast.Name) -> str:
        """The unique name of a variable that is being assigned."""
        entity = self.bound.get(node.id)
        if isinstance(entity, VariableName):
            return entity.name
        if isinstance(entity, ThreadName):
            raise self.refuse(node, f"{node.id!r} is the thread; it can't be assigned")
        if isinstance(entity, Alias | NoArray | ParameterUse):
            raise self.refuse(
                node,
                f"{node.id!r} is the name of an array already",
                "give every array and variable a name of its own",
            )
        raise AssertionError(f"unbound {node.id!r}")  # every assigned name is bound at the start

    def array_names(self) -> dict[str, Entity]:
        """The parts of arrays that the names of this function stand for."""
        found: dict[str, Entity] = {}
        for name in self.assigned:
            role = self.role(name)
            if role is not None and role.shape is None:
                found[name] = self.bound[name]
        return found

    def stands_for(self, entity: Entity) -> Alias | None:
        """The array that a name stands for, None if there is none."""
        if isinstance(entity, ParameterUse):
            return Alias((View(entity.name),))
        return entity if isinstance(entity, Alias) else None

    def bind_variables(self) -> None:
        """Bind every name that the function assigns, unless it is bound already.

        It is a variable, unless it has another role.
        """
        own = self.python.__name__
        for name in self.assigned:
            if name in self.bound:
                continue
            role = self.role(name)
            if role is not None and role.shape is None:
                self.bound[name] = NoArray()
            else:
                self.bound[name] = self.unit.several(name, own, role.shape if role else None)


def with_article(noun: str) -> str:
    """A noun with its article."""
    return f"an {noun}" if noun[0] in "aeiouAEIOU" else f"a {noun}"


def member_called(owner: Any, name: Any) -> Any:
    """owner["name"] of an enumeration, else `Missing()`."""
    if type(owner) is not enum.EnumMeta or not isinstance(name, str):
        return Missing()
    return vars(owner).get("_member_map_", {}).get(name, Missing())


def member(owner: Any, name: str) -> Any:
    """owner.name of a module, a class or a member of an enumeration, else `Missing()`.

    It is looked up where it is kept, because getattr may run code. `mmsim` itself may: it loads its
    names when they are first used.
    """
    if owner is sys.modules.get("mmsim"):
        return getattr(owner, name, Missing())
    if isinstance(owner, types.ModuleType):
        return vars(owner).get(name, Missing())
    if isinstance(owner, enum.Enum):
        return vars(owner).get("_value_", Missing()) if name == "value" else Missing()
    found = member_called(owner, name)
    if isinstance(owner, type) and isinstance(found, Missing):
        found = inspect.getattr_static(owner, name, Missing())
    return found.__func__ if isinstance(found, staticmethod) else found
