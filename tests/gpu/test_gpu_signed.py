"""Signed predictions: a measurement counts as predicted before only if the files show it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from mmsim.cli.main import main as mmsim
from mmsim.errors import MMSimError
from mmsim.gpu import experiment, signed
from mmsim.gpu.experiment import Cell, Experiment
from mmsim.gpu.record import Record
from mmsim.gpu.signed import broken, checked_seal, rules, sign
from mmsim_algorithms.gpu import cached_predictions
from mmsim_algorithms.gpu.cached_predictions import KEPT, TIMES
from mmsim_algorithms.gpu.evidence import (
    commit_with,
    in_words,
    main,
    marks,
    not_before,
    not_committed,
)
from mmsim_algorithms.gpu.kept import FOLDER, Results
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.launched import QUICK
from mmsim_algorithms.gpu.steps import digest_of
from tests.kit.cards.played import KNOWN

DIGESTS = {"gather": "aa", "scatter": "bb"}


def predictions():
    rows = [
        {"what": what, "kernel": kernel, "data": "Zipf", "predicted": 1.0, "digest": digest}
        for kernel, digest in DIGESTS.items()
        for what in (TIMES, "counts")
    ]
    return sign(Record("third-cached", {"command": "predict", "machine": "M"}, tuple(rows)))


PREDICTED = predictions()


def measured(predicted=PREDICTED, after=3600, **changed):
    """A measurement that names the prediction, some seconds after it."""
    date = datetime.fromisoformat(predicted.facts["predicted"]) + timedelta(seconds=after)
    about = {"date": date.isoformat(), "rules": rules(), "prediction": predicted.facts["seal"]}
    rows = [
        {"kernel": kernel, "data": "Zipf", "measured": 2.0, "digest": digest}
        for kernel, digest in DIGESTS.items()
    ]
    return Record("THIRD", about | changed, tuple(rows))


def test_a_signed_prediction_has_its_date_commit_version_rules_and_seal():
    assert {"predicted", "commit", "mmsim", "rules", "seal"} < set(PREDICTED.facts)
    assert datetime.fromisoformat(PREDICTED.facts["predicted"]).tzinfo is not None
    assert broken(PREDICTED) is None
    assert sign(PREDICTED).facts["rules"] == rules()


def test_it_is_intact_after_it_was_saved(tmp_path):
    file = tmp_path / "third.json"
    file.write_text(PREDICTED.to_json())
    assert Record.read(file) == PREDICTED
    assert checked_seal(file) == PREDICTED.facts["seal"]


def test_a_measurement_after_it_was_predicted_before():
    assert not_before(PREDICTED, measured()) is None
    assert [why for _, why in marks(PREDICTED, measured())] == [None, None]
    assert in_words(PREDICTED, measured()) == f"shown: signed at {PREDICTED.facts['predicted']}"


@pytest.mark.parametrize("fact", ["predicted", "commit", "mmsim", "rules", "machine"])
def test_a_changed_fact_breaks_the_seal(fact):
    changed = replace(PREDICTED, facts={**PREDICTED.facts, fact: "2020-01-01T00:00:00+00:00"})
    assert broken(changed) == "the prediction was changed after it was signed"
    assert not_before(changed, measured()) == broken(changed)


@pytest.mark.parametrize("change", [{"predicted": 2.0}, {"digest": "cc"}])
def test_a_changed_prediction_breaks_the_seal(change):
    rows = ({**PREDICTED.rows[0], **change}, *PREDICTED.rows[1:])
    changed = replace(PREDICTED, rows=rows)
    assert in_words(changed, measured()).endswith("the prediction was changed after it was signed")
    assert broken(replace(PREDICTED, rows=PREDICTED.rows[:-1])) is not None


def test_a_changed_prediction_that_is_signed_anew_is_another():
    """Its seal isn't the one that the measurement names, even if its date is put back."""
    rows = ({**PREDICTED.rows[0], "predicted": 2.0}, *PREDICTED.rows[1:])
    facts = {name: of for name, of in PREDICTED.facts.items() if name != "seal"}
    changed = Record(PREDICTED.experiment, facts, rows)
    changed = replace(changed, facts={**facts, "seal": signed.seal_of(changed)})
    assert broken(changed) is None
    assert not_before(changed, measured()) == "the measurement does not name this prediction"
    assert not_before(PREDICTED, measured(prediction=None)) is not None


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_prediction_that_is_not_older_is_later(seconds):
    why = "the prediction was signed after the measurement began"
    assert not_before(PREDICTED, measured(after=seconds)) == why
    assert {one for _, one in marks(PREDICTED, measured(after=seconds))} == {why}


