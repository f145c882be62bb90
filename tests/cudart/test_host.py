"""The parts of whole programs that need no compiler: code, requests, memory, arguments."""

import ctypes
import socket
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mmsim.cli.main import main
from mmsim.cuda.launches import Configuration, KernelIndexError, launch
from mmsim.cudart import installed
from mmsim.cudart.host import building, fatbin, programs, protocol, stacks
from mmsim.cudart.host.device_memory import BASE, PLACED, DeviceMemory
from mmsim.cudart.host.fatbin import Entry, ptx_of
from mmsim.cudart.host.loaded import LoadedModule
from mmsim.cudart.host.protocol import Error, LaunchRequest, Request
from mmsim.cudart.host.served import Served, TooLargeError, error_of
from mmsim.cudart.host.stacks import described, placed
from mmsim.errors import LanguageError, LaunchError, MMSimError, Place, RaisedError, RoomError
from mmsim.frontend.ptx.heap import HEAP

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 table[4] = {1, 2, 3, 4};

.visible .entry put(.param .u64 a, .param .u32 value, .param .align 8 .b8 pair[16])
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<10>;
    ld.param.u64        %rd1, [a];
    ld.param.u32        %r1, [value];
    ld.param.u64        %rd3, [pair+8];
    cvta.to.global.u64  %rd1, %rd1;
    mov.u32             %r2, %tid.x;
    mul.wide.u32        %rd2, %r2, 4;
    add.s64             %rd1, %rd1, %rd2;
    add.s64             %rd3, %rd3, %rd2;
    ld.global.u32       %r3, [%rd3];
    add.s32             %r3, %r3, %r1;
    st.global.u32       [%rd1], %r3;
    mov.u64             %rd4, table;
    add.s64             %rd4, %rd4, %rd2;
    ld.global.u32       %r4, [%rd4];
    add.s32             %r4, %r4, 1;
    st.global.u32       [%rd4], %r4;
    ret;
}

.visible .entry follow(.param .u64 first, .param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64        %rd1, [first];
    ld.param.u64        %rd2, [out];
    ld.global.u64       %rd3, [%rd1];
    ld.global.u32       %r1, [%rd3+4];
    st.global.u32       [%rd2], %r1;
    ret;
}

