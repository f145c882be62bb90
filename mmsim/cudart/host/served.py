"""A program of CUDA C++ while it runs: its requests, and the launches of its kernels."""

from __future__ import annotations

import math
import os
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mmsim.cuda.devices import Device
from mmsim.cuda.launches import (
    Configuration,
    KernelIndexError,
    LaunchConfigurationError,
    launch,
)
from mmsim.cuda.machines import Clock
from mmsim.cudart.host.device_memory import DeviceMemory
from mmsim.cudart.host.loaded import LoadedModule
from mmsim.cudart.host.protocol import Error, Fields, LaunchRequest, Request, received, reply
from mmsim.cudart.host.repeats import Repeats
from mmsim.cudart.host.stacks import described, placed
from mmsim.errors import LanguageError, LaunchError, MMSimError, ProgramError, RaisedError
from mmsim.host.free_memory import available

LEAST_MEMORY = 1 << 33
"""The bytes of memory of a computer that doesn't say how many it has."""
REGISTERS = 32
"""The registers of a thread, as the program sees them: the model has no limit of them."""
HOST = range(0x5500 << 32, 0x8000 << 32)
"""The addresses where Linux puts a program's code and its memory."""
RAISED = {
    "AssertionError": Error.ASSERT,
    "is no multiple of": Error.MISALIGNED_ADDRESS,
    "lies in no array": Error.ILLEGAL_ADDRESS,
}
"""Parts of the messages of kernels that stop, and CUDA's errors for them."""
NOWHERE = re.compile(r"the address (\d+) lies in no array")
POINTER = 8
"""The bytes of a pointer."""
KEPT = 16
"""This part of the memory that is free here holds what launches did, for equal ones."""
HALF_MEMORY = 2
"""The device has half of the memory that is free here: a launch copies its arrays."""


