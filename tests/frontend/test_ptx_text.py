"""The reader of PTX: each construct of its grammar, places, errors, and damaged text."""

import math
import pickle
import random
import re
import struct
import time
from pathlib import Path

import pytest

from mmsim.errors import LanguageError
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Label,
    Module,
    Pair,
    Reference,
    Register,
    Symbol,
    Variable,
    Vector,
    Where,
)
from mmsim.frontend.ptx.text import read

HERE = Path(__file__).parent / "ptx"
REAL = {path.stem: path.read_text("utf-8") for path in sorted(HERE.glob("*.ptx"))}
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
DECLARED = (
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>; .shared .b32 s[9];"
)


def module(text):
    return read(HEAD + text)


def function(body, header=".visible .entry k()", before=""):
    """The function k with such a body."""
    return module(f"{before}\n{header}\n{{\n{body}\n}}\n").functions["k"]


def instructions(body, before=""):
    found = function(f"{DECLARED}\n{body}", before=before).body
    return [item for item in found if isinstance(item, Instruction)]


def operands(text, before=""):
    """The operands of one instruction."""
    (one,) = instructions(f"op {text};", before)
    return one.operands


def refused(text):
    """The error of a text, without the head."""
    with pytest.raises(LanguageError) as caught:
        module(text)
    return caught.value


def refused_in(body):
    """The error of a function's body, with the number of the line in it."""
    error = refused(f".entry k() {{ {DECLARED}\n{body}\n}}")
    assert error.place.function == "k"
    return error, error.place.line - 4


def register(name):
    return Register(name)


def test_the_head_of_a_module():
    found = read(
        "/* one\n two */ .version 8.10 // three\n.target sm_90a, texmode_independent\n"
        '.address_size 64\n.file 1 "a b.cu"\n.file 2 "c.cuh", 12, 34\n.pragma "x", "y";\n;'
    )
    assert found == Module("8.10", "sm_90a", {}, {}, {1: "a b.cu", 2: "c.cuh"})


def test_an_instruction_has_a_name_operands_a_guard_and_a_place():
    (one,) = instructions("\n@%p1 add.rn.f32 %f1, %f2, 0f40000000;")
    assert one == Instruction(
        ("add", "rn", "f32"),
        (register("%f1"), register("%f2"), Immediate(2.0, 32)),
        register("%p1"),
        Where(0, 0, 0, ptx=9),
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ret", ("ret",)),
        ("bar.warp.sync -1", ("bar", "warp", "sync")),
        ("ld.global.L2::128B.v4.f32 %f1, %f2", ("ld", "global", "L2::128B", "v4", "f32")),
        ("cp.async.bulk.mbarrier::complete_tx::bytes.shared::cta.global %r1", None),
        ("mma.sync.aligned.m16n8k16.row.col.f32 %f1", None),
    ],
)
def test_the_name_of_an_instruction_has_suffixes(text, name):
    (one,) = instructions(f"{text};")
    assert one.name == (name or tuple(text.split()[0].split(".")))


@pytest.mark.parametrize(
    ("text", "guard"), [("", None), ("@%p1", Register("%p1")), ("@ ! %p2", Register("%p2", True))]
)
def test_a_guard(text, guard):
    (one,) = instructions(f"{text} ret;")
    assert one.guard == guard


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-12", -12),
        ("0", 0),
        ("12U", 12),
        ("0x1F", 31),
        ("-0X1f", -31),
        ("0xFFFFFFFFFFFFFFFFU", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("017", 15),
        ("0b101", 5),
        ("0B11U", 3),
    ],
)
def test_integers(text, value):
    assert operands(text) == (Immediate(value),)


@pytest.mark.parametrize(
    ("text", "value", "bits"),
    [
        ("0f3F800000", 1.0, 32),
        ("0FbF800000", -1.0, 32),
        ("-0f3F800000", -1.0, 32),
        ("0f7F800000", math.inf, 32),
        ("0d3FF8000000000000", 1.5, 64),
        ("0D4008000000000000", 3.0, 64),
        ("1.5", 1.5, 64),
        ("-1.", -1.0, 64),
        ("2.5e-3", 0.0025, 64),
        ("1E3", 1000.0, 64),
    ],
)
def test_floats(text, value, bits):
    assert operands(text) == (Immediate(value, bits),)
    assert type(operands(text)[0].value) is float


