"""`mmsim conflicts`: what it prints and saves, and the exit status that scripts use."""

import json
import re
import shlex
from pathlib import Path

import pytest

from mmsim.cli.main import main
from mmsim.cli.tile_conflicts import BYTES, bytes_of


def asked(capsys, *arguments):
    """The exit status of `mmsim conflicts` and what it prints."""
    status = main(["conflicts", *arguments])
    return status, capsys.readouterr().out


def test_a_tile_in_conflict_fails(capsys):
    assert asked(capsys, "RAW", "--tile", "32x32", "--read", "columns") == (
        1,
        "read columns: read of 4 bytes a thread: 32 requests, 32 phases, 1024 stages, 992 beyond "
        "the least\n"
        "values  phase  threads  stages  least  banks\n"
        "0-31        0  0-31         32      1      1\n",
    )


def test_a_free_tile_succeeds(capsys):
    assert asked(capsys, "padded 1", "--tile", "32x32") == (
        0,
        "read rows: read of 4 bytes a thread: 32 requests, 32 phases, 32 stages, free of "
        "conflicts\n"
        "read columns: read of 4 bytes a thread: 32 requests, 32 phases, 32 stages, free of "
        "conflicts\n",
    )


def test_one_access_in_conflict_is_enough(capsys):
    status, text = asked(
        capsys,
        "32B",
        "--tile",
        "64x64",
        "--type",
        "half",
        "--ldmatrix",
        "columns",
        "--write",
        "rows",
    )
    assert status == 1
    assert "ldmatrix columns: ldmatrix of 16 bytes" in text
    assert (
        "write rows: write of 2 bytes a thread: 128 requests, 128 phases, 128 stages, free" in text
    )


@pytest.mark.parametrize(
    ("layout", "tile", "type_", "access", "stages"),
    [
        ("128B", "64x64", "half_t", ("--ldmatrix", "columns"), 64),
        ("64B", "64x64", "cutlass::half_t", ("--ldmatrix", "columns"), 128),
        ("Swizzle<3,3,3> o (64,64):(64,1)", None, "bfloat16", ("--stmatrix", "columns"), 64),
        ("(64,64):(64,1)", None, "half", ("--ldmatrix", "columns"), 512),
        ("xor 32", "32x32", "float", ("--read", "columns"), 32),
        ("RAW", "32x32", "float", ("--read", "(32,1):(0,0)"), 1),
        ("RAW", "32x32", "float", ("--atomic", "(32,1):(0,0)"), 32),
        ("RAW", "32x32", "float", ("--cas", "(32,1):(0,0)"), 64),
        ("RAW", "32x32", "double", ("--read", "rows"), 64),
        ("RAW", "32x32", "float", ("--read", "rows", "--vector", "4"), 32),
        ("RAW", "10x10", "float", ("--read", "rows"), 4),
    ],
)
def test_layouts_types_and_accesses(capsys, tmp_path, layout, tile, type_, access, stages):
    file = tmp_path / "answer.json"
    shape = [] if tile is None else ["--tile", tile]
    asked(capsys, layout, *shape, "--type", type_, *access, "--json", str(file))
    (answer,) = json.loads(file.read_text())["accesses"]
    assert answer["stages"] == stages
    assert answer["kind"] == access[0].removeprefix("--")


def test_the_answer_is_saved_with_what_collides(capsys, tmp_path):
    file = tmp_path / "answer.json"
    arguments = ["RAW", "--tile", "2x32", "--read", "((2,2),1):((1,0),0)", "--json", str(file)]
    assert asked(capsys, *arguments)[0] == 1
    assert json.loads(file.read_text()) == {
        "layout": "RAW",
        "shape": [2, 32],
        "type": "float",
        "vector": 1,
        "free": False,
        "accesses": [
            {
                "access": "((2,2),1):((1,0),0)",
                "kind": "read",
                "bytes": 4,
                "requests": 1,
                "phases": 1,
                "stages": 2,
                "least": 1,
                "free": False,
                "collisions": [
                    {"value": 0, "phase": 0, "bank": 0, "words": {"0": [0, 2], "32": [1, 3]}}
                ],
            }
        ],
    }


def test_collisions_are_listed_on_demand(capsys):
    arguments = ["RAW", "--tile", "2x32", "--read", "((2,1),2):((1,0),2)"]
    _, text = asked(capsys, *arguments, "--collisions")
    assert text.splitlines()[-2:] == [
        "value 0, phase 0, bank 0: word 0 by thread 0, word 32 by thread 1",
        "value 1, phase 0, bank 1: word 1 by thread 0, word 33 by thread 1",
    ]
    assert "word" not in asked(capsys, *arguments)[1]


