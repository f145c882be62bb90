"""Claims that are proved: their parts, points of these, and changed formulas."""

import time
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import islice, product
from random import Random
from unittest.mock import patch

import sympy

import mmsim_algorithms
from mmsim.claims.claim import call_with, symbols_of
from mmsim.engines import selection
from mmsim.proof.prove import check, domains, has_width, leaves, prove
from mmsim_algorithms.remembered import STORE, Store
from tests.kit.generators.random_sizes import Part, known_by

CLAIMS = [
    one
    for one in mmsim_algorithms.claims()
    if one.launches is not None and one.kind == "exact" and not one.printed
]
WIDTH = 4
SECONDS = 10


def proof_points(claim, width, most=20_000):
    """Points of the parts in which a claim is proved: cases, as they run; None if it isn't."""
    until = time.monotonic() + SECONDS
    found = []
    for one in domains(claim, width if has_width(claim) else None):
        try:
            parts = list(leaves(one.whole, lambda c, t=one.texts: check(claim, c, t, until), until))
        except Exception:  # of a function of the claim, too: it is not proved
            return None
        for case, inside in parts:
            if inside is not None:
                wide = 5 if len(case.lows) < 6 else 4
                steps = product(range(wide), repeat=len(case.lows))
                known = known_by(Part(inside.case, inside.facts), steps)
                found += [{**one.texts, **sizes} for _, sizes in islice(known, most)]
    return found


def belongs(claim, case):
    """Return whether a case is of the stated domain, of which a proof may have more."""
    return all(call_with(one.holds, case) for one in claim.requires) and all(
        case[name] == call_with(follows, case) for name, follows in claim.derived.items()
    )


# ------------------------------------------------------------ changed formulas


def places(tree, path=()):
    """The paths of all nodes of an expression of SymPy."""
    yield path
    for at, part in enumerate(tree.args):
        yield from places(part, (*path, at))


def changes(node):
    """Yield what may stand for a node of a wrong formula."""
    if node.is_Integer or node.is_Symbol:
        yield from (node + 1, node - 1)
    if node.is_Symbol:
        yield 2 * node
    if node.is_Rational and not node.is_Integer:
        yield from (node + 1, -node, 2 * node)
    if isinstance(node, sympy.ceiling | sympy.floor):
        other = sympy.floor if isinstance(node, sympy.ceiling) else sympy.ceiling
        yield from (other(node.args[0]), node.args[0], node + 1)
    if node.is_Add or node.is_Mul:
        for at in range(len(node.args)):
            yield node.func(*node.args[:at], *node.args[at + 1 :])
    if node.is_Add:
        yield from (node + 1, node - 1)
    if isinstance(node, sympy.Min | sympy.Max):
        yield from node.args


def exchanged(tree, path, new):
    """An expression with another part at a path."""
    if not path:
        return new
    args = list(tree.args)
    args[path[0]] = exchanged(args[path[0]], path[1:], new)
    return tree.func(*args)


def changed_formulas(claim, texts, random, count):
    """The claim with changed formulas, all different, for some words."""
    names = {name: one for name, one in symbols_of(claim.parameters).items() if name not in texts}
    given = {name: texts.get(name, names.get(name)) for name in claim.parameters}
    tree = sympy.sympify(claim.formula(**given))
    found = {}
    for path in places(tree):
        node = tree
        for at in path:
            node = node.args[at]
        for new in changes(node):
            other = exchanged(tree, path, new)
            if other != tree and not other.has(sympy.zoo, sympy.nan):
                found[sympy.srepr(other)] = other
    for one in (tree + 1, tree - 1, 2 * tree):
        found[sympy.srepr(one)] = one
    for key in random.sample(sorted(found), min(count, len(found))):
        yield tree, found[key], replace(claim, formula=_formula(claim, found[key], names))


def _formula(claim, tree, names):
    @wraps(claim.formula)
    def formula(**values):
        return tree.subs({names[k]: v for k, v in values.items() if k in names}, simultaneous=True)

    return formula


def differ(tree, other, points):
    """Return whether two formulas differ at one of the points."""
    difference = tree - other
    symbols = difference.free_symbols
    return any(
        difference.subs({one: case[one.name] for one in symbols}) != 0 for case in points[::-1]
    )


@dataclass
class Refused:
    """Changed formulas: how many were tried, how many were refuted by a run, and wrong proofs."""

    tried: int = 0
    refuted: int = 0
    wrong: list = field(default_factory=list)


def refused(claim, seed, count, width=WIDTH):
    """Try to prove changed formulas that are wrong at a point of the domain."""
    random = Random(f"{claim.id} {seed}")
    points = [one for one in proof_points(claim, width) or () if belongs(claim, one)]
    found = Refused()
    texts_of = [one.texts for one in domains(claim, width if has_width(claim) else None)]
    for texts in texts_of[:2]:
        of_texts = [one for one in points if one.items() >= texts.items()]
        grid = [one for one in claim.cases() if one.items() >= texts.items()]
        only = replace(claim, grid=lambda grid=grid: grid)
        changes = changed_formulas(only, texts, random, count) if of_texts else ()
        for tree, other, changed in changes:
            if differ(tree, other, of_texts):
                proof = prove(changed, [width], seconds=2)
                found.tried += 1
                found.refuted += proof.against is not None
                if proof.proved:
                    found.wrong.append((claim.id, texts, str(tree), str(other)))
    return found


# ------------------------------------------------------------ points


def small_points(claim, width, most):
    """Small points of a claim's stated domain, by all numbers up to `most`."""
    cases = claim.cases()
    numbers = [name for name, value in cases[0].items() if not isinstance(value, str)]
    free = [one for one in numbers if one not in claim.derived and one != "w"]
    for one, values in product(
        domains(claim, width if has_width(claim) else None),
        product(range(1, most + 1), repeat=len(free)),
    ):
        case = {**one.texts, **dict(zip(free, values, strict=True))}
        if "w" in numbers:
            case["w"] = width
        if all(call_with(condition.holds, case) for condition in claim.requires):
            yield case | {name: call_with(of, case) for name, of in claim.derived.items()}


LARGEST = 2000
"""The largest number of a point at which claims are run."""


def some_points(claim, width, most):
    """Points of a proof that belong to the domain: a third are the smallest ones, then random ones.

    None if the claim isn't proved at this width.
    """
    found = proof_points(claim, width)
    if found is None:
        return None
    size = {
        at: max((value for value in case.values() if isinstance(value, int)), default=0)
        for at, case in enumerate(found)
        if belongs(claim, case)
    }
    ordered = sorted((at for at in size if size[at] <= LARGEST), key=size.get)
    first, rest = ordered[: most // 3], ordered[most // 3 :]
    more = Random(f"{claim.id} {width}").sample(rest, min(len(rest), most - len(first)))
    return [found[at] for at in (*first, *more)]


def compare(claim, case):
    """Compare the formula with runs on both engines, neither of which is remembered."""
    claimed = claim.evaluate(case)
    for engine in ("array", "events"):
        fresh = vars(Store(room=STORE.room))
        with patch.object(selection, "default_engine", engine), patch.dict(vars(STORE), fresh):
            run = claim.run(schedule="synchronous", **case)
            assert claim.measure(run) == claimed, (claim.id, engine, case)