def test_a_float_that_is_not_a_number():
    ((value),) = operands("0f7FFFFFFF")
    assert math.isnan(value.value)
    assert value.bits == 32


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("%r1", Register("%r1")),
        ("%tid.x", Register("%tid.x")),
        ("%laneid", Register("%laneid")),
        ("%clock64", Register("%clock64")),
        ("%envreg31", Register("%envreg31")),
        ("%pm7_64", Register("%pm7_64")),
        ("%lanemask_lt", Register("%lanemask_lt")),
        ("%nctaid.z", Register("%nctaid.z")),
        ("%cluster_ctarank", Register("%cluster_ctarank")),
        ("WARP_SZ", Register("WARP_SZ")),
        ("_", Register("_")),
        ("!%p1", Register("%p1", True)),
        ("s", Symbol("s")),
        ("s+4", Symbol("s", 4)),
        ("s - 4", Symbol("s", -4)),
        ("[%rd1]", Address(Register("%rd1"))),
        ("[ %rd1 + 8 ]", Address(Register("%rd1"), 8)),
        ("[%r1+-8]", Address(Register("%r1"), -8)),
        ("[%r1-8]", Address(Register("%r1"), -8)),
        ("[%r1+0x10]", Address(Register("%r1"), 16)),
        ("[s]", Address(Symbol("s"))),
        ("[s+4]", Address(Symbol("s"), 4)),
        ("[16]", Address(None, 16)),
        ("{%f1, %f2}", Vector((Register("%f1"), Register("%f2")))),
        ("{%f1, _, 1}", Vector((Register("%f1"), Register("_"), Immediate(1)))),
        ("%r1|%p1", Pair(Register("%r1"), Register("%p1"))),
        ("_|%p1", Pair(Register("_"), Register("%p1"))),
        ("()", Vector(())),
        ("(%r1, 2)", Vector((Register("%r1"), Immediate(2)))),
        (
            "[%rd1, {%r1, 2}]",
            Address(Register("%rd1"), 0, (Vector((Register("%r1"), Immediate(2))),)),
        ),
        ("[s, %r1]", Address(Symbol("s"), 0, (Register("%r1"),))),
    ],
)
def test_operands(text, operand):
    assert operands(text) == (operand,)


def test_operands_are_in_order():
    assert operands("%r1, [%rd1], 3") == (
        Register("%r1"),
        Address(Register("%rd1")),
        Immediate(3),
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("call f;", "() f ()"),
        ("call.uni f, (%r1, 2);", "() f (%r1 2)"),
        ("call (%r1), f, (%r2);", "(%r1) f (%r2)"),
        ("call.uni (%r1), \nf, \n(\n%r2\n);", "(%r1) f (%r2)"),
        ("call (%r1), %rd1, (%r2), proto;", "(%r1) %rd1 (%r2) proto"),
        ("call %rd1, (%r2), proto;", "() %rd1 (%r2) proto"),
        ("call (%r1), f;", "(%r1) f ()"),
    ],
)
def test_calls(text, wanted):
    def shown(one):
        if isinstance(one, Vector):
            return f"({' '.join(map(shown, one.parts))})"
        return str(one.value) if isinstance(one, Immediate) else one.name

    prototype = "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _) .noreturn;"
    (one,) = instructions(f"{prototype} {text}", ".func f();")
    assert " ".join(map(shown, one.operands)) == wanted


@pytest.mark.parametrize("text", ["call;", "call f, f;", "call (%r1), (%r2);", "call f, (1), 2, 3"])
def test_a_call_in_another_form_is_refused(text):
    error, line = refused_in(f"call: .callprototype _ ();\nf: {text};")
    assert "write call (results), function, (arguments);" in str(error)
    assert line == 2


