"""A short fuzz of the front end and of the readers, and what longer ones found.

`make fuzz` tries 100,000 programs and 20,000 documents; `docs/fuzzing.md` says what with.
"""

import ast
import functools
import json
import os
import signal
import warnings
from random import Random

import numpy as np
import pytest

import mmsim as mm
from mmsim.cli.loading import CommandError
from mmsim.cli.values import parse_argument
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.errors import AddressError, FormatError, LaunchError, RoomError, UnassignedError, shown
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record
from tests.kit.fuzzing import documents, workers
from tests.kit.fuzzing.corpus import Original, of_docs
from tests.kit.fuzzing.documents import (
    make_document,
    printed,
    readers,
    replace_everywhere,
    try_document,
)
from tests.kit.fuzzing.grammar import fields, kinds
from tests.kit.fuzzing.programs import make_program
from tests.kit.fuzzing.surroundings import TOUCHED, Trap, define
from tests.kit.fuzzing.trees import MUTATIONS as TREE_MUTATIONS
from tests.kit.fuzzing.trial import Finding, check_refusal, try_program
from tests.kit.runs.paths import run_along
from tests.kit.tools import fuzz

SEED = 7
PROGRAMS = 250
DOCUMENTS = 300


@functools.cache
def originals():
    """The docs' programs, and one with a loop, registers and a helper."""
    text = (
        "def plus(x, y=1):\n    return x + y\n\n"
        "@mm.program\ndef f(T, a, b, n):\n    r = mm.registers(2, int)\n"
        "    for k in range(n):\n        r[k % 2] = plus(a[T.id], k)\n"
        "    T.barrier()\n    b[T.id] = r[0] if T.id else r[1]\n"
    )
    return [*of_docs(), Original(text, {})]


# ------------------------------------------------------------ short runs


def test_mutated_programs_are_refused_with_a_line_or_run_the_same_everywhere():
    verdicts = {"refused": 0, "accepted": 0}
    for number in range(PROGRAMS):
        outcome = workers.trial(SEED, "program", number, originals())
        assert not outcome.finding, f"{outcome.finding}\n{outcome.text}"
        if outcome.verdict in verdicts:
            verdicts[outcome.verdict] += 1
    assert min(verdicts.values()) > PROGRAMS / 20  # else this tries nothing


def test_damaged_documents_are_refused_by_their_readers():
    verdicts = {"refused": 0, "read": 0}
    for number in range(DOCUMENTS):
        outcome = workers.trial(SEED, "document", number, [])
        assert not outcome.finding, f"{outcome.finding}\n{outcome.text!r}"
        verdicts[outcome.verdict] += 1
    assert min(verdicts.values()) > DOCUMENTS / 20


@pytest.mark.parametrize("name", list(readers()))
def test_the_documents_are_read_before_they_are_damaged(name):
    for data in readers()[name].originals:
        assert try_document(name, data).kind == "read"


@pytest.mark.parametrize("name", ["\x1b[31m", "\ud800", "=1", "$\\frac{$", "</script>"])
def test_a_result_with_odd_names_is_read_and_used(name):
    for kind, number in (("result", 1), ("report", 1)):
        document = json.loads(readers()[kind].originals[number])
        for old in ("mixed", "a", "s"):
            replace_everywhere(document, old, old + name)
        assert try_document(kind, json.dumps(document).encode()).kind == "read"


def test_text_that_steers_a_terminal_is_a_finding():
    printed("one line\nand another")
    with pytest.raises(Finding, match="this does not print"):
        printed("one line\nand \x1b[31m")


def test_a_use_that_fails_is_a_finding_and_one_that_is_refused_is_none(monkeypatch):
    data = readers()["result"].originals[1]
    figures = [lambda: broken()]
    monkeypatch.setattr(documents, "figures_of", lambda run: figures)
    with pytest.raises(RuntimeError, match="broken"):
        try_document("result", data)
    figures[:] = [lambda: mm.figures.pipeline(mm.Run.from_json(data.decode()), start=10**6)]
    assert try_document("result", data).kind == "read"


def test_the_originals_are_accepted_before_they_are_changed():
    for original in originals():
        assert try_program(original.text, original.numbers, Random(0)).kind == "accepted"


def test_the_same_seed_gives_the_same():
    for number in range(20):
        assert make_program(3, number, originals()) == make_program(3, number, originals())
        assert make_document(3, number) == make_document(3, number)


