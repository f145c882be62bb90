"""The lemmas of the proofs hold of the machines, and another rule of a machine contradicts one."""

import random
from itertools import product

import pytest

from mmsim.cli.main import main
from mmsim.model import conflicts, rounds
from mmsim.verifier import lemmas
from mmsim.verifier.requests import counted


def test_the_lemmas_hold():
    assert list(lemmas.disagreements()) == []


def test_the_lemmas_hold_of_larger_requests():
    chosen = random.Random(5)
    for width, lanes in product((4, 7, 32), range(1, 33, 5)):
        for spread in (width, 3 * width, 40 * width):
            words = [chosen.randrange(spread) for _ in range(min(lanes, width))]
            assert list(lemmas.of_request(width, words)) == []
    for width in (4, 8):
        indices = [chosen.choice([-1, chosen.randrange(10)]) for _ in range(6 * width)]
        assert list(lemmas.of_rounds(width, 5, indices)) == []
        assert list(lemmas.of_blocks(width, 3, indices)) == []


def test_a_common_number_changes_nothing_on_banks():
    for width, words in product((2, 3), product(range(5), repeat=3)):
        for atomic in (False, True):
            stages = {
                counted("banks", [divmod(word + more, width) for word in words], atomic)
                for more in range(2 * width)
            }
            assert len(stages) == 1


def one(*_):
    return 1


RULES = [
    (conflicts.Banks, "stages", one, "L1"),
    (conflicts.Banks, "stages", lambda self, words, lanes=None: len(set(words)), "L1"),
    (conflicts.Groups, "stages", one, "L2"),
    (conflicts.Groups, "stages", lambda self, words, lanes=None: len(words), "L2"),
    (conflicts.Groups, "stage_of", lambda self, words, lanes=None: range(len(words)), "L2"),
    (conflicts.Banks, "of_atomics", lambda self: self, "L3"),
    (conflicts.Groups, "of_atomics", lambda self: self, "L3"),
    (rounds, "completion", lambda start, stages, latency: start + stages + latency, "L4"),
    (rounds, "completion", lambda start, stages, latency: start + stages, "L4"),
]


@pytest.mark.parametrize(("owner", "name", "rule", "lemma"), RULES)
def test_another_rule_contradicts_a_lemma(monkeypatch, owner, name, rule, lemma):
    monkeypatch.setattr(owner, name, rule)
    assert {said[:2] for said in lemmas.disagreements((2, 3))} & {lemma}


def test_no_proof_is_made_if_a_machine_contradicts_a_lemma(monkeypatch, capsys):
    monkeypatch.setattr(conflicts.Banks, "stages", one)
    assert main(["prove", "SMM-ROT", "--widths", "2"]) == 2
    said = capsys.readouterr().err
    assert (
        "the machines contradict a lemma of the proofs, so nothing is proved: L1: 2 stages" in said
    )