.visible .entry walk(.param .u64 first, .param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64        %rd1, [first];
    ld.param.u64        %rd2, [out];
    mov.u32             %r1, 0;
LOOP:
    ld.global.u32       %r2, [%rd1+8];
    add.s32             %r1, %r1, %r2;
    ld.global.u64       %rd1, [%rd1];
    setp.ne.s64         %p1, %rd1, 0;
    @%p1 bra            LOOP;
    st.global.u32       [%rd2], %r1;
    ret;
}
"""


def entry(code, kind=1, capability=90, flags=0x11, size=0):
    padded = code + bytes(-len(code) % 8)
    return (
        struct.pack(
            "<HHIQIIHHIIIQQQ",
            *(kind, 0x101, 64, len(padded), len(code)),
            *(0, 0, 8, capability, 0, 0, flags, 0, size),
        )
        + padded
    )


def fat(*parts):
    data = b"".join(parts)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(data)) + data


# Fat binaries


def test_the_newest_ptx_of_a_fat_binary():
    data = fat(entry(b"cubin", kind=2, capability=100), entry(b"old", capability=80), entry(b"new"))
    assert ptx_of(data) == "new"
    assert ptx_of(data + b"more") == "new"


def test_without_ptx_the_message_names_the_option():
    with pytest.raises(MMSimError, match=r"no PTX.*code=compute_90"):
        ptx_of(fat(entry(b"cubin", kind=2)))


def test_ptx_that_lz4_compressed():
    packed = bytes([0x3F]) + b"abc" + bytes([3, 0, 255, 2]) + bytes([0x20]) + b"xy"
    plain = (b"abc" * 100)[: 3 + 4 + 15 + 255 + 2] + b"xy"
    assert ptx_of(fat(entry(packed, flags=0x2011, size=len(plain)))) == plain.decode()
    long = bytes([0xF0, 5]) + b"x" * 20
    assert fatbin.lz4(long, 20) == b"x" * 20


def test_ptx_that_zstd_compressed_needs_a_library(monkeypatch):
    packed = Entry(True, 90, 0x8011, 90, bytes.fromhex("28b52ffd205a4d0000187074780100e4e486"))

    def none(name):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(fatbin.ctypes, "CDLL", none)
        with pytest.raises(MMSimError, match=r"install libzstd.so.1, or compile.*no-compress"):
            fatbin.plain(packed)
    try:
        ctypes.CDLL("libzstd.so.1")
    except OSError:
        pytest.skip("there is no libzstd.so.1")
    assert fatbin.plain(packed) == b"ptx" * 30
    with pytest.raises(MMSimError, match="damaged"):
        fatbin.plain(packed._replace(data=b"other"))


def test_several_fat_binaries_are_split():
    one, two = fat(entry(b"one")), fat(entry(b"another"))
    assert fatbin.split(one + two) == [one, two]
    for data in (one + two[:9], bytes(3)):
        with pytest.raises(MMSimError, match="damaged"):
            [*map(ptx_of, fatbin.split(data))]


@pytest.mark.parametrize("size", [0, 8, 20, 70, 82])
def test_a_damaged_fat_binary_is_an_error(size):
    with pytest.raises(MMSimError, match="damaged; compile it again"):
        ptx_of(fat(entry(b"some code"))[:size])


def test_damaged_lz4_is_an_error():
    for data in (b"\xf0", b"\x10", b"\x10a\x05\x00"):
        with pytest.raises(MMSimError, match="damaged"):
            fatbin.lz4(data, 50)


# Requests


def test_requests_and_replies_go_through_a_socket():
    program, own = socket.socketpair()
    with own:
        program.sendall(struct.pack("=II", Request.FREED, 8) + struct.pack("=Q", 77))
        assert protocol.received(own) == (Request.FREED, struct.pack("=Q", 77))
        protocol.reply(own, Error.ASSERT, 1.5, b"abc")
        assert program.recv(100) == struct.pack("=iId", 710, 3, 1.5) + b"abc"
        program.sendall(b"half")
        program.close()
        assert protocol.received(own) is None


def test_a_launch_is_read():
    data = struct.pack("=II", 3, 4) + b"name" + struct.pack("=6IQiiI", *range(1, 7), 64, 48, 1, 2)
    data += struct.pack("=II", 4, 5) + struct.pack("=IQ", 8, 6)
    data += struct.pack("=II", 1, 4) + b"file" + struct.pack("=Q", 77)
    asked = LaunchRequest.of(data)
    assert asked == (3, "name", (1, 2, 3), (4, 5, 6), 64, 48, True, asked.args, asked.calls)
    assert asked.calls == (("file", 77),)
    assert asked.args == (struct.pack("=I", 5), struct.pack("=Q", 6))


def test_the_numbers_of_errors_of_launches():
    place = Place("k", "k.cu", 1, 0, 1, "")
    raised = [
        "AssertionError: an assertion of the kernel fails",
        "ValueError: an address of 4 bytes is no multiple of 4",
        "ValueError: the address 5 lies in no array",
        "RuntimeError: the kernel stops with a trap",
    ]
    assert [error_of(RaisedError(text, program="k")) for text in raised] == [710, 716, 700, 719]
    assert error_of(LanguageError("no", place)) == Error.NOT_SUPPORTED
    assert error_of(TooLargeError("no")) == Error.COOPERATIVE_LAUNCH_TOO_LARGE
    assert error_of(LaunchError("no")) == Error.ILLEGAL_ADDRESS
    assert error_of(RoomError("no")) == Error.MEMORY_ALLOCATION
    assert error_of(MMSimError("no")) == Error.NOT_SUPPORTED


# Memory and arguments


@pytest.fixture
def device():
    memory = DeviceMemory()
    yield memory
    memory.close()


def test_an_address_is_in_an_allocation_or_at_its_end(device):
    device.add(BASE, 100)
    device.add(BASE + 256, 10)
    assert device.find(BASE - 1) is None
    assert device.find(BASE + 100).address == BASE
    assert device.find(BASE + 101) is None
    assert device.find(BASE + 256).address == BASE + 256
    device.free(BASE)
    assert device.find(BASE + 5).is_freed
    assert [one.address for one in device.live()] == [BASE + 256]


def test_the_nearest_allocation_of_an_address(device):
    assert device.nearest(BASE) is None
    device.add(BASE, 100)
    device.add(BASE + 256, 10)
    for at, place in (
        (BASE + 100, "0 bytes past the end of an allocation of 100 bytes"),
        (BASE + 177, "77 bytes past the end of an allocation of 100 bytes"),
        (BASE + 181, "75 bytes before an allocation of 10 bytes"),
        (BASE + 258, "byte 2 of an allocation of 10 bytes"),
        (BASE + 256, "the beginning of an allocation of 10 bytes"),
        (BASE + 1000, "734 bytes past the end of an allocation of 10 bytes"),
    ):
        assert placed(at, device.nearest(at)) == place
    device.free(BASE)
    assert placed(BASE + 99, device.nearest(BASE + 99)).endswith("100 bytes, freed")
    assert device.nearest(BASE - 1) is None
    assert device.nearest(1 << 60) is None


def test_an_allocation_has_the_lines_of_the_host(device, monkeypatch):
    def lines(command, **_):
        assert command[:5] == ["addr2line", "-fiC", "-e", "program", "0x10"]
        text = "cudaMalloc<int>(int**)\n/usr/include/cuda_runtime.h:5\nmake(int)\na.cu:3 (more)\n"
        text += "stub(int)\n/tmp/a.cudafe1.stub.c:2\nkernel(int)\na.cu:1\n"
        return SimpleNamespace(stdout=text + "main\n??:0\n_start\nc.cu:1\n")

    monkeypatch.setattr(stacks.shutil, "which", lambda name: name)
    monkeypatch.setattr(stacks.subprocess, "run", lines)
    device.add(BASE, 100, (("program", 16), ("program", 32)))
    assert described(device.find(BASE)) == "100 bytes, allocated in a.cu:3 (make)"
    device.free(BASE, (("program", 16),))
    text = "100 bytes, allocated in a.cu:3 (make), freed in a.cu:3 (make)"
    assert described(device.find(BASE)) == text
    monkeypatch.setattr(stacks.shutil, "which", lambda name: None)
    assert described(device.find(BASE)) == "100 bytes, freed"
    assert described(device.name(BASE, "table")) == "the variable 'table' of 100 bytes"


@pytest.fixture
def module(device):
    device.add(BASE, 64)  # an array
    device.add(BASE + 256, 16)  # the variable
    device.add(BASE + 512, 31)  # another array
    loaded = LoadedModule(fat(entry(PTX.encode())), device)
    loaded.add_variable("table", BASE + 256)
    return loaded


HEAP_PTX = (Path(__file__).parents[1] / "frontend/ptx/heap.ptx").read_text("utf-8")


def test_all_modules_share_the_heap(device):
    device.add(BASE, 8)
    device.add(BASE + 256, 4)
    one, other = (LoadedModule(fat(entry(HEAP_PTX.encode())), device) for _ in range(2))
    start(one, "put", BASE, threads=1)
    first = device.find(BASE).memory.view(np.int64)[0]
    assert first == PLACED + 16 + 256
    assert other.find(first).variable == ""  # a kernel of the other one has not used it
    start(other, "take", BASE, BASE + 256, threads=1)
    assert HEAP in other.named  # by this name the checker knows it
    assert words(device, BASE + 256)[0] == 7
    start(other, "put", BASE, threads=1)
    assert device.find(BASE).memory.view(np.int64)[0] == first  # all was free
    start(other, "given_back", int(first), threads=1)
    assert list(other.named) == [HEAP]


def test_the_host_sets_the_size_of_the_heap_before_it_is_used(device):
    served = Served()
    assert served._heap(struct.pack("=Q", 1 << 12)) == (Error.SUCCESS, b"")
    memory = served._memory
    memory.add(BASE, 8)
    start(LoadedModule(fat(entry(HEAP_PTX.encode())), memory), "put", BASE, threads=1)
    assert [one.size for one in memory.live()] == [8, 8, 1 << 12]
    assert served._heap(struct.pack("=Q", 1 << 13)) == (Error.INVALID_VALUE, b"")
    memory.close()


def words(device, address):
    return device.find(address).memory.view(np.int32)


def start(module, kernel, *args, threads=4):
    data = tuple(struct.pack("=Q", one) if isinstance(one, int) else one for one in args)
    asked = Configuration((1, 1, 1), (threads, 1, 1), 0, 1024)
    return launch(module.program(kernel, 0), data, asked)


def pair(pointer):
    return struct.pack("=QQ", 0, pointer)


def test_the_bytes_of_arguments_are_numbers_and_pointers(module, device):
    words(device, BASE + 512)[:4] = 10, 20, 30, 40
    start(module, "put", BASE + 16, struct.pack("=i", -3), pair(BASE + 512))
    assert words(device, BASE)[4:9].tolist() == [7, 17, 27, 37, 0]
    assert words(device, BASE + 256)[:4].tolist() == [2, 3, 4, 5]
    start(module, "put", BASE, struct.pack("=i", 1), pair(BASE + 516))
    assert words(device, BASE)[:4].tolist() == [21, 31, 41, 1]


def test_a_pointer_to_a_variable_is_the_variable(module, device):
    start(module, "put", BASE + 256, struct.pack("=i", 100), pair(BASE + 256))
    assert words(device, BASE + 256)[:4].tolist() == [102, 103, 104, 105]


def test_an_array_ends_with_its_last_whole_element(module):
    start(module, "put", BASE, bytes(4), pair(BASE + 512), threads=4)
    with pytest.raises(KernelIndexError, match="the array has 7 elements"):
        start(module, "put", BASE, bytes(4), pair(BASE + 516 + 12), threads=4)
    (name,) = (name for name, one in module.named.items() if one.address == BASE + 512)
    assert name == "argument_3_8"


def test_a_pointer_in_memory_leads_to_any_allocation(module, device):
    words(device, BASE + 512)[:3] = 0, 0, 55
    device.find(BASE).memory.view(np.int64)[0] = BASE + 516
    start(module, "follow", BASE, BASE + 256, threads=1)
    assert words(device, BASE + 256)[0] == 55


def test_a_list_leads_through_allocations(module, device):
    for address, follower, value in ((BASE, BASE + 512, 3), (BASE + 512, 0, 4)):
        device.find(address).memory.view(np.int64)[:2] = follower, value
    start(module, "walk", BASE, BASE + 256, threads=1)
    assert words(device, BASE + 256)[0] == 7


def test_a_pointer_to_the_middle_of_an_element(module):
    with pytest.raises(RaisedError, match="an address of 4 bytes is no multiple of 4"):
        start(module, "put", BASE + 2, bytes(4), pair(BASE + 512))


def test_a_null_pointer_that_is_followed(module, device):
    with pytest.raises(RaisedError, match="lies in no array"):
        start(module, "walk", 0, BASE + 256, threads=1)


def test_a_pointer_in_memory_that_leads_nowhere(module, device):
    device.find(BASE).memory.view(np.int64)[0] = 5
    with pytest.raises(RaisedError, match="the address 9 lies in no array"):
        start(module, "follow", BASE, BASE + 256, threads=1)


def test_a_pointer_in_memory_that_leads_between_allocations(module, device):
    for address in (BASE + 64, BASE + 250):
        device.find(BASE).memory.view(np.int64)[0] = address
        with pytest.raises(RaisedError, match=f"the address {address + 4} lies in no array"):
            start(module, "follow", BASE, BASE + 256, threads=1)


def test_pointers_in_memory_among_too_many_allocations(module, device):
    for number in range(70):
        device.add(BASE + 1024 + 256 * number, 4)
    with pytest.raises(MMSimError, match="more than 64 allocations; make one array") as raised:
        start(module, "follow", BASE, BASE + 256, threads=1)
    assert error_of(raised.value) == Error.NOT_SUPPORTED


def test_variables_are_no_allocations_too_many(module, device):
    for number in range(70):
        at = BASE + 1024 + 256 * number
        device.add(at, 16)
        device.name(at, f"of_library_{number}")
    words(device, BASE).view(np.uint64)[0] = BASE + 512
    words(device, BASE + 512)[1] = 9
    start(module, "follow", BASE, BASE + 8, threads=1)
    assert words(device, BASE)[2] == 9
    module._addresses |= {f"own_{one.address}": one.address for one in device.live()}
    start(module, "follow", BASE, BASE + 16, threads=1)
    assert words(device, BASE)[4] == 9


def test_an_argument_that_points_into_freed_memory(module, device):
    device.free(BASE)
    with pytest.raises(
        LaunchError, match=r"argument 'argument_1' .* was freed .*, 64 bytes, freed; free"
    ):
        start(module, "put", BASE, bytes(4), pair(BASE + 512))


def test_an_argument_of_the_wrong_size(module):
    with pytest.raises(LaunchError, match="has 4 bytes, not 2"):
        start(module, "put", BASE, bytes(2), pair(BASE + 512))


LINKED = (
    """