def test_labels_and_tables_of_labels():
    found = function(
        ".reg .pred %p<2>; L1: L2 :\n$L__BB0_1:\n"
        "ts: .branchtargets L1, L2;\nfs: .calltargets f, k;\n"
        "@%p1 bra.uni $L__BB0_1;\nbrx.idx %p1, ts;",
        before=".func f();",
    )
    assert found.body[:3] == (Label("L1"), Label("L2"), Label("$L__BB0_1"))
    assert found.body[3].operands == (Symbol("$L__BB0_1"),)
    assert found.body[4].operands == (Register("%p1"), Symbol("ts"))
    assert found.tables == {"ts": ("L1", "L2"), "fs": ("f", "k")}


def test_registers_are_those_that_are_declared_alone_and_those_of_a_range_that_are_used():
    found = function(
        ".reg .b32 %r<22>, %x; .reg .pred p, q;\n.reg .f32 %r0_<3>;\n"
        "op %r0, %r21, %x, p, %r0_2, %r0_1;"
    )
    wanted = {"%x": "b32", "p": "pred", "q": "pred", "%r0": "b32", "%r21": "b32"}
    assert found.registers == {**wanted, "%r0_2": "f32", "%r0_1": "f32"}


@pytest.mark.parametrize("name", ["%r22", "%r01", "%r", "%r-1", "%s1", "%r1x", "%tid.q"])
def test_a_register_outside_of_its_range_is_refused(name):
    with pytest.raises(LanguageError):
        function(f".reg .b32 %r<22>; op {name};")


def test_a_huge_range_takes_no_room():
    start = time.perf_counter()
    found = function(".reg .b32 %r<4000000000>; op %r3999999999;")
    assert time.perf_counter() - start < 1
    assert found.registers == {"%r3999999999": "b32"}


def test_scopes_have_names_of_their_own():
    found = function(
        """.reg .b32 %r<3>; .reg .b32 %x;
        { .reg .b32 %x; .reg .b32 %t<2>; .param .b64 param0;
          DONE: op %x, %r1, %t1, param0, DONE; { .reg .b64 %x; op %x; } bra DONE; }
        { .param .b32 param0; op param0, %x; DONE: ts: .branchtargets DONE; op ts; }
        op %x;"""
    )
    shown = [
        item.name
        if isinstance(item, Label)
        else " ".join([item.name[0], *(one.name for one in item.operands)])
        for item in found.body
    ]
    assert shown == [
        "DONE@1",
        "op %x@1 %r1 %t1@1 param0@1 DONE@1",
        "op %x@2",
        "bra DONE@1",
        "op param0@3 %x",
        "DONE@3",
        "op ts@3",
        "op %x",
    ]
    assert found.registers == {
        "%x": "b32",
        "%x@1": "b32",
        "%x@2": "b64",
        "%t1@1": "b32",
        "%r1": "b32",
    }
    assert [(one.name, one.type) for one in found.variables] == [
        ("param0@1", "b64"),
        ("param0@3", "b32"),
    ]
    assert found.tables == {"ts@3": ("DONE@3",)}


def test_a_name_of_a_scope_is_not_known_behind_it():
    error, line = refused_in("{ .reg .b32 %x; }\nop %x;")
    assert "%x is not declared; declare it" in str(error)
    assert line == 2


def test_the_function_has_its_variables():
    found = function(
        ".shared .align 4 .b8 t[4224];\n.local .align 16 .b8 d[64];\n.shared .v4 .f32 v;"
        ".const .u32 c[2] = {1, 2}, e;"
    )
    assert found.variables == (
        Variable("t", "shared", "b8", 4, 4224, is_array=True),
        Variable("d", "local", "b8", 16, 64, is_array=True),
        Variable("v", "shared", "f32", 16, 4),
        Variable("c", "const", "u32", 4, 2, struct.pack("<2I", 1, 2), is_array=True),
        Variable("e", "const", "u32", 4, 1),
    )


def test_parameters_results_and_limits():
    found = function(
        ".reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; ld.param.b8 %rd1, [c+15];",
        ".weak .entry k(\n.param .u64 .ptr .global .align 64 a, .param .u32 b,\n"
        '.param .align 8 .b8 c[16])\n.maxntid 128, 2, 1\n.minnctapersm 2 .noreturn .pragma "x";'
        ".attribute(.unified(1, 2))",
    )
    assert found.parameters == (
        Variable("a", "param", "u64", 8),
        Variable("b", "param", "u32", 4),
        Variable("c", "param", "b8", 8, 16, is_array=True),
    )
    assert found.limits == {"maxntid": (128, 2, 1), "minnctapersm": (2,), "noreturn": ()}
    assert found.is_entry
    assert found.results == ()


