"""Cards by name: their files, what is wrong with other ones, launches on them, their results."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda import machines
from mmsim.errors import CallError, FormatError, MachineError
from mmsim.model import card as cards
from mmsim.names import MODULES
from mmsim_algorithms.gpu.cards import KEPT, kept

A = np.arange(64, dtype=np.float32)


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the user's cards."""
    monkeypatch.setenv("MMSIM_DATA_DIR", str(tmp_path))
    (tmp_path / "cards").mkdir()
    return tmp_path / "cards"


@pytest.mark.parametrize("file", sorted(cards.FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_a_card_is_what_the_kept_measurements_make_of_it(file):
    card = kept(file.stem, KEPT[file.stem])
    assert file.read_text(encoding="utf-8") == cards.to_json(card)
    assert cards.read(file.stem) == card


def test_every_kept_card_has_a_function():
    assert {file.stem for file in cards.FOLDER.glob("*.json")} == KEPT.keys()
    for name in KEPT:
        assert getattr(mm, name.upper())() == mm.card(name)


def test_names_in_small_and_capital_letters():
    assert mm.H200() == mm.card("h200") == mm.card("H200")
    assert repr(mm.H200()) == "card('h200')"
    assert isinstance(mm.H200(), mm.Card)
    assert isinstance(mm.H200(), mm.Cached)
    assert set(MODULES["mmsim.api.cards"].split()) == {"H100", "H200", "Card", "card"}


@pytest.mark.parametrize("name", ["h20", "", "../h200", "h200.json/", 5, None])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(MachineError, match=r"no card is called .*h200.*gpu calibrate --save NAME"):
        mm.card(name)


def test_the_users_own_cards_come_first(folder):
    (folder / "mine.json").write_text(cards.to_json(replace(mm.H200(), name="mine", dmms=132)))
    (folder / "h200.json").write_text(cards.to_json(replace(mm.H200(), device="Another")))
    assert cards.names() == ["h100", "h200", "mine"]
    assert mm.card("mine") == replace(mm.H200(), name="mine", device="NVIDIA H200")
    assert mm.H200().device == "Another"
    (folder / "h200.json").unlink()
    assert mm.H200().device == "NVIDIA H200"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"wrong": 1}, "a card has no wrong"),
        ({"unit_fs": 0.5}, "its unit_fs can't be 0.5"),
        ({"block_time": -1}, "its block_time can't be -1"),
        ({"cycle_time": True}, "its cycle_time can't be True"),
        ({"launch_time": None}, "its launch_time can't be None"),
        ({"shared_bytes": -1}, "its shared_bytes can't be -1"),
        ({"registers": "8"}, "its registers can't be '8'"),
        ({"width": 0}, "width"),
        ({"clusters": [1, 2]}, "clusters have 3 DMMs"),
        ({"name": ...}, "name"),
    ],
)
def test_a_damaged_file_is_named(folder, change, why):
    found = json.loads(cards.to_json(mm.H200())) | change
    text = json.dumps({name: value for name, value in found.items() if value is not ...})
    (folder / "bad.json").write_text(text)
    with pytest.raises(FormatError, match=rf"bad\.json holds no card: .*{why}"):
        mm.card("bad")


@pytest.mark.parametrize("text", ["", "[]", "3", "{", '"h200"'])
def test_a_file_of_something_else_is_named(folder, text):
    (folder / "bad.json").write_text(text)
    with pytest.raises(FormatError, match=r"bad\.json holds no card"):
        mm.card("bad")


@pytest.mark.parametrize("name", ["", "a/b", ".hidden", "x" * 65, "größe"])
def test_what_can_be_a_cards_name(folder, name):
    with pytest.raises(MachineError, match="can't be a card's name"):
        cards.own_file(name)
    assert cards.own_file("A100.sxm") == folder / "a100.sxm.json"


def test_without_a_folder_there_are_only_the_kept_cards(monkeypatch):
    monkeypatch.setattr(cards, "data_directory", lambda: None)
    assert cards.folders() == (cards.FOLDER,)
    with pytest.raises(MachineError, match="name one by MMSIM_DATA_DIR"):
        cards.own_file("mine")


def test_a_run_on_a_card_is_saved_with_it():
    run = mm.H200().run(copy, A, A.copy(), threads=64, block_size=32)
    found = mm.Run.from_json(run.to_json())
    assert found == run
    assert found.machine == mm.H200()
    assert type(found.machine) is mm.Card


def test_the_environment_chooses_the_machine_of_launches(monkeypatch):
    @cuda.jit
    def doubled(a):
        a[cuda.threadIdx.x] *= 2

    def launched():
        doubled[1, 64](A.copy())
        return doubled.last.machine

    monkeypatch.setattr(machines, "_everywhere", [])  # another test's choice
    usual = machines.h200()
    assert launched() == usual
    monkeypatch.setenv("MMSIM_MACHINE", "h200")
    assert launched() == mm.H200()
    assert machines.milliseconds(10**9) == pytest.approx(0.1)
    with cuda.machine(usual):
        assert launched() == usual
    monkeypatch.setenv("MMSIM_MACHINE", "h201")
    with pytest.raises(MachineError, match=r"no card is called 'h201'; did you mean h200\?"):
        launched()
    monkeypatch.setenv("MMSIM_MACHINE", "")
    assert launched() == usual


def test_a_wrong_call_says_what_to_write():
    with pytest.raises(CallError, match=r"write .*predict\(kernel, a, b, threads="):
        mm.H200().predict()
