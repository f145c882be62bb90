"""Claims as objects, and what verification says about right and wrong ones."""

import io
import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from rich.console import Console

import mmsim as mm
from mmsim.claims import (
    CaseResult,
    Claim,
    ClaimError,
    Precondition,
    ceiling,
    choose,
    correct,
    floor,
    gcd,
    log2,
    maximum,
    minimum,
    root,
    verify_claim,
)
from mmsim.claims.registry import unique
from mmsim.claims.verify import (
    fingerprint,
    from_json,
    provenance,
    provenance_from_json,
    to_json,
)
from mmsim.errors import RoomError
from mmsim.proof.prove import ClaimProof
from mmsim.reports.verdicts import summary, verdicts_page, verdicts_table, with_proofs
from mmsim_algorithms.reports.ledger import page_of


@mm.program
def read(T, a):
    a[T.id]


@mm.program
def read_in_turn(T, a):
    """Slower in asynchronous time never happens here; it is used to build a wrong claim."""
    if T.warp == 0:
        a[T.id]
    else:
        a[T.id]


def run_read(schedule, n, w, l):
    return mm.DMM(w, l).run(read, np.zeros(n), threads=n, schedule=schedule)


def grid():
    return [{"n": 2 * w, "w": w, "l": l} for w in (2, 3) for l in (1, 4)]


def claim(**changes):
    facts = {
        "id": "X-1",
        "source": "a paper",
        "title": "reading",
        "formula": lambda n, w, l: n / w + l - 1,
        "kind": "exact",
        "grid": grid,
        "run": run_read,
    }
    return Claim(**{**facts, **changes})


def test_a_right_exact_claim_holds_and_reports_its_largest_case():
    verdict = verify_claim(claim())
    assert (verdict.result, verdict.cases, verdict.reason) == ("holds", 4, "")
    assert verdict.worst.measured == 5  # n/w + l - 1 = 2 + 4 - 1
    assert verdict.good


@pytest.mark.parametrize("off", [1, -1, sympy.Rational(1, 3)])
def test_an_exact_claim_off_by_anything_fails(off):
    verdict = verify_claim(claim(formula=lambda n, w, l: n / w + l - 1 + off))
    assert verdict.result == "fails"
    assert not verdict.good
    assert "claimed" in verdict.reason


def test_an_exact_claim_wrong_in_one_case_fails_with_that_case():
    verdict = verify_claim(claim(formula=lambda n, w, l: n / w + maximum(l, 2) - 1))
    assert verdict.result == "fails"
    assert verdict.worst.case["l"] == 1


def test_a_misprint_is_refuted_with_its_counterexample():
    verdict = verify_claim(claim(printed=True, formula=lambda n, w, l: n / w + l))
    assert (verdict.result, verdict.good) == ("refuted", True)
    assert verdict.reason == "n=4, w=2, l=4: 5, claimed 6"


def test_a_verdict_is_printed_in_three_lines():
    assert str(verify_claim(claim())) == (
        "X-1, reading (a paper): holds in 4 cases\n"
        "claimed: T = l + n/w - 1\n"
        "largest case: n=4, w=2, l=4: 5, claimed 5"
    )
    bound = verify_claim(claim(kind="upper", formula=lambda n, w, l: n / w + l))
    assert "\nclaimed: T <= l + n/w\nnearest to the bound: n=" in repr(bound)
    misprint = verify_claim(claim(printed=True, formula=lambda n, w, l: n / w + l))
    assert str(misprint).endswith("\nn=4, w=2, l=4: 5, claimed 6")
    assert str(replace(misprint, left_out="n=8: no room")).endswith("\nleft out: n=8: no room")


def test_a_misprint_that_is_right_in_part_says_where():
    fast = Precondition("l = 1", lambda l: l == 1)
    wrong = claim(printed=True, formula=lambda n, w: n / w, only=fast)
    verdict = verify_claim(wrong)
    assert (verdict.result, verdict.outcome, verdict.good) == (
        "holds in part",
        "holds for l = 1",
        True,
    )
    assert verify_claim(replace(wrong, formula=lambda n, w, l: n / w + l - 1)).good is False
    never = verify_claim(replace(wrong, formula=lambda n, w: n / w + 1))
    assert never.result == "not refuted"
    assert never.reason.startswith("it does not hold for l = 1 either")