class Served:
    """Runs a program, whose runtime is mmsim's, and answers its requests.

    `failed` is True if a launch failed that mmsim doesn't support, `is_used` if the program called
    the runtime.
    """

    def __init__(self) -> None:
        self.failed = self.is_used = False
        self._memory = DeviceMemory()
        self._repeats = Repeats((available() or LEAST_MEMORY) // KEPT)
        self._modules: list[LoadedModule] = []
        self._answers: Mapping[Request, Callable[[bytes], tuple[Error, bytes]]] = {
            Request.HELLO: self._hello,
            Request.MODULE: self._module,
            Request.VARIABLE: self._variable,
            Request.FUNCTION: self._function,
            Request.LAUNCH: self._launch,
            Request.ALLOCATION: self._allocation,
            Request.FREED: self._freed,
            Request.HEAP: self._heap,
        }

    def run(self, command: Sequence[str], library: Path) -> int:
        """Run a program with the runtime in the folder `library`; return its exit status."""
        own, theirs = socket.socketpair()
        with own:
            with theirs:
                handles = theirs.fileno(), self._memory.file
                paths = [str(library), os.environ.get("LD_LIBRARY_PATH", "")]
                environment = {
                    **os.environ,
                    "LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths)),
                    "MMSIM_CUDART": f"{handles[0]},{handles[1]}",
                }
                sys.stdout.flush()
                program = subprocess.Popen(command, env=environment, pass_fds=handles)
            try:
                while (request := received(own)) is not None:
                    error, data = self._answer(*request)
                    reply(own, error, Clock.milliseconds, data)
            except BrokenPipeError:  # it ended without waiting for the answer
                pass
            finally:
                own.close()
                status = program.wait()
                self._memory.close()
        if status < 0:
            _say(f"the program was ended by the signal {signal.Signals(-status).name}")
            return 128 - status
        return status

    def _answer(self, request: Request, data: bytes) -> tuple[Error, bytes]:
        try:
            return self._answers[request](data)
        except MMSimError as error:
            _say(str(error))
            found = error_of(error)
            self.failed |= found in (Error.NOT_SUPPORTED, Error.NO_KERNEL_IMAGE)
            return found, b""

    def _hello(self, data: bytes) -> tuple[Error, bytes]:
        self.is_used = True
        device = Device()
        count, width = device.MULTIPROCESSOR_COUNT, device.WARP_SIZE
        head = struct.pack("=Qii", (available() or LEAST_MEMORY) // HALF_MEMORY, count, width)
        return Error.SUCCESS, head + device.name.encode()

    def _module(self, data: bytes) -> tuple[Error, bytes]:
        self._modules.append(LoadedModule(data, self._memory))
        return Error.SUCCESS, b""

    def _variable(self, data: bytes) -> tuple[Error, bytes]:
        fields = Fields(data)
        module, address = fields.numbers("IQ")
        self._modules[module].add_variable(fields.bytes().decode(), address)
        return Error.SUCCESS, b""

    def _function(self, data: bytes) -> tuple[Error, bytes]:
        fields = Fields(data)
        (module,) = fields.numbers("I")
        facts = self._modules[module].facts(fields.bytes().decode())
        sizes = facts.parameter_bytes
        numbers = [facts.shared_bytes, facts.constant_bytes, facts.local_bytes]
        numbers += [facts.most_threads or Device.MAX_THREADS_PER_BLOCK, REGISTERS]
        return Error.SUCCESS, struct.pack(f"=I{len(sizes)}I5i", len(sizes), *sizes, *numbers)

    def _launch(self, data: bytes) -> tuple[Error, bytes]:
        asked = LaunchRequest.of(data)
        module = self._modules[asked.module]
        facts = module.facts(asked.kernel)
        most = facts.most_threads or Device.MAX_THREADS_PER_BLOCK
        if asked.is_cooperative:
            self._refuse_too_large(asked)
        configuration = Configuration(
            asked.grid, asked.block, asked.shared_bytes, most, asked.most_dynamic
        )
        try:
            program = module.program(asked.kernel, asked.shared_bytes)
            launch(program, asked.args, configuration, self._repeats.run)
        except ProgramError as error:
            if error_of(error) == Error.ILLEGAL_ADDRESS:
                self._hint(asked)
                self._name_memory(module, error)
            raise
        return Error.SUCCESS, b""

    def _hint(self, asked: LaunchRequest) -> None:
        """Name the arguments of a failed launch that are addresses of the host."""
        for number, data in enumerate(asked.args, 1):
            if len(data) == POINTER and int.from_bytes(data, "little") in HOST:
                _say(
                    f"argument {number} of the launch is an address of the host; kernels access "
                    "memory of cudaMalloc, cudaMallocManaged or cudaMallocHost"
                )

    def _name_memory(self, module: LoadedModule, error: ProgramError) -> None:
        """Name the allocation that the address of a failed access is in, or nearest to."""
        if error.array in module.named:
            _say(f"{error.array!r} is {described(module.named[error.array])}")
        if found := NOWHERE.search(error.message):
            at = int(found[1])
            if (nearest := self._memory.nearest(at)) is not None:
                _say(f"the address {at} is {placed(at, nearest)}")

    def _refuse_too_large(self, asked: LaunchRequest) -> None:
        """Refuse a cooperative launch whose blocks a GPU could not run at the same time."""
        threads = max(math.prod(asked.block), 1)
        device = Device()
        resident = device.MAX_THREADS_PER_MULTI_PROCESSOR // threads * device.MULTIPROCESSOR_COUNT
        blocks = math.prod(asked.grid)
        if blocks > resident:
            raise TooLargeError(
                f"a cooperative launch has {blocks} blocks of {threads} threads; the device runs "
                f"at most {resident} at the same time"
            )

    def _allocation(self, data: bytes) -> tuple[Error, bytes]:
        fields = Fields(data)
        address, size, count = fields.numbers("QQI")
        calls = tuple((fields.bytes().decode(), *fields.numbers("Q")) for _ in range(count))
        self._memory.add(address, size, calls)
        return Error.SUCCESS, b""

    def _freed(self, data: bytes) -> tuple[Error, bytes]:
        self._memory.free(*Fields(data).numbers("Q"))
        return Error.SUCCESS, b""

    def _heap(self, data: bytes) -> tuple[Error, bytes]:
        """Set the size of the heap of kernels, before the first one uses it."""
        if self._memory.heap:
            return Error.INVALID_VALUE, b""
        (self._memory.heap_bytes,) = Fields(data).numbers("Q")
        return Error.SUCCESS, b""


class TooLargeError(LaunchError):
    """A cooperative launch with more blocks than the device runs at the same time."""


def error_of(error: MMSimError) -> Error:
    """CUDA's number for an error of a launch."""
    match error:
        case KernelIndexError():
            return Error.ILLEGAL_ADDRESS
        case TooLargeError():
            return Error.COOPERATIVE_LAUNCH_TOO_LARGE
        case LaunchConfigurationError():
            is_shared = "shared memory" in str(error)
            return Error.INVALID_VALUE if is_shared else Error.INVALID_CONFIGURATION
        case RaisedError():
            found = (number for text, number in RAISED.items() if text in error.message)
            return next(found, Error.LAUNCH_FAILURE)
        case LanguageError():
            return Error.NOT_SUPPORTED
        case LaunchError():
            return Error.ILLEGAL_ADDRESS
        case ProgramError():
            return Error.LAUNCH_FAILURE
    return Error.NOT_SUPPORTED


def _say(text: str) -> None:
    sys.stdout.flush()
    print(f"mmsim: {text}", file=sys.stderr, flush=True)
