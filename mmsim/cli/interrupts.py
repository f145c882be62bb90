"""Ctrl-C and other signals that end a command, from its first module to the end of Python."""

from __future__ import annotations

import atexit
import math
import os
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

STATUS = 128
"""The exit status of a command ended by a signal, less the signal's number."""
ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
IMPORTS = "<frozen importlib._bootstrap>"
"""The file of each stack frame that loads a module."""
PATIENCE = 1.5
"""Seconds that Ctrl-C waits for a module: a user's module may compute for hours."""
AGAIN = 0.001
"""Seconds between two looks."""
HAS_TIMER = hasattr(signal, "setitimer")
"""True if there is a timer: not on Windows."""


class Interruptible:
    """`with Interruptible(alone):` around a command; `alone` if the process runs nothing else.

    A signal that the process ignores, as under nohup, stays ignored.
    """

    def __init__(self, alone: bool) -> None:
        self.alone = alone

    def __enter__(self) -> None:
        if not self.alone:
            return
        for number in _signals(signal.SIG_DFL):
            signal.signal(number, _leave)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            raise_when_loaded(PATIENCE)
            # A command has its status when Python's last functions run.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)

    def __exit__(self, *error: object) -> None:
        if self.alone and callable(signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, _leave)
            if HAS_TIMER:
                signal.setitimer(signal.ITIMER_REAL, 0)


def raise_when_loaded(patience: float = math.inf) -> None:
    """Make Ctrl-C a `KeyboardInterrupt`, but only after the loading of a module or a finalizer.

    Python drops a `KeyboardInterrupt` in `__del__`, and at the release of a module's lock. A module
    written in C may print its traceback and go on, or raise another error. The process ends if a
    module takes more seconds than `patience`, or on a second Ctrl-C.
    """
    signal.signal(signal.SIGINT, _Interrupt(patience))


def raise_waiting() -> None:
    """Raise a Ctrl-C that still waits for a module: where a process forks it would be lost."""
    waiting = signal.getsignal(signal.SIGALRM) if HAS_TIMER else None
    if isinstance(waiting, _Interrupt) and waiting.end is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt


def end_by_signals() -> None:
    """From here on, all signals except for Ctrl-C end the process immediately, without Python."""
    for number in _signals(_leave):
        signal.signal(number, signal.SIG_DFL)


def _signals(handler: object) -> list[signal.Signals]:
    """The system's signals with this handler, except for Ctrl-C."""
    known = [getattr(signal, name) for name in ENDING[1:] if hasattr(signal, name)]
    return [number for number in known if signal.getsignal(number) == handler]


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process immediately."""
    with suppress(Exception):  # closed, or no file
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, b"mmsim: interrupted\n")
    os._exit(STATUS + number)


class _Interrupt:
    """The handler of Ctrl-C; a timer calls it again while the exception would be dropped."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.end: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not _drops(frame) or not HAS_TIMER:
            raise KeyboardInterrupt
        if self.end is None:
            self.end = time.monotonic() + self.patience
            signal.signal(signal.SIGALRM, self)
        elif number == signal.SIGINT or time.monotonic() > self.end:
            _leave(signal.SIGINT, frame)
        signal.setitimer(signal.ITIMER_REAL, AGAIN)


def _drops(frame: FrameType | None) -> bool:
    """Return whether a frame or one of its callers loads a module, or is a finalizer."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename == IMPORTS or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