def test_claims_that_show_one_misprint_count_once():
    two = [claim(id=f"X-{n}", printed=True, misprint="slip", formula=lambda n: n) for n in (1, 2)]
    assert "and 1 misprint is confirmed" in summary([verify_claim(one) for one in two])
    with pytest.raises(ClaimError, match="misprint and only are for printed=True"):
        claim(misprint="slip")


def test_a_misprint_that_hangs_on_a_scan_says_so():
    verdict = verify_claim(claim(printed=True, scan=True, formula=lambda n: n))
    assert verdict.outcome == "refuted, as read in a scan"


def test_a_bound_shows_its_slack():
    upper = verify_claim(claim(kind="upper", constant=3, formula=lambda n, w, l: n / w + l - 1))
    assert (upper.slack, upper.outcome) == (3, "bound, slack 3")
    lower = verify_claim(claim(kind="lower", formula=lambda n, w: n / w))
    assert (lower.slack, lower.outcome) == (1, "bound, slack 1")
    assert verify_claim(claim()).slack is None


def reading_when_asynchronous(words):
    """A run that reads so many words of n and w under the asynchronous schedule, else n."""
    return lambda schedule, n, w, l: run_read(
        schedule, n if schedule == "synchronous" else words(n, w), w, l
    )


FASTER = reading_when_asynchronous(lambda n, w: w)


def test_the_slack_of_a_lower_bound_is_that_of_the_faster_schedule():
    verdict = verify_claim(claim(kind="lower", formula=lambda l: l, run=FASTER))
    assert verdict.slack == 1
    assert str(verdict.worst) == "n=4, w=2, l=4: 4 asynchronously, claimed 4"


def test_a_misprint_that_holds_is_not_refuted():
    verdict = verify_claim(claim(printed=True))
    assert (verdict.result, verdict.good) == ("not refuted", False)


def test_upper_claims_use_their_constant():
    def half(n, w, l):
        return (n / w + l - 1) / 2

    assert verify_claim(claim(kind="upper", formula=half, constant=2)).result == "holds"
    assert verify_claim(claim(kind="upper", formula=half, constant=1)).result == "fails"


def test_the_worst_case_of_a_bound_is_the_tightest():
    verdict = verify_claim(claim(kind="upper", formula=lambda n, w, l: n / w + l))
    assert verdict.worst.ratio == Fraction(5, 6)


def test_lower_claims_hold_from_below_under_both_schedules():
    assert verify_claim(claim(kind="lower", formula=lambda l: l)).result == "holds"
    assert verify_claim(claim(kind="lower", formula=lambda l: l + 2)).result == "fails"
    below = claim(kind="lower", formula=lambda n, w, l: n / w + l - 1, run=FASTER)
    assert verify_claim(below).result == "fails"


def stages(run):
    return run.stages


