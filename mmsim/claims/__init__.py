"""Claims of the papers: objects that can be read, evaluated and checked."""

from mmsim.claims.cases import CaseRow, CaseRows
from mmsim.claims.claim import (
    Case,
    Claim,
    ClaimError,
    Growth,
    Precondition,
    Relation,
    ceiling,
    correct,
    cube_root,
    floor,
    gcd,
    log2,
    maximum,
    minimum,
    named,
    root,
    within,
)
from mmsim.claims.contents import PrintedItem
from mmsim.claims.drawing import Drawing
from mmsim.claims.fit import Fit, FitError, fit
from mmsim.claims.registry import choose, registered
from mmsim.claims.table import Figure, PaperTable
from mmsim.claims.verify import CaseResult, Verdict, verify, verify_claim
from mmsim.results.curve import Curve, Series

__all__ = [
    "Case",
    "CaseResult",
    "CaseRow",
    "CaseRows",
    "Claim",
    "ClaimError",
    "Curve",
    "Drawing",
    "Figure",
    "Fit",
    "FitError",
    "Growth",
    "PaperTable",
    "Precondition",
    "PrintedItem",
    "Relation",
    "Series",
    "Verdict",
    "ceiling",
    "choose",
    "correct",
    "cube_root",
    "fit",
    "floor",
    "gcd",
    "log2",
    "maximum",
    "minimum",
    "named",
    "registered",
    "root",
    "verify",
    "verify_claim",
    "within",
]
