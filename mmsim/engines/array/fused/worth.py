"""Whether compiling a program pays: what is left to interpret, against what compiling takes.

A launch whose program is not compiled yet is interpreted first, and watched while it is. Its
speed and progress show what is left to do. How long Numba takes for a text is known
by what the text holds, and by how long Python's own compiler takes for a sample, on this machine
and today. So nothing depends on how fast a machine is, and a first run takes at most about
1.5 times as long as the better of the two. The choice changes no result.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from mmsim.engines.array.fused import build

clock: Callable[[], float] = time.thread_time
"""Seconds of this thread's work, which other processes on a busy machine don't add to."""
glance: Callable[[], float] = time.perf_counter
"""Seconds by the clock on the wall, which never go slower, and take no time to read."""
SAMPLE = "def f(x, a, b):\n" + 10 * "    for i in range(x):\n        a[i] = b[i - 1] * 2 + x\n"
"""What shows how fast this machine compiles."""
NUMBA = 43
"""How many times as long as Python's compiler for the sample Numba takes for a line of a text."""
LOOP = 4
"""How many lines more a loop counts."""
REQUEST = 15
"""How many lines more a request counts whose stages have to be found: that is put in its place.

The three were fitted to the processor time that Numba takes for the texts of 49 textbook kernels
(`benchmarks/textbook.py`), of 66 to 704 lines, in 1 to 18 seconds. Compared with samples taken at
the same time, the estimates for 14 of them were between 0.8 and 1.2 times what it took.
"""
LOADING = 1 / 20
"""The part of compiling that loading what is kept takes."""
EARLY = 1 / 4
"""The part of what compiling takes after which interpreting has shown how fast it is."""
STEP = 2e-8
"""Seconds that a thread's step takes about, to be interpreted: an access, a trip of a loop."""
SURE = 2
"""How many times compiling's time interpreting has to take, by `STEP`, not to be tried at all."""
MANY = 1 << 23
"""Threads from which on nothing is tried: interpreting takes far more memory than compiled code."""
SURELY_LESS = 0.03
"""Seconds that are less than any compiling, and any loading that is worth a look at the disk."""
FEW_SAMPLES, MANY_SAMPLES = 4, 32
"""Samples that are taken together, and the latest ones that count: a busy machine is uneven."""

eager = False
"""Whether every program is compiled at its first launch: for benchmarks of launches that come again
and again (`mmsim.bench.compiled_first`)."""

_samples: deque[float] = deque(maxlen=MANY_SAMPLES)  # seconds that each took
_spent: dict[str, float] = {}  # seconds of interpreting programs that are not compiled yet


class Pays(Exception):
    """Compiling takes less than what is left to interpret."""


class Worth:
    """Weighs one launch of a program's text, of `steps` steps by each of so many threads.

    In this process the text has not been compiled yet.
    """

    def __init__(self, text: str, steps: int, threads: int) -> None:
        self.text = text
        self.steps = steps
        self.threads = threads
        self.about = STEP * steps * threads
        self.begun = self.last = self.glanced = 0.0
        self.last_step = 0
        self.pace = 0.0  # seconds that a step took lately
        self._part: float | None = None

    @property
    def cost(self) -> float:
        """Seconds that compiling takes, or loading what has been compiled before."""
        if self._part is None:
            self._part = LOADING if build.is_kept(self.text) else 1.0
        return self._part * compiling(self.text)

    def at_once(self) -> bool:
        """Whether it pays before anything has been tried.

        Launches that were interpreted count as well: a program that comes again and again is
        compiled when interpreting it has taken as long as compiling it does.
        """
        if eager or self.threads >= MANY:
            return True
        self.begun = self.last = clock()
        self.glanced = glance()
        spent = _spent.get(self.text, 0.0)
        if spent + self.about < SURELY_LESS:
            return False
        return spent >= self.cost or self.about >= SURE * self.cost

    def step(self, steps: int) -> None:
        """So many steps have been interpreted; raise `Pays` if the others should not be."""
        if (seen := glance()) - self.glanced < SURELY_LESS:
            return
        self.glanced = seen
        now = clock()
        if now - self.last < SURELY_LESS:
            return
        sample()
        pace = (now - self.last) / (steps - self.last_step)
        # The lesser of two: what is done only once, such as loading Numba, must not count.
        left = (self.steps - steps) * min(pace, self.pace)
        self.last, self.last_step, self.pace = now, steps, pace
        if left > self.cost and now - self.begun >= EARLY * self.cost:
            raise Pays

    def tried(self) -> None:
        """Interpreting has ended, at the end of the launch or before."""
        _spent[self.text] = _spent.get(self.text, 0.0) + clock() - self.begun


def sample() -> None:
    """Take one more sample of how fast this machine compiles."""
    begin = clock()
    compile(SAMPLE, "<a sample>", "exec")
    _samples.append(clock() - begin)


def compiling(text: str) -> float:
    """Seconds that Numba takes for a text, about."""
    while len(_samples) < FEW_SAMPLES:
        sample()
    lines = text.count("\n") + LOOP * text.count("for ") + REQUEST * text.count("_request(")
    times = list(_samples)
    return NUMBA * sum(times) / len(times) * lines