def test_other_rules_count_as_another_model():
    why = "the rules were others when it was measured"
    assert not_before(PREDICTED, measured(rules="0" * 64)) == why
    without = measured()
    facts = {name: of for name, of in without.facts.items() if name != "rules"}
    assert not_before(PREDICTED, replace(without, facts=facts)) == why


def test_other_launches_or_data_are_marked_row_by_row():
    found = measured()
    rows = ({**found.rows[0], "digest": "zz"}, found.rows[1], {"kernel": "sum", "data": "ints"})
    found = replace(found, rows=rows)
    assert [why for _, why in marks(PREDICTED, found)] == [
        *("the launches or the data were others", None, "nothing was predicted of it")
    ]
    assert in_words(PREDICTED, found).startswith("not shown for 2 of 3: the launches")


def test_the_rules_digest_changes_with_any_source(monkeypatch, tmp_path):
    (tmp_path / "gpu").mkdir()
    (tmp_path / "model.py").write_text("TAGS = 1\n")
    monkeypatch.setattr(signed, "__file__", str(tmp_path / "gpu" / "signed.py"))
    before = rules()
    assert rules() == before
    (tmp_path / "model.py").write_text("TAGS = 2\n")
    after = rules()
    (tmp_path / "model.py").rename(tmp_path / "other.py")
    assert len({before, after, rules()}) == 3