def test_the_smallest_padding_is_printed(capsys, tmp_path):
    file = tmp_path / "answer.json"
    search = ["--search", "padding", "--json", str(file)]
    assert asked(capsys, "--tile", "32x32", *search) == (0, "padding each row by 1 frees them\n")
    assert json.loads(file.read_text())["found"] == 1
    assert asked(capsys, "--tile", "32x32", "--read", "rows", *search) == (
        0,
        "padding each row by 0 frees them\n",
    )
    misaligned = ["--tile", "32x32", "--vector", "4"]  # paddings of 1, 2 and 3 would split vectors
    assert asked(capsys, *misaligned, *search) == (0, "padding each row by 4 frees them\n")


def test_swizzles_are_printed(capsys, tmp_path):
    file = tmp_path / "answer.json"
    search = ["--search", "swizzles", "--json", str(file)]
    assert asked(capsys, "--tile", "32x32", *search) == (
        0,
        "Swizzle<5,0,5>\n1 swizzle frees them\n",
    )
    by_columns = asked(capsys, "(32,32):(1,32)", *search)
    assert by_columns == (0, "Swizzle<5,0,5> o (32,32):(1,32)\n1 swizzle frees them\n")
    status, text = asked(capsys, "--tile", "32x32", "--read", "rows", *search)
    found = json.loads(file.read_text())["found"]
    assert status == 0
    assert text.splitlines()[-1] == f"{len(found)} swizzles free them, of which 20 are shown"
    assert text.splitlines()[:-1] == found[:20]


def test_a_search_that_finds_nothing_fails(capsys):
    three = ["--read", "rows", "--read", "columns", "--read", "(32,1):(33,0)"]  # the diagonal, too
    every = ["--read", "((4,8),1):((1,32),0)", *three]
    assert asked(capsys, "--tile", "32x32", *every, "--search", "swizzles") == (
        1,
        "0 swizzles free them\n",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["RAW"], "holds tiles of any shape"),
        (["RAW", "--tile", "64"], "'64' is not a tile; write ROWSxCOLUMNS, such as 64x64"),
        (["RAW", "--tile", "0x4"], "is not a tile"),
        (["RAW", "--tile", "8x8", "--type", "quad"], "'quad' is not a known type"),
        (["diagonal", "--tile", "8x8"], "'diagonal' is not a layout of CuTe"),
        (["RAW", "--tile", "8x8", "--read", "diagonal"], "'diagonal' is not a layout of CuTe"),
        (["RAW", "--tile", "8x8", "--read", "128B"], "is not a layout of CuTe"),
        (
            ["RAW", "--tile", "8x8", "--read", "Swizzle<1,0,1>"],
            "not a layout of threads and values",
        ),
        (["RAW", "--tile", "8x6", "--vector", "4"], "not a whole number of vectors of 4"),
        (["RAW", "--tile", "8x8", "--vector", "8"], "not 8 times 4"),
        (["RAW", "--tile", "8x8", "--type", "half", "--atomic", "rows"], "4 or 8 bytes"),
        (["RAW", "--tile", "8x64", "--type", "half", "--ldmatrix", "(7,8):(1,8)"], "not of 7"),
        (["padded 1", "--tile", "8x8", "--search", "padding"], "leave out the layout"),
        (["128B", "--tile", "8x8", "--search", "swizzles"], "give its strides"),
    ],
)
def test_mistakes_are_said_in_words(capsys, arguments, said):
    assert main(["conflicts", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", BYTES)
def test_types_have_the_sizes_of_numpy(name):
    assert bytes_of(name) == bytes_of(f"{name}_t") == bytes_of(f"cutlass::{name}_t")
    bits = "".join(filter(str.isdigit, name))
    if name.startswith(("int", "uint")) and name != "int4" and bits:
        assert bytes_of(name) * 8 == int(bits)


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tiles.md"
SHOWN = re.findall(
    r"^```sh\n(mmsim conflicts [^\n]*)\n```\n\n```text\n(.*?)^```",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def test_the_how_to_guide_shows_commands():
    assert len(SHOWN) == 3


@pytest.mark.parametrize(("command", "printed"), SHOWN)
def test_the_how_to_guide_shows_what_they_print(capsys, command, printed):
    main(shlex.split(command)[1:])
    assert capsys.readouterr().out == printed