def test_a_function_with_results_in_registers():
    found = module(
        ".func (.reg .u32 r, .reg .u32 q) f (.reg .u32 a) { add.u32 r, a, 1; ret; }"
    ).functions["f"]
    assert not found.is_entry
    assert found.results == (Variable("r", "reg", "u32", 4), Variable("q", "reg", "u32", 4))
    assert found.registers == {"r": "u32", "q": "u32", "a": "u32"}
    assert found.body[0].operands == (Register("r"), Register("a"), Immediate(1))


def test_a_definition_replaces_a_declaration_and_stays():
    text = ".func f(.param .b32 a);\n"
    found = module(f"{text} .func f(.param .b32 a) {{ ret; }} {text} .extern .func .noreturn g;")
    assert len(found.functions["f"].body) == 1
    assert found.functions["f"].where == Where(0, 0, 0, ptx=5)
    assert found.functions["g"].body is None
    assert found.functions["g"].limits == {"noreturn": ()}
    assert found.functions["g"].where.ptx == 6


def test_an_alias_is_a_function_by_another_name():
    found = module(".func g(); .func f() { ret; } .alias g, f;").functions
    assert found["g"].body == found["f"].body
    assert found["g"].name == "g"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (".global .u32 v", Variable("v", "global", "u32", 4)),
        (
            ".extern .shared .align 16 .b8 v[]",
            Variable("v", "shared", "b8", 16, None, is_array=True),
        ),
        (".visible .const .f64 v[2][3]", Variable("v", "const", "f64", 8, 6, is_array=True)),
        (".weak .global .f16x2 v", Variable("v", "global", "f16x2", 4)),
        (".common .global .b128 v", Variable("v", "global", "b128", 16)),
        (".global .v2 .f32 v[4]", Variable("v", "global", "f32", 8, 8, is_array=True)),
        (".global .texref v", Variable("v", "global", "texref", 8)),
        (".global .attribute(.managed) .s64 v", Variable("v", "global", "s64", 8)),
        (".global .attribute(.unified(19, 95)) .s64 v", Variable("v", "global", "s64", 8)),
    ],
)
def test_variables(text, wanted):
    assert module(f"{text};").variables == {"v": wanted}


def test_a_definition_of_a_variable_replaces_a_declaration_and_stays():
    text = ".extern .global .u32 v;"
    assert module(f"{text} .global .u32 v = 5; {text}").variables["v"].initial == b"\5\0\0\0"


@pytest.mark.parametrize(
    ("text", "count", "data"),
    [
        (".u8 v = 255", 1, "B 255"),
        (".s8 v = -1", 1, "b -1"),
        (".b8 v[5] = {1, 2, 255}", 5, "3B 1 2 255"),
        (".u16 v[] = {1, 0xFFFF}", 2, "2H 1 65535"),
        (".s32 v[2][2] = {{1}, {2, -3}}", 4, "4i 1 0 2 -3"),
        (".s32 v[][2] = {{1}, {2}}", 4, "3i 1 0 2"),
        (".s32 v[2] = {}", 2, ""),
        (".u64 v = 0xFFFFFFFFFFFFFFFF", 1, "Q 18446744073709551615"),
        (".f32 v[3] = {0f3F800000, 2.5, 3}", 3, "3f 1 2.5 3"),
        (".f64 v = 0d3FF8000000000000", 1, "d 1.5"),
        (".f16 v[2] = {1.5, 0x3C00}", 2, "2e 1.5 1"),
        (".b32 v = 0f3F800000", 1, "f 1"),
        (".b64 v = 0d3FF8000000000000", 1, "d 1.5"),
        (".v2 .u32 v = {1, 2}", 2, "2I 1 2"),
        (".v2 .u32 v[2] = {{1, 2}, {3}}", 4, "3I 1 2 3"),
    ],
)
def test_initial_values(text, count, data):
    form, *values = data.split() or [""]
    numbers = [float(one) if form[-1] in "fde" else int(one) for one in values]
    found = module(f".global {text};").variables["v"]
    assert found.initial == struct.pack(f"<{form}", *numbers)
    assert found.count == count


