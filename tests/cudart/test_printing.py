"""Texts that kernels write by printf: in order, on both engines, once."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.cuda.launches import history
from mmsim.frontend.ptx.printing import parts_of
from tests.cudart.kernels.expected import CASES

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
PTX = """
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 first, .param .b64 second);
.global .align 1 .b8 $text[40] = {TEXT};

.visible .entry write(.param .u64 out, .param .u64 format)
{
    .local .align 8 .b8 depot[48];
    .reg .b64 %SP;
    .reg .b64 %SPL;
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .f64 %fd<2>;
    mov.u64             %SPL, depot;
    cvta.local.u64      %SP, %SPL;
    ld.param.u64        %rd5, [out];
    mov.u32             %r1, %tid.x;
    mov.u32             %r6, %ntid.x;
    mov.u32             %r7, %ctaid.x;
    mad.lo.u32          %r1, %r7, %r6, %r1;
    sub.u32             %r2, 0, %r1;
    cvt.rn.f64.u32      %fd1, %r1;
    mul.f64             %fd1, %fd1, 0d3FF8000000000000;
    mul.wide.u32        %rd7, %r1, 1073741824;
    st.local.u32        [%SPL], %r2;
    st.local.u32        [%SPL+4], %r2;
    st.local.f64        [%SPL+8], %fd1;
    add.u32             %r3, %r1, 353;
    st.local.u32        [%SPL+16], %r3;
    st.local.u64        [%SPL+24], %rd7;
    mov.u64             %rd1, $text;
    cvta.global.u64     %rd2, %rd1;
    setp.gt.u32         %p1, %r1, 2;
    @%p1 bra            END;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1], %SP;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r5, [retval0];
    }
END:
    ret;
}
"""
OUT = np.zeros(1, np.int32)


def kernel(text):
    numbers = ", ".join(map(str, text.encode()))
    return mm.RawModule(code=PTX.replace("TEXT", numbers)).get_function("write")


def texts(text, engine, grid=1, block=4):
    special = kernel(text).program.specialized((OUT, 0))
    how = {"grid": grid, "block": block, "schedule": "asynchronous", "engine": engine}
    return MACHINE.run(special.program, *special.args, **how).text


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("%d %u %5.2f %c\n", "0 0  0.00 a\n-1 4294967295  1.50 b\n-2 4294967294  3.00 c\n"),
        (
            "%x %o %g %c %llu|",
            "0 0 0 a 0|ffffffff 37777777777 1.5 b 1073741824|fffffffe 37777777776 3 c 2147483648|",
        ),
        ("%+u % x%+.0f|", "0 0+0|4294967295 ffffffff+2|4294967294 fffffffe+3|"),
        ("%hd %hhu%%", "0 0%-1 255%-2 254%"),
        ("100%%\n", "100%\n100%\n100%\n"),
        ("", ""),
    ],
)
def test_each_thread_writes_its_values(engine, text, wanted):
    assert texts(text, engine) == wanted


@pytest.mark.parametrize("engine", ["array", "events"])
def test_a_warp_writes_the_texts_of_its_lanes_one_after_another(engine):
    assert texts("%d;", engine, grid=2, block=2) == "0;-1;-2;"


def test_a_launch_writes_to_the_standard_output_once(capsys):
    case = next(case for case in CASES.values() if case.function == "report")
    args = case.arguments()
    for threads, repeat in ((32, 1), (32, 1)):
        mm.RawModule(code=case.ptx).get_function("report")(repeat, threads, args)
        wanted = "".join(f"thread {i} has {args[0][i]}\n" for i in range(0, 32, 4))
        assert capsys.readouterr().out == wanted
    assert history.last.text == wanted


def test_a_large_launch_writes_each_text_too(capsys):
    kernel("%d ")(64, 128, (OUT, 0))
    assert capsys.readouterr().out == "0 -1 -2 "


def test_a_text_is_in_a_result_that_is_saved():
    special = kernel("%d ").program.specialized((OUT, 0))
    run = MACHINE.run(special.program, *special.args, grid=1, block=4)
    assert mm.Run.from_json(run.to_json()).text == run.text == "0 -1 -2 "
    assert mm.total([run, run]).text == 2 * run.text


@pytest.mark.parametrize("text", ["%s", "%*d", "%n", "%a", "%", "%#o"])
def test_what_is_not_written_is_named(text):
    assert parts_of(text) is None
    with pytest.warns(UserWarning, match="of '.*' writes nothing in the model"):
        assert texts(text, "array") == ""


def test_a_format_that_is_no_constant_is_named():
    code = PTX.replace("TEXT", "0").replace("[param0], %rd2", "[param0], %rd8")
    code = code.replace("mov.u64             %rd1", "ld.param.u64 %rd8, [format];\n mov.u64 %rd1")
    kernel = mm.RawModule(code=code).get_function("write")
    with pytest.warns(
        UserWarning, match="line \\d+: a printf has a format that is no constant text"
    ):
        kernel(1, 4, (OUT, 0))
