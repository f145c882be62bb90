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
BEYOND = {
    "CFP-F7.D": "given together",
    "CFP-T2.bit-reversal": "stands for nothing",
    "FFT-in-place": "stands for nothing",
    "FFT-stockham": "measured - claimed",
    "ICPP-L4.bit-reversal": "stands for nothing",
    "ICPP-L4.bit-reversal.inverse": "stands for nothing",
    "IEICE-2.bit-reversal": "stands for nothing",
    "LIST-positions": "stages are",
    "SORT-bitonic": "depends on sizes",
    "STENCIL-HMM.global": "may be the same",
    "STENCIL-columns": "isn't covered",
    "STENCIL-rows.UMM": "may be the same",
}
"""The claims whose proofs the verifier can't follow, and its reasons."""


@pytest.mark.parametrize(
    ("width", "claims", "least"),
    [
        *((1, EXACT, 140), (2, EXACT, 120), (3, EXACT, 140), (4, EXACT, 110), (5, EXACT, 130)),
        *((32, EXACT[part::8], 8) for part in range(8)),
    ],
)
def test_proofs_verify(width, claims, least):
    verified, wrong = [], []
    for claim in claims:
        try:
            text = to_json([certificate(claim, width if has_width(claim) else None, 20)])
        except Exception:  # it isn't proved, or has no form as data
            continue
        (proof,) = read_proofs(text)
        try:
            verify(CLAIMS, proof)
        except Refused as error:
            if BEYOND.get(claim.id, "no reason") not in str(error):
                wrong.append(str(error))
        else:
            verified.append(claim.id)
    assert wrong == []
    assert len(verified) >= least