def test_addresses_as_initial_values():
    found = module(
        ".global .u32 s; .func f();\n"
        ".global .u64 v[6] = {0, f, s, s+8, generic(s), generic(s)-8};\n"
        ".global .u32 w = generic(s+4)+8;"
    ).variables
    assert found["v"].references == (
        Reference(8, 8, Symbol("f")),
        Reference(16, 8, Symbol("s")),
        Reference(24, 8, Symbol("s", 8)),
        Reference(32, 8, Symbol("s"), True),
        Reference(40, 8, Symbol("s", -8), True),
    )
    assert found["v"].initial == bytes(48)
    assert found["w"].references == (Reference(0, 4, Symbol("s", 12), True),)


def test_an_address_byte_by_byte():
    masks = ", ".join(f"0xFF{'00' * byte}(generic(s)+4)" for byte in range(8))
    found = module(f".global .u32 s; .global .b8 v[12] = {{7, 0xFF(s), 0xFF00(s), 9, {masks}}};")
    assert found.variables["v"].references == (
        Reference(1, 2, Symbol("s")),
        Reference(4, 8, Symbol("s", 4), True),
    )
    assert found.variables["v"].initial[:4] == bytes((7, 0, 0, 9))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".u32 v = {1}", "an initial value of v has to be one value"),
        (".u32 v[2] = 1", "an initial value of v has to be values in braces"),
        (".u32 v[2] = {{1}}", "an initial value of v has to be one value"),
        (".u32 v[2] = {1, 2, 3}", "3 initial values of v for 2 elements"),
        (f".u32 v[2] = {'{' * 30000}{'}' * 30000}", "an initial value of v has to be one value"),
        (".u32 v[2][] = {1}", "only the first extent of an array may be left out"),
        (".u32 v[4000000][1000] = {{}, {}, {1}, {}}", ""),
        (".u32 v[2][400000000] = {{}, {1}}", "an initial value of more than 268435456 bytes"),
        (".u32 v[-1]", "-1 is not an integer of at least 0"),
        (".u32 v[1.5]", "1.5 is not an integer of at least 0"),
        (".u32 v<2>", "a range of .global; only registers have one"),
        (".f32 v = 1e300", "1e300 is too large for .f32"),
        (".u16 v = 1.5", "1.5 is not a value of .u16"),
        (".u16 v = v", "an address does not fit in .u16"),
        (".f32 v = v", "an address does not fit in .f32"),
        (".u64 v = missing", "missing is not declared"),
        (".b8 v[2] = {0xFF00(v)}", "0xFF00 does not select the next byte of an address"),
        (".b8 v[2] = {0xFF(v), 0xFF0000(v)}", "0xFF0000 does not select the next byte"),
        (".b8 v[2] = {0xFF(v), 0xFF00(v+1)}", "0xFF00 does not select the next byte"),
        (".b8 v = 0x7F(v)", "0x7F does not select the next byte"),
        (".b16 v = 0xFF(v)", "0xFF does not select the next byte"),
        ("v", "a declaration with 0 types; give one, as .f32"),
        (".u32 .f32 v", "a declaration with 2 types"),
        (".align 3 .u32 v", "an alignment of 3 is not a power of two"),
        (".align 0 .u32 v", "0 is not an integer of at least 1"),
    ],
)
def test_a_declaration_that_is_refused(text, message):
    if not message:
        module(f".global {text};")
        return
    error = refused(f"\n.global {text};")
    assert str(error).startswith(message)
    assert error.place.line == 5
    assert error.place.function == "ptx"


