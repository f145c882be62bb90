"""The proofs of all claims that can be written as data verify."""

import json

import pytest

from mmsim.claims import registered
from mmsim.proof.certificate import certificate, to_json
from mmsim.proof.prove import has_width
from mmsim.verifier.polynomials import Refused
from mmsim.verifier.proof import read_proofs, verify

pytestmark = pytest.mark.long
CLAIMS = registered()
EXACT = [one for one in CLAIMS if one.kind == "exact" and not one.printed and one.launches]
BEYOND = {
    "CFP-F7.D": "stages of shared memories that are given together",
    "CFP-T2.bit-reversal": "any 0 stands for nothing",
    "ICPP-L4.bit-reversal": "any 0 stands for nothing",
    "ICPP-L4.bit-reversal.inverse": "any 0 stands for nothing",
}
"""The claims whose proofs the verifier can't follow, with its reason."""


@pytest.mark.parametrize(
    ("width", "least"), [(1, 90), (2, 90), (3, 90), (4, 90), (5, 90), (32, 60)]
)
def test_proofs_verify(width, least):
    verified = []
    for claim in EXACT:
        try:
            own = width if has_width(claim) else None
            text = to_json([certificate(claim, own, 20)])
        except Exception:  # it isn't proved, or has no form as data
            continue
        (proof,) = read_proofs(text)
        assert json.loads(text)["proofs"] == [proof]
        if claim.id in BEYOND:
            with pytest.raises(Refused, match=BEYOND[claim.id]):
                verify(CLAIMS, proof)
        else:
            verify(CLAIMS, proof)
            verified.append(claim.id)
    assert len(verified) >= least
