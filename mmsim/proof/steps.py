"""The variables of a loop's body: which matter, and how they change from trip to trip."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, statements, targets
from mmsim.proof.facts import is_power


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
                rule = _rule(name, self._earlier(found[0].value))
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

    def _earlier(self, value: ir.Expr) -> ir.Expr:
        """The value of k = h, where h = k // 2 earlier in the body."""
        match self.setting.get(value.name, []) if isinstance(value, ir.Var) else []:
            case [ir.Assign(number=number, value=found)] if number in self.top:
                return found
        return value


def _rule(name: str, value: ir.Expr) -> tuple[str, Any] | None:
    """The rule by which a variable changes that gets this value in each trip."""
    match value:
        case ir.Binary(op="+", left=ir.Var(name=own), right=by) if own == name:
            return ("add", by) if name not in names_of(by) else None
        case ir.Binary(op="+", left=by, right=ir.Var(name=own)) if own == name:
            return ("add", by) if name not in names_of(by) else None
        case ir.Binary(op="-", left=ir.Var(name=own), right=by) if own == name:
            return ("add", ir.Unary("-", by, value.place)) if name not in names_of(by) else None
        case ir.Binary(op="-", left=ir.Const(value=number), right=ir.Var(name=own)) if own == name:
            return "toggle", number
        case (
            ir.Binary(op="*", left=ir.Var(name=own), right=ir.Const(value=int(by)))
            | ir.Binary(op="*", left=ir.Const(value=int(by)), right=ir.Var(name=own))
        ) if own == name and is_power(by):
            return "scale", by.bit_length() - 1
        case ir.Binary(op="<<", left=ir.Var(name=own), right=ir.Const(value=int(by))) if (
            own == name
        ):
            return "scale", by
        case ir.Binary(op=">>", left=ir.Var(name=own), right=ir.Const(value=int(by))) if (
            own == name
        ):
            return "halve", by
        case ir.Binary(op="//", left=ir.Var(name=own), right=ir.Const(value=int(by))) if (
            own == name and is_power(by)
        ):
            return "halve", by.bit_length() - 1
        case ir.Binary(
            op="//",
            left=ir.Binary(op="+", left=ir.Var(name=own), right=ir.Const(value=1)),
            right=ir.Const(value=2),
        ) if own == name:
            return "halve up", 1
    return None


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