# ------------------------------------------------------------ the fuzzer itself


def test_the_grammar_knows_every_kind_of_statement_and_expression():
    assert {ast.Match, ast.TryStar, ast.AsyncWith, ast.Global} <= set(kinds("stmt"))
    assert {ast.NamedExpr, ast.Lambda, ast.JoinedStr, ast.Await} <= set(kinds("expr"))
    assert fields(ast.BinOp) == (
        ("expr", "", "left"),
        ("operator", "", "op"),
        ("expr", "", "right"),
    )


def test_every_mutation_of_trees_is_made():
    made = {make_program(0, number, originals())[0] for number in range(600)}
    assert {f"tree: {name.replace('_', ' ')}" for name in TREE_MUTATIONS} <= made


def test_nothing_in_a_mutated_text_runs(tmp_path):
    mark = tmp_path / "ran"
    run = f"open({str(mark)!r}, 'w').close()"
    text = (
        f"{run}\n"
        f"class C:\n    {run}\n"
        f"@({run} or mm.program)\n"
        f"def f(T, a: {run}, n=({run} or 1), *, k=({run})) -> {run}:\n"
        f"    {run}\n"
    )
    assert define(text, {}) is not None
    assert try_program(text, {}, Random(0)).kind == "refused"
    assert not mark.exists()


def test_a_trap_notes_what_is_done_to_it():
    TOUCHED.clear()
    with pytest.raises(AttributeError):
        _ = Trap().x
    Trap()(1)
    assert TOUCHED == ["x", "()"]


def test_a_refusal_that_points_nowhere_is_a_finding():
    text = "def f(T, a):\n    a[0] = [1]\n"
    with pytest.raises(mm.LanguageError) as caught:
        mm.program(define(text, {}))
    check_refusal(caught.value, text)
    with pytest.raises(Finding, match="another line"):
        check_refusal(caught.value, text.replace("[1]", "[2]"))
    with pytest.raises(Finding, match="no line"):
        check_refusal(caught.value, "def f(T, a):")


def broken(*args):
    raise RuntimeError("broken")


def endless(*args):
    while True:
        pass


@pytest.mark.parametrize(
    ("trial", "verdict", "said"),
    [
        (broken, "finding", "RuntimeError: broken"),
        (lambda *args: bytes(1 << 40), "finding", "MemoryError"),
        (lambda *args: os.kill(os.getpid(), signal.SIGKILL), "crash", "ended with -9"),
        (endless, "hang", "more than 1 seconds"),
    ],
    ids=["error", "memory", "crash", "hang"],
)
def test_what_goes_wrong_in_a_worker_is_reported_and_the_next_is_tried(
    trial, verdict, said, monkeypatch
):
    tried = workers.try_program
    monkeypatch.setattr(workers, "LIMIT", 1)
    monkeypatch.setattr(
        workers, "try_program", lambda *given: (trial if given[0] == "first" else tried)(*given)
    )
    texts = ["first", "def f(T):\n    1 = 2\n"]
    monkeypatch.setattr(workers, "make_program", lambda s, number, o: ("made", texts[number], {}))
    first, second = workers.outcomes(0, "program", 2, 1, [])
    assert (first.number, first.verdict, first.text) == (0, verdict, "first")
    assert said in first.finding
    assert (second.number, second.verdict, second.finding) == (1, "no Python", "")


def test_the_command_prints_a_table_and_keeps_what_it_finds(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "FOLDER", tmp_path)
    monkeypatch.setattr(fuzz, "corpus", originals)
    few = ["--count", "12", "--documents", "12", "--jobs", "1"]
    assert fuzz.main(few) == 0
    out = capsys.readouterr().out
    assert "12 programs, seed 0" in out
    assert "0 findings" in out
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(workers, "try_document", broken)
    assert fuzz.main(few) == 1
    captured = capsys.readouterr()
    assert "12 findings" in captured.out
    assert "finding in " in captured.err
    assert "RuntimeError: broken" in (tmp_path / "document-0-3.finding").read_text()
    assert (tmp_path / "document-0-3.bin").read_bytes() == make_document(0, 3)[2]


# ------------------------------------------------------------ what was found: programs

