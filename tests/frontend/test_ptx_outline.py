"""Long texts of PTX: each function is read when it is first asked for, and is the same then."""

import gc
import pickle
from contextlib import suppress
from pathlib import Path

import pytest

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.ptx import text as reader
from mmsim.frontend.ptx.body import Body
from mmsim.frontend.ptx.flat import codes_of
from mmsim.frontend.ptx.heap import with_heap
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.lowering import Lowering
from mmsim.frontend.ptx.outline import bodies
from mmsim.frontend.ptx.text import read
from mmsim.host.garbage import unsearched
from mmsim.meaning.meaning import Meaning
from mmsim.meaning.memoized import memoized
from tests.cudart.kernels.expected import CASES

HERE = Path(__file__).parent / "ptx"
REAL = {path.stem: path.read_text("utf-8") for path in sorted(HERE.glob("*.ptx"))}
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
KERNELS = f"""{HEAD}.entry good() {{ ret; }}
.global .b8 data[2] = {{1, 2}};
.entry bad()
{{
    .reg .b32 %r<2>;
    mov.u32 %r2, 1;
}}
.entry odd() {{ mov.u32 }}
"""


@pytest.fixture
def late(monkeypatch):
    """Every text counts as long."""
    monkeypatch.setattr(reader, "LONG", 0)


@pytest.mark.parametrize("name", REAL)
def test_a_function_that_is_read_late_is_the_same(name, monkeypatch):
    whole = read(REAL[name])
    monkeypatch.setattr(reader, "LONG", 0)
    found = read(REAL[name])
    assert {**found.functions} == whole.functions
    assert (found.variables, found.files, found.used) == (whole.variables, whole.files, whole.used)


def test_a_mistake_is_found_when_its_function_is_read(late):
    functions = read(KERNELS).functions
    assert [*functions] == ["good", "bad", "odd"]
    assert len(functions["good"].body) == 1
    with pytest.raises(LanguageError, match=r"%r2 is not declared") as caught:
        functions["bad"]
    place = caught.value.place
    assert (place.function, place.line, place.text.strip()) == ("bad", 9, "mov.u32 %r2, 1;")
    assert place.text[place.column : place.end_column] == "%r2"
    with pytest.raises(LanguageError, match=r"} is not expected here") as caught:
        functions["odd"]
    assert (caught.value.place.function, caught.value.place.line) == ("odd", 11)


def test_a_mistake_of_a_short_text_is_found_at_once():
    with pytest.raises(LanguageError, match=r"} is not expected here"):
        read(KERNELS)


def test_a_mistake_between_functions_of_a_long_text_is_found_at_once(late):
    with pytest.raises(LanguageError, match=r"nonsense is not expected here"):
        read(f"{KERNELS} nonsense")


def test_a_long_text_ends_in_a_body(late):
    with pytest.raises(LanguageError, match=r"the end of the text is not expected here"):
        read(f"{HEAD}.entry k() {{ {{ ret; }}")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{ /* } */ a; // }\n b; }", "{ /* } */ a; // }\n b; }"),
        ('{ .pragma "}"; } }', '{ .pragma "}"; }'),
        ("{ op {a, {b}}; { } } {", "{ op {a, {b}}; { } }"),
    ],
)
def test_a_body_ends_at_its_own_brace(text, wanted):
    ((begin, end),) = bodies(f".entry k() {text}").items()
    assert f".entry k() {text}"[begin:end] == wanted


@pytest.mark.parametrize(
    "text",
    [
        ".func f();",
        ".global .b8 a[1] = {1};",
        "// .func\n.global .b8 a[1] = {1};",
        "/* .func */.global .b8 a[1] = {1};",
        '.file 1 ".func" .global .b8 a[1] = {1};',
        ".section .debug_str { .entry: .b8 1; }",
        ".global .b8 x.func[1] = {1};",
        ".func f(); .global .b8 a[1] = {1};",
        ".func f() { ret;",
    ],
)
def test_other_braces_are_of_no_body(text):
    assert not bodies(text)


USES = f"""{HEAD}.func f() {{ ret; }} .func g() {{ ret; }} .func h();
.entry k() {{ .reg .b64 %rd<2>; call.uni f, (); @!%p1 call (), g, (); }}
.entry calls() {{ .reg .b64 %rd<2>; // of g
    call.uni f, (); call g, (); }}
.entry takes() {{ .reg .b64 %rd<2>; mov.u64 %rd1, g; }}
.global .u64 table[1] = {{h}};
"""


def test_functions_whose_address_is_used_have_numbers(late):
    module = read(USES)
    assert module.used == ("g", "h")
    assert [*codes_of(module)] == ["g", "h"]
    with pytest.raises(LanguageError, match="%p1"):  # it takes no address, and was not read
        module.functions["k"]


def test_the_heap_replaces_functions_that_are_only_declared(late):
    declared = f"{HEAD}.func (.param .b64 r) malloc(.param .b64 a); {KERNELS.removeprefix(HEAD)}"
    functions = with_heap(read(declared)).functions
    assert functions["malloc"].body
    assert [*functions] == ["malloc", "good", "bad", "odd"]
    assert "free" not in functions


def test_an_alias_is_read_with_its_function(late):
    functions = read(f"{HEAD}.func g(); .func f() {{ ret; }} .alias g, f;").functions
    assert (functions["g"].name, functions["g"].body) == ("g", functions["f"].body)


def test_a_copy_has_all_functions(late):
    module = read(REAL["forms"])
    copy = pickle.loads(pickle.dumps(module))
    assert copy.functions == {**module.functions}
    assert len(copy.functions) == len(module.functions)


def test_a_kernel_is_prepared_without_a_search_for_garbage(late, monkeypatch):
    def noted(owner, name):
        own = getattr(owner, name)

        def run(*given):
            on.setdefault(name, []).append(gc.isenabled())
            return own(*given)

        monkeypatch.setattr(owner, name, run)

    on = {}
    for owner, name in ((Body, "read"), (Lowering, "body"), (Meaning, "_block_until")):
        noted(owner, name)
    case = CASES["staging-staged4"]
    program = PtxProgram(read(case.ptx), case.entry).with_shared(case.shared_mem)
    special = program.specialized(case.arguments())
    how = {"grid": case.grid, "block": case.block, "schedule": "asynchronous"}
    mm.HMM(2, 32, 50, 5, bank_bytes=4).run(special.program, *special.args, **how)
    assert on.keys() == {"read", "body", "_block_until"}
    assert not any(map(any, on.values()))
    assert memoized(special.program).once("another key", gc.isenabled) is False
    assert gc.isenabled()


@pytest.mark.parametrize("is_on", [True, False])
def test_the_search_for_garbage_goes_on_as_before(is_on):
    (gc.enable if is_on else gc.disable)()
    try:
        with suppress(ValueError), unsearched():
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