def test_the_digest_of_launches_changes_with_program_size_argument_and_data():
    case = next(case for case in SETS["unseen"].cases(QUICK) if case.kernel == "axpy")
    launched = case.make()
    steps, arrays = launched.steps, dict(launched.arrays)
    (step,) = steps
    gather = next(one for one in SETS["kernels"].cases(QUICK) if one.kernel == "gather").make()
    one = next(iter(arrays))
    found = [
        digest_of(steps, arrays),
        digest_of([step, step], arrays),
        digest_of([replace(step, block_size=step.block_size // 2)], arrays),
        digest_of(steps, {**arrays, one: arrays[one] + 1}),
        digest_of(steps, {**arrays, one: arrays[one].astype(np.float64)}),
        digest_of(gather.steps, gather.arrays),
    ]
    assert len(set(found)) == len(found)
    assert digest_of(case.make().steps, case.make().arrays) == found[0]


def quick_tasks(which, sides=()):
    """The times of two small kernels."""
    small = [case for case in SETS[which].cases(QUICK) if case.kernel in DIGESTS]
    for case in small[:2]:
        launched = case.make()
        made = (launched.steps, launched.arrays)
        group = cached_predictions.Group({**case.about, "side": QUICK}, lambda made=made: made)
        yield cached_predictions.Task(TIMES, group)


@pytest.fixture
def two(monkeypatch):
    """Predictions are of two kernels, and take no time."""
    monkeypatch.setattr(cached_predictions, "tasks", quick_tasks)
    monkeypatch.setattr(
        cached_predictions.Machines, "timed", lambda machines, steps, arrays: (1.5, "tags")
    )


def test_predicting_writes_a_signed_file_and_continues_it(two, tmp_path, monkeypatch, capsys):
    file = tmp_path / "third.json"
    cached_predictions.main(["third", str(file)])
    record = Record.read(file)
    assert broken(record) is None
    assert [row["predicted"] for row in record.rows] == [1.5, 1.5]
    case = next(iter(quick_tasks("third"))).group.make()
    assert record.rows[0]["digest"] == digest_of(*case)
    cached_predictions.main(["third", str(file)])
    assert Record.read(file) == record
    monkeypatch.setattr(signed, "rules", lambda: "other")
    with pytest.raises(SystemExit, match="was made with another machine"):
        cached_predictions.main(["third", str(file)])
    file.write_text(file.read_text().replace("1.5", "1.6"))
    with pytest.raises(SystemExit, match="was changed after it was signed; remove it first"):
        cached_predictions.main(["third", str(file)])


@pytest.fixture
def at_hand(monkeypatch):
    """A GPU that measures two times of an experiment ONE, an hour from now."""
    date = (datetime.fromisoformat(PREDICTED.facts["predicted"]) + timedelta(hours=1)).isoformat()
    found = {"device": "A GPU", "date": date, "rules": rules()}
    monkeypatch.setattr(signed, "facts", lambda command: {**found, "command": command})
    monkeypatch.setattr("mmsim.gpu.calibrate", lambda say: KNOWN)
    cells = [
        Cell(
            {"kernel": kernel, "data": "Zipf"},
            lambda digest=digest: {"measured": 2.0, "digest": digest},
            dict,
        )
        for kernel, digest in DIGESTS.items()
    ]
    one = {"ONE": Experiment("ONE", "Kernels", "ms", lambda given: iter(cells))}
    monkeypatch.setattr(experiment, "registered_experiments", lambda: one)


def test_a_measurement_names_the_prediction(at_hand, tmp_path, capsys):
    predicted, file = tmp_path / "predicted.json", tmp_path / "measured.json"
    predicted.write_text(PREDICTED.to_json())
    words = ["gpu", "reproduce", "ONE", "--measure-only", "--json", str(file)]
    assert mmsim([*words, "--predicted", str(predicted)]) == 0
    record = Record.read(file)
    assert record.facts["prediction"] == PREDICTED.facts["seal"]
    assert not_before(PREDICTED, record) is None
    assert mmsim(words) == 0
    assert "prediction" not in Record.read(file).facts
    capsys.readouterr()
    predicted.write_text(PREDICTED.to_json().replace("Zipf", "zipf"))
    assert mmsim([*words, "--predicted", str(predicted)]) == 2
    assert "was changed after it was signed; predict again" in " ".join(
        capsys.readouterr().err.split()
    )


def test_predictions_by_other_rules_are_refused_before_the_measurement(monkeypatch, tmp_path):
    file = tmp_path / "predicted.json"
    file.write_text(PREDICTED.to_json())
    monkeypatch.setattr(signed, "rules", lambda: "other")
    with pytest.raises(MMSimError, match="the rules have changed since the prediction was signed"):
        checked_seal(file)


def git(folder, *words, **when):
    about = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *about, *words], cwd=folder, check=True, capture_output=True, **when)


@pytest.fixture
def repository(tmp_path):
    """A repository that has the prediction in its second commit, and moved it in the third."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "third.json").write_text("{}\n")
    for words in ("before", "predict"):
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", words)
        (folder / "third.json").write_text(PREDICTED.to_json())
    (folder / "first").mkdir()
    git(folder, "mv", "third.json", "first/third.json")
    git(folder, "commit", "-qm", "move")
    return folder


def test_the_first_commit_with_a_prediction_is_found(repository):
    log = ["git", "log", "--format=%H", "--reverse"]
    commits = subprocess.run(log, cwd=repository, capture_output=True, text=True).stdout.split()
    commit, date = commit_with(repository / "first", PREDICTED.facts["seal"])
    assert commit == commits[1]
    assert date.tzinfo is not None
    assert commit_with(repository, "no such text") is None
    assert commit_with(repository / "nowhere", "text") is None


def test_the_comparison_says_which_rows_were_predicted_and_committed(repository, tmp_path, capsys):
    file, other = repository / "first" / "third.json", tmp_path / "THIRD.json"
    other.write_text(measured().to_json())
    assert main([str(file), str(other)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "gather (Zipf): predicted before",
        "scatter (Zipf): predicted before",
        "the prediction was committed before the measurement",
    ]
    other.write_text(measured(after=-9).to_json())
    assert main([str(file), str(other)]) == 1
    printed = capsys.readouterr().out
    assert printed.count("signed after the measurement began") == 2
    assert "too late" in printed
    outside = tmp_path / "copy.json"
    outside.write_text(PREDICTED.to_json())
    other.write_text(measured().to_json())
    assert main([str(outside), str(other)]) == 1
    assert "no commit has this prediction" in capsys.readouterr().out


def test_old_files_are_compared_too(capsys):
    assert main([str(KEPT / "first" / "third.json"), str(FOLDER / "THIRD.json")]) == 1
    assert capsys.readouterr().out.count("the prediction is not signed") == 16


def test_what_the_page_calls_shown_is_in_an_older_commit():
    """No set is yet; from the first on, this holds it to the repository's commits."""
    results = Results.read()
    for folder in (KEPT / "first", KEPT):
        for which, one in SETS.items():
            predicted, record = Record.read(folder / f"{which}.json"), results[one.experiment]
            if in_words(predicted, record).startswith("shown"):
                assert not_committed(predicted, record, Path(folder)) is None