def test_a_lower_bound_on_stages_is_held_to_the_stages_of_both_schedules():
    """The asynchronous run has half the stages, and more time than the bound asks of stages."""
    fewer = reading_when_asynchronous(lambda n, w: n // 2)
    below = claim(kind="lower", formula=lambda n, w: n / w, measure=stages, quantity="S", run=fewer)
    verdict = verify_claim(replace(below, grid=lambda: [{"n": 8, "w": 2, "l": 30}]))
    assert verdict.result == "fails"
    assert verdict.reason == "n=8, w=2, l=30: 2 asynchronously, claimed 4"
    assert (verdict.worst.measured, verdict.worst.asynchronous_time) == (2, 31)


def test_a_lower_bound_on_stages_may_be_more_than_the_time():
    many = claim(kind="lower", formula=lambda n: 100 * n, measure=lambda run: 100 * run.threads)
    verdict = verify_claim(many)
    assert verdict.result == "holds"
    assert verdict.worst.asynchronous_measured == verdict.worst.measured
    assert verdict.worst.asynchronous_time < verdict.worst.measured


def test_only_a_lower_bound_measures_the_asynchronous_run():
    def measure(run):
        assert run.schedule == "synchronous"
        return run.time

    for kind in ("exact", "upper"):
        verdict = verify_claim(claim(kind=kind, measure=measure))
        assert verdict.result == "holds"
        assert verdict.worst.asynchronous_measured is None
    with pytest.raises(AssertionError):
        verify_claim(claim(kind="lower", measure=measure))


def test_an_asynchronous_run_that_takes_longer_fails_the_claim():
    verdict = verify_claim(claim(run=reading_when_asynchronous(lambda n, w: 2 * n)))
    assert verdict.result == "fails"
    assert "more than" in verdict.reason


def test_a_case_that_breaks_a_precondition_is_refused():
    wrong = claim(requires=(Precondition("w is even", lambda w: w % 2 == 0),))
    with pytest.raises(ClaimError, match="X-1: the case n=6, w=3, l=1 breaks 'w is even'"):
        verify_claim(wrong)


@pytest.mark.parametrize("where", ["grid", "own"])
def test_a_case_that_is_there_twice_is_refused(where):
    cases = [{"n": 4, "w": 2, "l": 1}, {"n": 4, "w": 2, "l": 2}]
    again = [*cases, {"l": 1, "n": 4, "w": 2}]  # in another order it is the same case
    assert verify_claim(claim(grid=lambda: cases)).result == "holds"
    wrong = claim(**{where: lambda: again})
    with pytest.raises(ClaimError, match="X-1: the case l=1, n=4, w=2 occurs twice"):
        verify_claim(wrong)


def test_an_empty_grid_and_an_impossible_value_are_refused():
    with pytest.raises(ClaimError, match="no case"):
        verify_claim(claim(grid=list))
    with pytest.raises(ClaimError, match="not a positive number"):
        verify_claim(claim(formula=lambda n: root(n + 1)))


def test_correct_compares_arrays():
    run = run_read("synchronous", 4, 2, 1)
    assert correct(run, a=np.zeros(4)) is run
    with pytest.raises(ClaimError, match="wrong result in 'a'"):
        correct(run, a=np.ones(4))


def test_statements_are_sympy_and_print():
    stated = claim(
        kind="upper", constant=3, formula=lambda n, p, w: minimum(n / p, w) + gcd(root(n), w)
    ).statement
    assert isinstance(stated, sympy.LessThan)
    assert str(stated.rhs) == "3*(gcd(sqrt(n), w) + Min(w, n/p))"
    assert r"\gcd(\sqrt{n}, w)" in sympy.latex(stated)
    assert isinstance(claim().statement, sympy.Equality)
    assert isinstance(claim(kind="lower").statement, sympy.GreaterThan)


def test_formulas_are_exact():
    exact = claim(formula=lambda n, w: gcd(n, w) + ceiling(n / w) + maximum(n, w) + root(n))
    assert exact.evaluate({"n": 9, "w": 6}) == 3 + 2 + 9 + 3
    assert claim(formula=lambda n, w: n / w).evaluate({"n": 1, "w": 3}) == sympy.Rational(1, 3)


def test_a_logarithm_is_printed_as_it_is_written_and_exact_for_powers_of_two():
    stated = claim(formula=lambda n, w: n / w + log2(n) * log2(log2(w)))
    assert stated.text == "T = n/w + log2(n)*log2(log2(w))"
    assert r"\log_2 {\left(n \right)}" in sympy.latex(stated.statement)
    squared = claim(formula=lambda n: log2(n) ** 2).statement
    assert r"\log_2^{2} {\left(n \right)}" in sympy.latex(squared)
    assert stated.evaluate({"n": 2**40, "w": 16}) == 2**36 + 40 * 2
    up, down = ceiling(log2(9)), floor(log2(9))
    assert (up, down, ceiling(log2(8)), floor(log2(8))) == (4, 3, 3, 3)
    assert ceiling(log2(2**200 + 1)) == 201
    assert claim(formula=lambda n, w: ceiling(log2(n) / log2(w))).evaluate({"n": 9, "w": 4}) == 2
    with pytest.raises(ClaimError, match="not a positive number"):
        verify_claim(claim(formula=lambda n: log2(n + 1)))


def test_choosing_claims_by_id():
    claims = [claim(id="A-1"), claim(id="A-1.printed"), claim(id="A-10")]
    assert [one.id for one in choose(claims, ["A-1"])] == ["A-1", "A-1.printed"]
    assert [one.id for one in choose(claims, ["A-10", "A-1.printed"])] == ["A-1.printed", "A-10"]
    more = [*claims, claim(id="B-1", source="B, Lemma 1")]
    assert [one.id for one in choose(more, ["B"])] == ["B-1"]
    with pytest.raises(ClaimError, match="no claim has the id 'x'; the papers are a paper, B"):
        choose(more, ["x"])
    with pytest.raises(ClaimError, match="no claim has the id 'A-11'; did you mean"):
        choose(claims, ["A-11"])


def test_two_claims_of_one_id_are_refused():
    with pytest.raises(ClaimError, match="two claims of one id: 'X-1'"):
        unique([claim(), claim()])


def test_progress_is_reported_before_and_after_each_case():
    seen = []
    verify_claim(claim(), lambda one, done, cases: seen.append((one.id, done, cases)))
    assert seen == [("X-1", done, 4) for done in range(5)]


def own_size():
    return [{"n": 4096, "w": 32, "l": 100}]


def test_cases_of_the_own_size_follow_the_grid():
    verdict = verify_claim(claim(own=own_size))
    assert (verdict.result, verdict.cases) == ("holds", 5)
    assert [one.case for one in verdict.own] == own_size()
    assert (verdict.own[0].measured, verdict.left_out) == (227, "")  # n/w + l - 1
    without = verify_claim(claim(own=own_size), own_size=False)
    assert (without.cases, without.own) == (4, ())
    assert claim(own=own_size).has_own_size
    assert not claim().has_own_size


def test_a_claim_that_is_wrong_at_its_own_size_fails_there():
    verdict = verify_claim(claim(own=own_size, formula=lambda n, w, l: n / w + minimum(l, 99) - 1))
    assert verdict.result == "fails"
    assert verdict.reason == "n=4096, w=32, l=100: 227, claimed 226"


def test_the_own_size_must_meet_the_preconditions():
    wrong = claim(own=own_size, requires=(Precondition("w < 32", lambda w: w < 32),))
    assert verify_claim(wrong, own_size=False).good
    with pytest.raises(ClaimError, match="X-1: the case n=4096, w=32, l=100 breaks 'w < 32'"):
        verify_claim(wrong)


def test_what_finds_no_room_at_its_own_size_is_left_out():
    def cramped(schedule, n, w, l):
        if n > 100:
            raise RoomError("that needs about 5.0 GiB")
        return run_read(schedule, n, w, l)

    verdict = verify_claim(claim(own=own_size, run=cramped))
    assert (verdict.good, verdict.cases, verdict.own) == (True, 4, ())
    assert verdict.left_out == "n=4096, w=32, l=100: that needs about 5.0 GiB"
    assert "left out at its own size for want of memory: X-1" in summary([verdict])
    assert "own size left out: n=4096" in verdicts_page([verdict])
    assert "own size left out: n=4096" in printed(verdicts_table([verdict]))
    with pytest.raises(RoomError):
        verify_claim(claim(grid=own_size, run=cramped))


def printed(table):
    console = Console(width=400, file=io.StringIO())
    console.print(table)
    return console.file.getvalue()


def test_the_own_size_is_shown():
    verdict = verify_claim(claim(own=lambda: [*own_size(), {"n": 64, "w": 32, "l": 1}]))
    line = "own size: n=4096, w=32, l=100: 227, claimed 227 (and 1 more)"
    assert line in printed(verdicts_table([verdict]))
    assert line in verdicts_page([verdict])
    assert summary([verdict]).endswith("6 cases on both schedules, 2 of them of a paper's own size")
    (saved,) = json.loads(to_json([verdict]))["verdicts"]
    assert [one["measured"] for one in saved["own"]] == [227, 2]
    claims = [claim(own=own_size), claim(id="X-2"), claim(id="X-3", formula=lambda n: n)]
    page = page_of(provenance(claims), [verify_claim(one) for one in claims])
    assert "| 4 | 0 | n=4096, w=32, l=100 | holds |" in page
    assert "| 4 | 0 |  | holds |" in page
    assert re.search(r"\| 4 \| 0 \|  \| fails: .*claimed \d+ \|", page)


def test_a_long_fraction_is_shown_rounded():
    third = CaseResult({"n": 2}, 6, "19/3", 6, 6)
    assert str(third) == "n=2: 6, claimed 19/3"
    long = CaseResult({"n": 2}, 6, str(Fraction(19 * 10**30 + 1, 3 * 10**30)), 6, 6)
    assert str(long) == "n=2: 6, claimed about 6.33333"


def test_verdicts_as_json_and_as_a_page():
    verdicts = [
        verify_claim(claim(title="<script>alert(1)</script>")),
        verify_claim(claim(id="X-2", printed=True, formula=lambda n: n)),
        verify_claim(claim(id="X-3", kind="lower", formula=lambda n: 9 * n)),
    ]
    document = json.loads(to_json(verdicts))
    assert from_json(to_json(verdicts)) == verdicts
    assert [one["result"] for one in document["verdicts"]] == ["holds", "refuted", "fails"]
    assert document["verdicts"][0]["worst"]["measured"] == 5
    page = verdicts_page(verdicts)
    assert "<script>alert" not in page
    assert "<math" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert summary(verdicts) == (
        "1 exact claim and 0 bounds hold and 1 misprint is confirmed, over 12 cases on both "
        "schedules; wrong: X-3"
    )
    assert verdicts_table(verdicts).row_count == 3


def test_a_verdict_says_what_is_proved_unless_the_claim_fails():
    proofs = {"X-1": ClaimProof("X-1", 4, [1, 2, 4], [1, 2, 3, 4], shown="<b>Case 1")}
    good, bad = verify_claim(claim()), verify_claim(claim(formula=lambda n: n))
    known, other = with_proofs([good, bad], proofs)
    assert known.extent == "proved for w = 1, 2, 4; checked on 4 cases"
    assert other.extent == good.extent == "checked on 4 cases"
    assert with_proofs([replace(good, id="X-2")], proofs)[0].proof == ""
    assert "checked on 4 cases" in printed(verdicts_table([known]))
    assert json.loads(to_json([known]))["verdicts"][0]["proof"] == "proved for w = 1, 2, 4"
    page = verdicts_page([known], proofs=proofs)
    assert '<a href="#proof-X-1">proved for w = 1, 2, 4</a>; checked on 4 cases' in page
    assert "<pre>&lt;b&gt;Case 1</pre>" in page
    assert "<details" not in verdicts_page([other], proofs=proofs)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "X-2"},
        {"formula": lambda n, w, l: n / w + l},
        {"requires": (Precondition("w divides n", lambda n, w: n % w == 0),)},
        {"printed": True},
        {"grid": lambda: grid()[:-1]},
        {"grid": lambda: [*grid()[:-1], {**grid()[-1], "l": 9}]},
    ],
)
def test_a_fingerprint_changes_with_what_is_claimed_and_where(changes):
    assert fingerprint([claim()]) == fingerprint([claim()])
    assert fingerprint([claim()]) != fingerprint([claim(**changes)])
    assert fingerprint([claim(), claim(**changes)]) != fingerprint([claim(**changes), claim()])


def test_verdicts_say_what_they_were_made_of():
    made = provenance([claim()])
    document = json.loads(to_json([verify_claim(claim())], made))
    assert document["made"] == vars(made)
    assert provenance_from_json(to_json([verify_claim(claim())], made)) == made
    assert made.claims == fingerprint([claim()])
    assert to_json([verify_claim(claim())], made).count("\n") == 3  # a line for each verdict
