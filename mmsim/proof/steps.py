"""The variables of a loop's body: which matter, and how they change from trip to trip."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, statements, targets


class Steps:
    """The rules by which variables change from trip to trip, found in the text of a loop's body.

    ("add", amount), ("scale", k): times 2^k, ("halve", k): divided by 2^k, rounded down, and
    ("halve up", 1): (x + 1) // 2.
    """

    def __init__(self, body: ir.Block, names: Sequence[str]) -> None:
        self.rules: dict[str, tuple[str, Any]] = {}
        setting = {name: [s for s in statements(body) if name in targets(s)] for name in names}
        top = {s.number for s in body}
        self.order = {s.number: at for at, s in enumerate(statements(body))}
        self.setting, self.top = setting, top
        for name in names:
            found = setting[name]
            if len(found) == 1 and isinstance(found[0], ir.Assign) and found[0].number in top:
                other = self._origin(found[0])
                rule = self._rule(name, found[0].value, setting, top, body)
                back = setting.get(other or "", [])
                last = back[0] if len(back) == 1 and other != name else None
                if isinstance(last, ir.Assign) and self._origin(last) == name:
                    rule = "swap", other
                if rule is not None:
                    self.rules[name] = rule

    def _origin(self, one: ir.Assign) -> str | None:
        """The variable whose value at the begin of a trip an assignment copies, if it does."""
        if not isinstance(one.value, ir.Var):
            return None
        name = one.value.name
        before = [
            s for s in self.setting.get(name, []) if self.order[s.number] < self.order[one.number]
        ]
        if not before:
            return name
        (last,) = before[-1:]
        return (
            self._origin(last) if isinstance(last, ir.Assign) and last.number in self.top else None
        )

    def _rule(self, name: str, value: ir.Expr, setting: Any, top: set[int], body: ir.Block) -> Any:
        if (
            isinstance(value, ir.Binary)
            and value.op == "-"
            and isinstance(value.left, ir.Const)
            and isinstance(value.right, ir.Var)
            and value.right.name == name
        ):
            return "toggle", value.left.value
        if isinstance(value, ir.Var) and value.name != name:
            # k = h, where h = k // 2 earlier in the body.
            found = setting.get(value.name, [])
            if len(found) == 1 and isinstance(found[0], ir.Assign) and found[0].number in top:
                return self._rule(name, found[0].value, {}, top, body)
            return None
        if not isinstance(value, ir.Binary):
            return None
        left, right = value.left, value.right
        own = isinstance(left, ir.Var) and left.name == name
        other = isinstance(right, ir.Var) and right.name == name
        number = (
            right.value if isinstance(right, ir.Const) and isinstance(right.value, int) else None
        )
        first = left.value if isinstance(left, ir.Const) and isinstance(left.value, int) else None
        if value.op == "+" and own:
            return ("add", right) if name not in names_of(right) else None
        if value.op == "+" and other:
            return ("add", left) if name not in names_of(left) else None
        if value.op == "-" and own and name not in names_of(right):
            return "add", ir.Unary("-", right, value.place)
        if value.op == "*" and own and number is not None and is_power(number):
            return "scale", number.bit_length() - 1
        if value.op == "*" and other and first is not None and is_power(first):
            return "scale", first.bit_length() - 1
        if value.op == "<<" and own and number is not None:
            return "scale", number
        if value.op == ">>" and own and number is not None:
            return "halve", number
        if value.op == "//" and own and number is not None and is_power(number):
            return "halve", number.bit_length() - 1
        if (
            value.op == "//"
            and number == 2
            and isinstance(left, ir.Binary)
            and left.op == "+"
            and isinstance(left.left, ir.Var)
            and left.left.name == name
            and isinstance(left.right, ir.Const)
            and left.right.value == 1
        ):
            return "halve up", 1
        return None


def is_power(number: int) -> bool:
    return number > 1 and number & (number - 1) == 0


def names_of(value: ir.Expr) -> set[str]:
    found = {value.name} if isinstance(value, ir.Var) else set()
    for part in expressions(value):
        found |= names_of(part)
    return found


def needed(body: ir.Block, given: Collection[str]) -> set[str]:
    """The variables on which addresses, branches and numbers of trips depend.

    The stages of accesses to some arrays are given.
    """
    found: set[str] = set()
    for one in statements(body):
        if isinstance(one, ir.Access):
            for part in one.index if one.array not in given else ():
                found |= names_of(part)
        elif isinstance(one, ir.If | ir.While):
            found |= names_of(one.test)
        elif isinstance(one, ir.For):
            found |= names_of(one.start) | names_of(one.stop) | names_of(one.step)
    while True:
        more = set(found)
        for one in statements(body):
            if isinstance(one, ir.Assign) and one.target in found:
                more |= names_of(one.value)
        if more == found:
            return found
        found = more