HUGE = "0x" + "f" * 5000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"a[0] = {HUGE}", "the integer of 20000 bits doesn't fit into 64 bits"),
        (f"a[0] = -{HUGE}", "the integer of 20000 bits doesn't fit into 64 bits"),
        ("a[0] = NUMBER", "the integer of 16610 bits doesn't fit into 64 bits"),
        (f"a[0] = a.shape[{HUGE}]", "of 20000 bits doesn't fit"),
        (f"a[0] = a.y.z({HUGE}).z", "means nothing in a program"),
        (f"a[0] = ({HUGE})[0]", "is not an array"),
        ("a[0] = a" + ".x" * 600, "nested"),
        ("s = TABLE(3)", "the call of 'TABLE' isn't in the language"),
        ("s = mm.shared(4, LISTED)", "'LISTED' is not an element type"),
        ("s = mm.shared(4, np)", "'np' is not an element type"),
        ("s = mm.shared(4, 'i4,(')", "is not an element type"),
        ("s = mm.shared(4, '1000000000000000f8')", "is not an element type"),
        ("s = mm.shared(4, TRAP)", "'TRAP' is not an element type"),
    ],
)
def test_what_broke_the_parser_is_refused_with_a_line(body, words):
    text = f"def f(T, a, n):\n    {body}\n"
    with pytest.raises(mm.LanguageError) as caught:
        mm.program(define(text, {}))
    check_refusal(caught.value, text)
    assert caught.value.place.line == (1 if words == "nested" else 2)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["i4", "int32", "f8", "float", "b1"])
def test_element_types_by_numpys_names(name):
    program = mm.program(define(f"def f(T, a):\n    s = mm.shared(4, {name!r})\n", {}))
    assert program.code.locals[0].dtype == np.dtype(name).name