def test_where_an_instruction_comes_from():
    debug = ".section .debug_str {\nnames:\n.b8 95,90,51,102,111,111\n.b8 105,0,98,97,114,0\n}"
    found = module(
        f'.file 7 "a.cu"\n.entry k() {{\n.loc 7 1 0\nop1;\n.loc 7 2 5\nop2;\n'
        ".loc 7 3 4, function_name names, inlined_at 7 2 5\n\nop3;\n"
        ".loc\t7 9 9, function_name names+8, inlined_at 7 3 4\nop4; op5;\n.loc 7 4 1\n"
        ".loc 7 8 8, function_name other, inlined_at 7 77 7\nop6;\n"
        f"}}\n{debug}"
    ).functions["k"]
    places = [one.where for one in found.body]
    outer = Where(7, 2, 5, 8)
    inner = Where(7, 3, 4, 10, "foo", outer)
    assert found.where == Where(7, 1, 0, 5)
    assert places == [
        Where(7, 1, 0, 7),
        Where(7, 2, 5, 9),
        Where(7, 3, 4, 12, "foo", outer),
        Where(7, 9, 9, 14, "bar", inner),
        Where(7, 9, 9, 14, "bar", inner),
        Where(7, 8, 8, 17, "", Where(7, 77, 7, 16)),
    ]


def test_an_instruction_without_a_line_belongs_to_the_line_before():
    text = (
        ".loc 7 0 0\nop1;\n.loc 7 2 5\nop2;\n.loc 7 0 5\nop3;\n.loc 7 0 0\nop4;\n.loc 7 3 1\nop5;"
    )
    found = module(f'.file 7 "a.cu"\n.entry k() {{\n{text}\n}}').functions["k"]
    assert [one.where.line for one in found.body] == [0, 2, 2, 2, 3]


def test_code_without_a_line_stays_with_what_comes_before():
    text = ".entry k() {\n.loc 7 1 0\nop1;\n.loc 7 5 2\nop2;\n.loc 7 0 2\nop3;\n"
    text += ".loc 7 9 9, function_name other, inlined_at 7 0 2\nop4;\n}"
    places = [one.where for one in module(text).functions["k"].body]
    assert [(one.line, one.column) for one in places] == [(1, 0), (5, 2), (5, 2), (9, 9)]
    assert places[3].inlined_at.line == 5


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        ("plain", "plain"),
        ("_Z5twiceILi3EEffi", "twice"),
        ("_ZN3cub9BlockScanIiLi128EE12InclusiveSumEiRi", "InclusiveSum"),
        ("_ZNK4cuda3std4plusIvEclIffEEfOT_OT0_", "operator()"),
        ("_ZN3BoxC1Ev", "Box"),
        ("_ZN3BoxD2Ev", "~Box"),
        ("_ZN1AplERKS_", "operator+"),
        ("_ZN1AcviEv", "operator"),
        ("_ZZ4sortIiLi4EEvPT_E1t", "t"),
        ("_ZZ1fvENKUliE_clEi", "operator()"),
        ("_ZZ1fvENUlvE0_4_FUNEv", "_FUN"),
        ("_ZSt3maxIiERKT_S2_S2_", "max"),
        ("_ZL6statici", "static"),
        ("_ZN8__main__1kB2v2B3abcE5ArrayIfLi1EE", "k"),
        ("_ZN1AIFivEM1BiA3_iJdLDn0EEL_Z1fvEE1gEv", "g"),
        ("_ZN1AILNS_1BE3EL1C1EE1gEv", "g"),
        ("_ZTV3Box", "_ZTV3Box"),
        ("_Z99short", "_Z99short"),
        ("_Z0", "_Z0"),
        ("_ZN1a", "_ZN1a"),
        ("_Z", "_Z"),
        (f"_ZN1A{'I' * 5000}", f"_ZN1A{'I' * 5000}"),
        (f"_ZN1A{'IS_IZ' * 5000}", f"_ZN1A{'IS_IZ' * 5000}"),
    ],
)
def test_the_plain_name_of_a_mangled_one(mangled, plain):
    assert plain_name(mangled) == plain


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("add.u32 %r1 %r2;", 1, "%r2 is not expected here; expected"),
        ("add.u32 %r1, ;", 1, "; is not expected here; expected"),
        ("\nadd.u32 %r1, %r2\nret;", 3, "ret is not expected here; expected"),
        ("op 089;", 1, "089 is not expected here"),
        ("op 0fF800;", 1, "0fF800 is not expected here"),
        ("op [%r1;", 1, "; is not expected here"),
        ("op {{1}};", 1, "{ is not expected here"),
        ("\n\n.loc 1 2;", 3, ".loc is not expected here"),
        ("\n/* never", 2, "/ is not expected here"),
        ('.pragma "never;', 1, '"never; is not expected here'),
        ("op ä;", 1, "ä is not expected here"),
        ("op \0;", 1, "\0 is not expected here"),
        (f"op 1{'0' * 99};", 1, "an integer of PTX has no more than 64 bits"),
        ("op 18446744073709551616;", 1, "an integer of PTX has no more than 64 bits"),
        ("op -9223372036854775809;", 1, "an integer of PTX has no more than 64 bits"),
        ("op %r1+4;", 1, "%r1 is a register; a variable, a function or a label has to be here"),
        ("op !s;", 1, "s is not a register"),
        ("@s op;", 1, "s is not a register"),
        ("op %nothing;", 1, "%nothing is not declared; declare it in front of its use"),
        ("bra missing;", 1, "missing is not declared"),
        ("op [-4];", 1, "-4 is not an integer of at least 0"),
        ("L: op;\nL: op;", 2, "L is declared twice"),
        (".reg .b32 x;\n.shared .b32 x;", 2, "x is declared twice"),
        (".reg .v2 .f32 v;", 1, "a register with several lanes; declare one for each"),
        (".reg .f32 v[2];", 1, "the register v is not a single one"),
        (".reg .f32 v<2>[2];", 1, "the register v is not a single one"),
        ("t: .branchtargets %r1;", 1, "%r1 is a register"),
    ],
)
def test_a_mistake_in_a_function(text, line, message):
    error, found = refused_in(text)
    assert str(error).startswith(message)
    assert found == line
    assert error.place.file == "ptx"


