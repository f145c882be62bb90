"""The text that counts the stages of one request by the compiled counters, for each rule.

The counters are those of `mmsim.engines.array.counting`. `lanes` is the text of the list of
requesting lanes, `count` the text of their number, `addresses` the text of their addresses.
"""

from __future__ import annotations

from mmsim.model.byte_banks import InPairs, Packed, Twice
from mmsim.model.conflicts import Conflict, InParts


def counted(rule: Conflict | None, width: int, begin: int) -> bool:
    """Return whether arrays aligned to `begin` words and warps of these lanes have counters."""
    if isinstance(rule, Twice):
        return counted(rule.rule, width, begin)
    if rule is None or rule.compiled is None or begin % rule.width:
        return False
    if isinstance(rule, InPairs) and rule.width == 1:
        return False  # a part may consist of two consecutive lanes
    return rule.width >= width or isinstance(rule, InParts)


def stages(rule: Conflict, addresses: str, lanes: str, count: str) -> str:
    """The stages of a request."""
    if isinstance(rule, Twice):
        return f"2 * {stages(rule.rule, addresses, lanes, count)}"
    if isinstance(rule, InParts):
        return f"{rule.compiled}_parts({addresses}, {lanes}, {count}, {rule.width}, tables)"
    packed = f"{rule.elements}, " if isinstance(rule, Packed) else ""
    return f"{rule.compiled}_request({addresses}, {count}, {rule.width}, {packed}tables)"


def least(rule: Conflict, addresses: str, lanes: str, count: str) -> str:
    """The least stages of a request: one for each of its parts."""
    if isinstance(rule, Twice):
        return f"2 * {least(rule.rule, addresses, lanes, count)}"
    if isinstance(rule, InPairs):
        return f"pairs_asking({addresses}, {lanes}, {count}, {rule.width})"
    if isinstance(rule, InParts):
        return f"parts_asking({lanes}, {count}, {rule.width})"
    return "1"


def of_row(rule: Conflict, first: str) -> tuple[str, str]:
    """The stages of a request of `lanes` lanes for consecutive addresses, and the least stages.

    Atomics on consecutive addresses cost no more than reads.
    """
    if isinstance(rule, Twice):
        return _twice(of_row(rule.rule, first))
    place = "group" if str(rule.compiled).startswith("group") else "bank"
    if isinstance(rule, InParts):
        parts = f"parts_asking(every, lanes, {rule.width})"
        return f"row_of_{place}_parts({first}, lanes, {rule.width})", parts
    return f"row_of_{place}s({first}, lanes, {rule.width})", "1"


def of_one(rule: Conflict) -> tuple[str, str]:
    """The same for one address."""
    if isinstance(rule, Twice):
        return _twice(of_one(rule.rule))
    fewest = f"parts_asking(every, lanes, {rule.longest})" if isinstance(rule, InParts) else "1"
    return "lanes" if str(rule.compiled).endswith("_atomic") else fewest, fewest


def _twice(texts: tuple[str, str]) -> tuple[str, str]:
    return f"2 * {texts[0]}", f"2 * {texts[1]}"
