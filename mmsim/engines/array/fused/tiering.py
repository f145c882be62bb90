"""The choice to compile a program: the time left to interpret, compared with compiling.

A launch whose program is not compiled yet is first interpreted and watched. Its speed and progress
give the time that is left. Numba's time for a text is estimated
from the text, and from the time that Python's own compiler takes for a sample, on this machine
and today. So the choice adapts to the machine, and a first run takes at most about
1.5 times as long as the better of the two. The choice changes no result.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from mmsim.engines.array import lazy_compilation
from mmsim.engines.array.fused import build
from mmsim.engines.array.lazy_compilation import Pays

clock: Callable[[], float] = time.thread_time
"""Seconds of this thread's work, without those of other processes on a busy machine."""
glance: Callable[[], float] = time.perf_counter
"""Seconds by the clock on the wall, which never runs slower, and takes no time to read."""
SAMPLE = "def f(x, a, b):\n" + 10 * "    for i in range(x):\n        a[i] = b[i - 1] * 2 + x\n"
"""The sample that measures how fast this machine compiles."""
NUMBA = 43  # Numba's time for a line of a text, in units of Python's compiling time for the sample
LOOP = 4  # the additional lines that a loop counts for
REQUEST = 15
"""The additional lines that a request counts for if its stages have to be counted: inlined code.

The three were fitted to the processor time that Numba takes for the texts of 49 textbook kernels
(`benchmarks/textbook.py`), of 66 to 704 lines, in 1 to 18 seconds. Compared with samples taken at
the same time, the estimates for 14 of them were between 0.8 and 1.2 times the measured time.
"""
LOADING = 1 / 20  # the time of loading kept code, as a part of the compiling time
EARLY = 1 / 4  # the part of the compiling time after which the speed of interpreting is known
STEP = 2e-8  # seconds of interpreting one step of a thread, about: an access, a trip of a loop
SURE = 2  # if interpreting by `STEP` takes this many times the compiling time, it is not tried
MANY = 1 << 23  # grids of this many threads are not interpreted first: that takes far more memory
SURELY_LESS = 0.03
"""Seconds that are shorter than any compiling, and any loading worth a look at the disk."""
FEW_SAMPLES, MANY_SAMPLES = 4, 32
"""Samples that are taken together, and the latest samples in use: a busy machine is uneven."""

_samples: deque[float] = deque(maxlen=MANY_SAMPLES)  # seconds of each
_spent: dict[str, float] = {}  # seconds of interpreting programs that are not compiled yet


class Tiering:
    """Weighs a launch of a text that is not compiled yet, of `steps` steps by each of `threads`."""

    def __init__(self, text: str, steps: int, threads: int) -> None:
        self.text = text
        self.steps = steps
        self.threads = threads
        self.about = STEP * steps * threads
        self.begun = self.last = self.glanced = 0.0
        self.last_step = 0
        self.pace = 0.0  # seconds of a recent step
        self._part: float | None = None

    @property
    def cost(self) -> float:
        """Seconds for compiling, or for loading the compiled code from an earlier run."""
        if self._part is None:
            self._part = LOADING if build.is_kept(self.text) else 1.0
        return self._part * compiling(self.text)

    def at_once(self) -> bool:
        """Return whether compiling pays before any interpretation.

        Interpreted launches count as well: a repeated program is compiled when interpreting it has
        taken as long as compiling it does.
        """
        if lazy_compilation.eager or self.threads >= MANY:
            return True
        self.begun = self.last = clock()
        self.glanced = glance()
        spent = _spent.get(self.text, 0.0)
        if spent + self.about < SURELY_LESS:
            return False
        return spent >= self.cost or self.about >= SURE * self.cost

    def step(self, steps: int) -> None:
        """Note that `steps` steps have been interpreted; raise `Pays` to compile instead."""
        if (seen := glance()) - self.glanced < SURELY_LESS:
            return
        self.glanced = seen
        now = clock()
        if now - self.last < SURELY_LESS:
            return
        sample()
        pace = (now - self.last) / (steps - self.last_step)
        # The smaller one: work done only once, such as loading Numba, must not count.
        left = (self.steps - steps) * min(pace, self.pace)
        self.last, self.last_step, self.pace = now, steps, pace
        if left > self.cost and now - self.begun >= EARLY * self.cost:
            raise Pays

    def tried(self) -> None:
        """Note that interpreting has ended, at the end of the launch or before."""
        _spent[self.text] = _spent.get(self.text, 0.0) + clock() - self.begun


def sample() -> None:
    """Take one more sample of this machine's compiling speed."""
    begin = clock()
    compile(SAMPLE, "<a sample>", "exec")
    _samples.append(clock() - begin)


def compiling(text: str) -> float:
    """Numba's approximate seconds for a text."""
    while len(_samples) < FEW_SAMPLES:
        sample()
    lines = text.count("\n") + LOOP * text.count("for ") + REQUEST * text.count("_request(")
    times = list(_samples)
    return NUMBA * sum(times) / len(times) * lines