def test_a_mistake_is_shown_in_its_line():
    assert str(refused(".entry k() {\n  add.u32 %r1 ^ 2;\n}")) == (
        "^ is not expected here; expected , or ; or an offset as +8 or |\n"
        "  File 'ptx', line 5, in k\n    add.u32 %r1 ^ 2;\n                ^"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".entry k() { ret; ", "the end of the text is not expected here; expected"),
        (".entry k() { ret; }}", "} is not expected here"),
        (".entry k(", "the end of the text is not expected here; expected ) or a space as .shared"),
        ("ret;", "ret is not expected here"),
        ("def f(x): return x", "def is not expected here"),
        (".reg .b32 %r1;", "a register outside of a function"),
        (".address_size 32", "addresses of 32 bits; compile for 64 bits"),
        (".alias f, g;", "g is not a function"),
        (".entry k() .maxntid -1 {}", "-1 is not an integer of at least 0"),
        (".entry k(.param .u32 a, .param .u32 a) {}", "a is declared twice"),
        (
            f".entry k() {{ {'{' * 200} ret; {'}' * 200} }}",
            "more than 100 scopes inside each other",
        ),
        (f".entry k() {{ {'{' * 50000}", "the end of the text is not expected here"),
        (f".entry k() {'x' * 60} {{", f"{'x' * 40}... is not expected here"),
    ],
)
def test_a_mistake_in_a_module(text, message):
    assert str(refused(text)).startswith(message)


def test_no_text_is_an_empty_module():
    assert read("") == Module("", "", {})


def test_a_module_that_a_compiler_wrote():
    """The file sums.cu: lines, inlined functions, vectors, pairs, limits, shared arrays."""
    found = read(REAL["sums"])
    (kernel,) = found.functions.values()
    assert (found.version, found.target, found.files) == ("9.5", "sm_90", {1: "sums.cu"})
    assert kernel.limits == {"maxntid": (256, 1, 1), "minnctapersm": (2,)}
    assert [one.name for one in kernel.parameters] == [f"sums_param_{n}" for n in range(3)]
    assert found.variables["dynamic"].count is None
    assert [one.count for one in kernel.variables] == [264]
    lines = (HERE / "sums.cu").read_text("utf-8").splitlines()
    assert "sums(" in lines[kernel.where.line - 1]
    code = [one for one in kernel.body if isinstance(one, Instruction)]
    assert len(code) == sum(
        bool(re.match(r"\t(@%\w+ )?[a-z][\w.]*[ \t;]", line)) for line in REAL["sums"].splitlines()
    )
    for one in code:
        text = REAL["sums"].splitlines()[one.where.ptx - 1]
        assert ".".join(one.name) in text
    (atom,) = [one for one in code if one.name[0] == "atom"]
    assert "atomicAdd" in lines[atom.where.line - 1]
    inlined = next(one.where for one in code if one.where.function == "cube")
    assert "x * x * x" in lines[inlined.line - 1]
    assert inlined.inlined_at.function == "of"
    assert "cube(x) + N" in lines[inlined.inlined_at.line - 1]
    assert "Norm<3>" in lines[inlined.inlined_at.inlined_at.line - 1]
    assert inlined.inlined_at.inlined_at.inlined_at is None


