"""Ending a long command promptly, at any point of its work.

Python handles a signal between two of its instructions, and a search in SciPy or the compilation of
a program is one instruction that takes a minute. So a long command runs in its own process, the
worker. The worker leads a process group of all processes that it starts, and this process waits for
it. On a signal that ends the command, this process sends the worker a Ctrl-C, and the worker prints
its results so far. After the grace period, this process kills the rest of the group and prints the
text that the worker left.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from mmsim.cli.interrupts import ENDING, STATUS, raise_waiting, raise_when_loaded
from mmsim.cli.output import complain

GRACE = 1.3
"""Seconds between a signal and the end of all processes."""
CLEARING = 0.3
"""The seconds of these for the worker's own processes after its end."""
SET_CHILD_SUBREAPER = 36
"""The option of Linux's prctl(2)."""


_left: TextIO | None = None
"""A file that both processes share."""


def so_far(text: str) -> None:
    """Leave a text to print if the command is killed; a later text replaces it."""
    if _left is not None:
        _left.seek(0)
        _left.truncate()
        _left.write(text)
        _left.flush()


def supervised(work: Callable[[], int]) -> int:
    """Run `work()` in its own process (except on Windows), and return its exit status.

    After a signal (Ctrl-C, SIGTERM, SIGHUP, SIGQUIT), all its processes end in less than two
    seconds. The status is then 128 plus the signal's number: 130 after Ctrl-C.
    """
    if not hasattr(os, "fork"):
        return work()
    raise_waiting()
    global _left
    signals, heard = _listen()
    _left = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  open as long as both
    alive, living = os.pipe()  # open at one end as long as this process lives
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed
            stream.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about NumPy's threads; they wait, and hold no lock
        worker = os.fork()
    if worker == 0:
        os.close(living)
        _become_worker(signals, alive)
        return work()
    os.close(alive)
    with suppress(OSError):  # the worker may have done it already, or ended
        os.setpgid(worker, worker)
    return _wait(worker, heard)


def _listen() -> tuple[list[signal.Signals], int]:
    """From here on a signal becomes a byte in a pipe, even if another thread gets it."""
    heard, sent = os.pipe()
    os.set_blocking(sent, False)
    signal.set_wakeup_fd(sent, warn_on_full_buffer=False)
    signals = [getattr(signal, name) for name in (*ENDING, "SIGTSTP", "SIGCHLD")]
    ignored = [one for one in signals if signal.getsignal(one) is signal.SIG_IGN]
    signals = [one for one in signals if one not in ignored or one == signal.SIGCHLD]
    for one in signals:
        signal.signal(one, lambda *_: None)
    return signals, heard


def _become_worker(signals: list[signal.Signals], alive: int) -> None:
    """Become the leader of a group. Ctrl-C interrupts it, and it ends with the waiting process."""
    signal.set_wakeup_fd(-1)
    os.setpgid(0, 0)
    for one in signals:
        signal.signal(one, signal.SIG_DFL)
    raise_when_loaded()
    for one in (signal.SIGTTOU, signal.SIGTTIN):  # it may print, in another group
        signal.signal(one, signal.SIG_IGN)

    def watch() -> None:
        os.read(alive, 1)  # nothing is ever written
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def _wait(worker: int, heard: int) -> int:
    """Return the exit status of the worker; a signal ends the worker's group."""
    _adopt_orphans()
    ended_by = 0
    end = float("inf")
    while True:
        left = None if end == float("inf") else max(end - time.monotonic(), 0)
        ready, _, _ = select.select([heard], [], [], left)
        for number in os.read(heard, 64) if ready else b"":
            if number == signal.SIGTSTP:
                _pause(worker)
            elif number != signal.SIGCHLD:
                # A second signal means immediately.
                end = time.monotonic() if ended_by else time.monotonic() + GRACE
                ended_by = ended_by or number
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGINT)
        done, how = os.waitpid(worker, os.WNOHANG)
        if done or time.monotonic() >= end:
            break
    if not ended_by:
        return _status(how)
    _clear(worker, min(end, time.monotonic() + CLEARING))
    if not done:
        if _left is not None:
            _left.seek(0)
            print(_left.read(), end="", flush=True)
        complain("interrupted")
    elif os.waitstatus_to_exitcode(how) != STATUS + signal.SIGINT:
        return _status(how)  # it ended at that moment
    return STATUS + ended_by


def _adopt_orphans() -> None:
    """Adopt the processes that the worker leaves, so that none stays."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _status(how: int) -> int:
    """The exit status of a worker that ended by itself or by the system."""
    status = os.waitstatus_to_exitcode(how)
    if status >= 0:
        return status
    why = "; perhaps memory ran out" if -status == signal.SIGKILL else ""
    complain(f"the command was ended by signal {-status}{why}")
    return STATUS - status


def _pause(worker: int) -> None:
    """Ctrl-Z: stop the worker's processes as long as this one."""
    with suppress(ProcessLookupError):
        os.killpg(worker, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    with suppress(ProcessLookupError):
        os.killpg(worker, signal.SIGCONT)


def _clear(group: int, end: float) -> None:
    """Wait until `end` for the group to end by itself, kill the rest, and wait for its end."""
    killed = False
    while _is_there(group) and time.monotonic() < end + CLEARING:
        if not killed and time.monotonic() >= end:
            os.killpg(group, signal.SIGKILL)
            killed = True
        time.sleep(0.01)


def _is_there(group: int) -> bool:
    with suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
