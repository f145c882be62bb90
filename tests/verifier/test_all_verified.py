"""The proofs of all claims that can be written as data verify, but for a few."""

import pytest

from mmsim.claims import registered
from mmsim.proof.certificate import certificate, to_json
from mmsim.proof.prove import has_width
from mmsim.verifier.polynomials import Refused
from mmsim.verifier.proof import read_proofs, verify

pytestmark = pytest.mark.long
CLAIMS = registered()
EXACT = [one for one in CLAIMS if one.kind == "exact" and not one.printed and one.launches]
BEYOND = "covered|given together|stands for nothing|depends on sizes|measured - claimed"
"""The reasons why the verifier can't follow a proof."""
MOST = 15


@pytest.mark.parametrize(
    ("width", "least"), [(1, 60), (2, 100), (3, 100), (4, 100), (5, 80), (32, 40)]
)
def test_proofs_verify(width, least):
    verified, beyond = [], []
    for claim in EXACT:
        try:
            text = to_json([certificate(claim, width if has_width(claim) else None, 20)])
        except Exception:  # it isn't proved, or has no form as data
            continue
        (proof,) = read_proofs(text)
        try:
            verify(CLAIMS, proof)
        except Refused as error:
            beyond.append(str(error))
        else:
            verified.append(claim.id)
    assert [one for one in beyond if not any(part in one for part in BEYOND.split("|"))] == []
    assert len(beyond) <= MOST
    assert len(verified) >= least