@pytest.mark.parametrize("name", REAL)
def test_a_module_holds_nothing_of_the_parser(name):
    assert b"lark" not in pickle.dumps(read(REAL[name]))


def test_another_module_that_a_compiler_wrote():
    """The file objects.cu: functions and their addresses, calls, a switch, assembly in scopes."""
    found = read(REAL["objects"])
    assert found.variables["functions"].references == (
        Reference(0, 8, Symbol("_Z5firstii")),
        Reference(8, 8, Symbol("_Z6secondii")),
    )
    assert found.variables["third"].references == (Reference(0, 8, Symbol("numbers", 8), True),)
    assert found.variables["weights"].initial == struct.pack("<4f", 1, 2.5, -3, 1e-3)
    assert found.functions["malloc"].body is None
    kernel = found.functions["objects"]
    calls = [one for one in kernel.body if isinstance(one, Instruction) and one.name[0] == "call"]
    called = [one.operands[1].name for one in calls]
    assert {"vprintf", "malloc", "_Z5firstii"} < set(called)
    assert all(isinstance(one.operands[2], Vector) for one in calls)
    assert sum(isinstance(one.operands[1], Register) for one in calls) == 2
    assert [len(one) for one in kernel.tables.values()] in ([], [7])
    inner = [name for name, type_ in kernel.registers.items() if name.startswith("p@")]
    assert len(inner) == 2
    labels = [one.name for one in kernel.body if isinstance(one, Label)]
    assert len(labels) == len(set(labels))
    assert len([one for one in labels if one.startswith("DONE@")]) == 2


WORDS = re.compile(r"[\w$%.]+|\s+|.")


def damaged(text, dice):
    """A text with a few changes: of letters, of words, and of lines."""
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        way = dice.randrange(4)
        parts = [list, WORDS.findall, WORDS.findall, str.splitlines][way](text)
        at, other = dice.randrange(len(parts)), dice.randrange(len(parts))
        change = dice.randrange(4)
        if change == 0:
            del parts[at]
        elif change == 1:
            parts[at], parts[other] = parts[other], parts[at]
        elif change == 2:
            parts.insert(at, parts[other])
        elif way == 0:
            parts[at] = dice.choice('{}[]()<>,;:.@!|%$_+-0f9xé"/*\n \0')
        else:
            del parts[at:]
        text = ("\n" if way == 3 else "").join(parts)
        if not text:
            break
    return text


@pytest.mark.parametrize(
    "count",
    [pytest.param(500, id="quick"), pytest.param(20_000, id="many", marks=pytest.mark.long)],
)
def test_damaged_text_is_read_or_refused_with_its_line(count):
    dice = random.Random(count)
    pieces = [function_of(text, dice) for text in REAL.values() for _ in range(20)]
    outcomes = [0, 0]
    for _ in range(count):
        text = damaged(dice.choice(pieces), dice)
        start = time.process_time()
        error = error_of(text)
        assert time.process_time() - start < 5
        outcomes[error is None] += 1
        if error is not None:
            assert error.place.text == text.split("\n")[error.place.line - 1]
    assert min(outcomes) > count // 50


def error_of(text):
    try:
        read(text)
    except LanguageError as error:
        return error
    return None


def function_of(text, dice):
    """A text with fewer instructions, so that a test takes seconds."""
    lines = text.splitlines()
    body = [at for at, line in enumerate(lines) if re.match(r"\t[a-z@]", line)]
    gone = set(body) - set(range(first := dice.choice(body), first + 8))
    return "\n".join(line for at, line in enumerate(lines) if at not in gone)