.version 8.0
.target sm_90
.address_size 64
.file 1 "first.cu"
.extern .func (.param .b32 found) pick;
.global .align 4 .b32 __unnamed_1 = 5;
.visible .entry look(.param .u64 a)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .param .b32 found;
    .loc 1 3 0
    ld.param.u64 %rd1, [a];
    call (found), pick;
    ld.param.b32 %r1, [found];
    ld.global.u32 %r2, [__unnamed_1];
    add.s32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
    ret;
}
""",
    """
.version 8.4
.target sm_90a
.address_size 64
.file 1 "second.cu"
.global .align 4 .b32 __unnamed_1 = 70;
.visible .func (.param .b32 found) pick
{
    .reg .b32 %r<2>;
    .loc 1 7 0
    ld.global.u32 %r1, [__unnamed_1];
    st.param.b32 [found], %r1;
    ret;
}
""",
)


def test_the_code_of_several_files_is_linked(device):
    device.add(BASE, 64)
    module = LoadedModule(b"".join(fat(entry(one.encode())) for one in LINKED), device)
    start(module, "look", BASE, threads=1)
    assert words(device, BASE)[0] == 75
    assert module.module.files == {1: "first.cu", 2: "second.cu"}
    assert module.module.functions["pick"].where.file == 2
    only = LoadedModule(fat(entry(LINKED[0].encode())), device)
    with pytest.raises(LanguageError, match="a call of 'pick', which this module does not define"):
        start(only, "look", BASE, threads=1)


def test_the_facts_of_a_kernel(module):
    facts = module.facts("put")
    assert facts == ([8, 4, 16], 0, 0, 0, None)
    with pytest.raises(MMSimError, match="no kernel 'other'; compile it with"):
        module.facts("other")


# The command


def test_files_of_programs(tmp_path):
    (tmp_path / "script.py").write_text("")
    (tmp_path / "program").write_bytes(b"\x7fELF...")
    assert programs.is_program("a.cu")
    assert programs.is_program("a.cpp")
    assert programs.is_program(str(tmp_path / "program"))
    assert not programs.is_program(str(tmp_path / "script.py"))
    assert not programs.is_program(str(tmp_path / "none"))


def test_a_missing_compiler_is_named(monkeypatch, tmp_path, capsys):
    (tmp_path / "a.cu").write_text("")
    monkeypatch.setattr(installed, "_wheels", lambda: [])
    monkeypatch.setattr(installed, "_toolkits", lambda: [tmp_path])
    monkeypatch.setattr(installed.shutil, "which", lambda name: None)
    assert main(["cuda", str(tmp_path / "a.cu")]) == 2
    assert 'pip install "memory-machine-simulator[cuda-programs]"' in capsys.readouterr().err
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text("")
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    with pytest.raises(MMSimError, match=r"needs the compiler g\+\+.*install g\+\+"):
        building.Nvcc()


def test_options_of_the_compiler_are_for_programs(tmp_path, capsys):
    (tmp_path / "script.py").write_text("")
    assert main(["cuda", "-DN=1", str(tmp_path / "script.py")]) == 2
    assert "are for a program of CUDA C++" in capsys.readouterr().err


def test_the_runtime_names_the_requests_in_the_same_order():
    text = building._source()
    listed = text.partition("enum Request : uint32_t {")[2].partition("}")[0]
    assert [name.strip() for name in listed.split(",")] == [one.name for one in Request]
    assert f"DEVICE = uintptr_t({BASE >> 40}) << 40" in text
