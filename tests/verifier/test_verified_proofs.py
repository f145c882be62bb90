"""Proofs as data: they verify, and a change of any number in them is refused."""

import copy
import json
from functools import cache

import pytest

from mmsim.claims import registered
from mmsim.cli.main import main
from mmsim.proof.certificate import certificate, to_json
from mmsim.proof.facts import Undecided
from mmsim.proof.prove import has_width
from mmsim.verifier.polynomials import Refused
from mmsim.verifier.proof import read_proofs, verify

CLAIMS = {claim.id: claim for claim in registered()}
PROVED = [
    *(("SMM-T3.1a", 2), ("SMM-ST", 3), ("SMM-ROT", 4), ("SMM-L5.2.local", 2), ("SMM-L7.2", 2)),
    *(("SMM-SP.any", 2), ("CFP-A.D", 2), ("CFP-E1.D", None), ("CFP-T2.shuffle", 2)),
    *(("ICPP-L1.shared", 3), ("ICPP-L5.d", 2), ("ICPP-L8.d", 2), ("RAP-L1.stride", 3)),
    *(("SUM-tree", 2), ("SCAN-tree", 2), ("SAT-2R2W", 2), ("MATMUL-rows", 2)),
    *(("MATMUL-HMM.tiled", 2), ("CONV-direct.UMM", 2), ("POLY-diagonals", 2), ("HIST-HMM", 2)),
    ("SPMV-ell", 2),
]


@cache
def proof_of(name, width):
    return json.loads(to_json([certificate(CLAIMS[name], width, 30)]))["proofs"][0]


def leaves(node):
    """The cases of a tree."""
    if node is None:
        return
    if "leaf" in node:
        yield node["leaf"]
    for part in node.get("parts", {}).values():
        yield from leaves(part)


def classes(made):
    """The classes of requests in parts of a row."""
    for one in made:
        yield from one.get("classes", ())
        yield from classes(one.get("made", ()))


@pytest.mark.parametrize(("name", "width"), PROVED)
def test_the_proof_verifies(name, width):
    done = verify(list(CLAIMS.values()), proof_of(name, width))
    assert done["cases"]
    assert done["requests"]
    assert done["runs"] or done["cases"] > 1
    leaf = next(leaf for one in proof_of(name, width)["domains"] for leaf in leaves(one["tree"]))
    assert leaf["launches"]


def refused(proof, words=""):
    with pytest.raises(Refused, match=words) as error:
        verify(list(CLAIMS.values()), proof)
    return str(error.value)


def numbers(value, path=()):
    """The places of numbers in a value of lists and dictionaries."""
    if isinstance(value, int):
        yield path
    elif isinstance(value, list | dict):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(one, (*path, key))


def changed(value, path, change):
    """A copy of a value with another number at a place."""
    found = copy.deepcopy(value)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = change(inner[path[-1]])
    return found