def test_an_escape_that_python_warned_of_is_not_warned_of_again():
    function = define("def f(T, a):\n    '\\d'\n    a[0] = 1\n", {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mm.program(function).name == "f"


@pytest.mark.parametrize("engine", ["events", "array"])
@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_an_axis_that_a_shape_lacks_is_reported_under_both_schedules(engine, schedule):
    program = mm.program(define("def f(T, a):\n    w = a.shape[8]\n    a[T.id % w] = 1\n", {}))
    with pytest.raises(AddressError, match="'a' has 1 dimension, no axis 8") as caught:
        mm.DMM(4, 2).run(program, np.zeros(8), threads=8, engine=engine, schedule=schedule)
    assert caught.value.place.line == 2
    with pytest.raises(AddressError, match="'a' has 1 dimension, no axis 8"):
        program.cuda(np.zeros(8), threads=8)


def test_a_size_that_doubles_many_times_takes_no_time():
    doubled = "".join(f"    x{i + 1} = x{i} + x{i}\n" for i in range(60))
    text = f"def f(T, a, n):\n    x0 = n\n{doubled}    s = mm.shared(x60 + 1, int)\n    s[0] = 1\n"
    program = mm.program(define(text, {}))
    run = mm.DMM(4, 2).run(program, np.zeros(8), 0, threads=1)
    assert run.time == 2
    with pytest.raises(RoomError):
        mm.DMM(4, 2).run(program, np.zeros(8), 1, threads=1)


@pytest.mark.parametrize("path", ["interpreted", "plain"])
def test_a_name_is_no_other_name_for_what_is_assigned_later(path):
    text = "def f(T, a, b):\n    source, target = a[T.id], source\n    b[target] = source\n"
    program = mm.program(define(text, {}))
    with pytest.raises((UnassignedError, CannotFuse), match=r"'?source'? (is|may be) read before"):
        run_along(path, program, np.arange(4), np.zeros(4), threads=4)


@pytest.mark.parametrize("engine", ["events", "array"])
@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("kind", ["shared", "registers"])
@pytest.mark.parametrize("size", ["2**45", "2**60", "2**63 - 1", "(2**63 - 1, 2**63 - 1)"])
def test_local_arrays_of_any_size_are_refused_for_want_of_room(engine, schedule, kind, size):
    text = f"def f(T, a):\n    s = mm.{kind}({size}, int)\n    s[0{', 0' * (',' in size)}] = 1\n"
    program = mm.program(define(text.replace("2**63 - 1", str(2**63 - 1)), {}))
    with pytest.raises(RoomError):
        mm.DMM(4, 2).run(program, np.zeros(8), threads=4, engine=engine, schedule=schedule)


def test_want_of_room_in_the_array_engine_alone_is_no_finding(monkeypatch):
    """It asks for all of it before it starts; a system may promise the event engine more."""

    def no_room(*_):
        raise RoomError("too large")

    monkeypatch.setattr(array, "run", no_room)
    text = "def f(T, a):\n    a[T.id] = T.id\n"
    assert try_program(text, {}, Random(0)).said == ["synchronous: runs"]


def test_cuda_names_shared_arrays_beyond_any_address():
    program = mm.program(define(f"def f(T, a):\n    s = mm.shared({2**63 - 1})\n", {}))
    with pytest.raises(RoomError, match="more words than can be numbered"):
        program.cuda(np.zeros(8), threads=4)


def test_numbers_too_long_to_print_are_shown_by_their_size():
    assert (shown(2**64), shown(-(2**20_000)), shown("x")) == (str(2**64), "of 20001 bits", "'x'")
    program = mm.program(define("def f(T, a, n):\n    a[0] = n\n", {}))
    machine = mm.DMM(4, 2)
    with pytest.raises(LaunchError, match="n=of 16610 bits"):
        machine.run(program, np.zeros(8), 10**5000, threads=1)
    with pytest.raises(LaunchError, match="must be an array, not of 16610 bits"):
        machine.run(program, 10**5000, 1, threads=1)
    with pytest.raises(
        LaunchError, match="threads=of 16610 bits are more threads than any memory holds"
    ):
        machine.run(program, np.zeros(8), 1, threads=10**5000)


# ------------------------------------------------------------ what was found: documents


def changed(change, **how):
    """A run as text, changed as its document."""
    program = mm.program(define("def f(T, a, b):\n    b[T.id] = a[T.id] > 1\n", {}))
    run = mm.DMM(4, 2).run(program, np.arange(4), np.zeros(4, bool), threads=4, **how)
    document = json.loads(run.to_json())
    change(document["value"])
    return json.dumps(document)


def a_shape(shape):
    def change(run):
        run["arrays"]["$dict"][0][1] = {"$array": "int64", "shape": shape, "base64": ""}

    return change


def a_bool(run):
    run["arrays"]["$dict"][1][1]["base64"] = "AgEAAA=="


def a_machine(run):
    sizes = {"dmms": 2**31 - 1, "width": 4, "global_latency": 2, "shared_latency": 1}
    run["record"]["machine"] = {"$class": "HMM", **sizes}


def a_value(run):
    run["record"]["asked"][-1][-1][0] = 2


DAMAGED = {
    "a shape without data": (a_shape([10**12]), {}),
    "an empty huge shape": (a_shape([0, 2**40, 2**40]), {}),
    "a bool of 2": (a_bool, {}),
    "a machine": (a_machine, {"trace": True}),
    "a value of 2": (a_value, {"trace": True}),
}


@pytest.mark.parametrize(("change", "how"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_result_is_refused_immediately(change, how):
    with pytest.raises(FormatError, match="damaged"):
        mm.Run.from_json(changed(change, **how))


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", "[]", '{"experiment": 1}', "\udcff"])
def test_a_damaged_record_is_refused(text, tmp_path):
    file = tmp_path / "record.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FormatError, match="no record of a GPU's results"):
        Record.read(file)


@pytest.mark.parametrize(
    "change",
    [
        *({"multiprocessors": "4"}, {"shared_latency": 0}, {"group_ps": [1]}),
        *({"launch_ns": float("nan")}, {"cycle_ps": 10**400}, {"device": None}, {"extra": 1}),
    ],
    ids=str,
)
def test_a_damaged_calibration_is_refused(change):
    good = Calibration("a GPU", 4, 2.5, 500.0, 20, 30.5, 700, 2000.0)
    assert Calibration.from_dict(good.to_dict()) == good
    with pytest.raises(FormatError, match="not a calibration"):
        Calibration.from_dict(good.to_dict() | change)


@pytest.mark.parametrize("head", [b"{'descr': ((((", b"(" * 90, b"{'shape': (10**9,)}", b"\xff"])
def test_a_damaged_array_is_refused(head, tmp_path):
    file = tmp_path / "data.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(CommandError, match="holds no array of numbers"):
        parse_argument(str(file), np.random.RandomState(0))


def test_an_array_with_more_words_than_there_are_numbers():
    with pytest.raises(MemoryError):
        parse_argument("zeros:99999999999999999999", np.random.RandomState(0))
