"""Right answers that can be recognized but not read: what stands in a student's copy of a check."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import scrypt
from math import isfinite, log, log1p

import numpy as np

FINENESS = 8
"""Into how many steps a tolerance is divided: an answer is judged to half a step."""


@dataclass(frozen=True)
class Sealed:
    """A right answer as salted hashes.

    Within a tolerance several answers are right: the multiples of `step`, or the powers of
    1 + `ratio`, that lie within it. Each has a hash, and an answer counts as the nearest of them.

    >>> seal(7, "salt").opens(7.0), seal(7, "salt").opens(8)
    (True, False)
    >>> about_100 = seal(100, "salt", rtol=0.1)
    >>> [about_100.opens(answer) for answer in (88, 91, 109, 112, -100, "100")]
    [False, True, True, False, False, False]
    """

    salt: str
    hashes: tuple[str, ...]
    step: float = 0
    ratio: float = 0

    def opens(self, answer: object) -> bool:
        """Whether an answer is right."""
        return hashed(nearest(answer, self.step, self.ratio), self.salt) in self.hashes


def seal(right: object, salt: str, atol: float = 0, rtol: float = 0) -> Sealed:
    """The right answer sealed; a number may be off by `atol`, or by `rtol` times itself.

    A relative tolerance is not made an absolute one: that would show how large the answer is.
    The hashes are sorted, for the right one would stand in the middle.

    >>> seal(0.5, "salt", atol=0.01).step
    0.00125
    """
    step, ratio = atol / FINENESS, rtol / FINENESS
    if (atol and rtol) or ((atol or rtol) and (np.ndim(right) or isinstance(right, str))):
        raise ValueError("one tolerance, and for a number only")
    texts = set(texts_within(right, step, ratio)) if atol or rtol else {canonical(right)}
    return Sealed(salt, tuple(sorted(hashed(text, salt) for text in texts)), step, ratio)


def texts_within(right: float, step: float, ratio: float) -> Iterator[str]:
    """The texts of all numbers within the tolerance, the ends included."""
    for part in range(-FINENESS, FINENESS + 1):
        number = right + part * step if step else right * (1 + ratio) ** part
        yield nearest(number, step, ratio)


def nearest(answer: object, step: float, ratio: float) -> str:
    """The text of which an answer's hash is made, to the nearest step.

    >>> nearest(0.26, 0.1, 0), nearest((1, 2.0), 0, 0), nearest("many", 0.1, 0)
    ('3 steps', "['1', '2'] of (2,)", 'not a number')
    """
    if not (step or ratio):
        return canonical(answer)
    if isinstance(answer, str) or np.ndim(answer) or not isfinite(answer):
        return "not a number"
    if step:
        return f"{round(answer / step)} steps"
    sign = "-" if answer < 0 else ""
    return f"{sign}{round(log(abs(answer)) / log1p(ratio))} steps" if answer else "0"


def canonical(answer: object) -> str:
    """A text that is the same for equal answers: 5 and 5.0, a list, a tuple and an array.

    >>> canonical([1, 2]) == canonical((1.0, 2)) == canonical(np.array([1, 2]))
    True
    >>> canonical(0.5), canonical("turn")
    ("['0.5'] of ()", "['turn'] of ()")
    """
    array = np.asarray(answer)
    if array.dtype.kind not in "biufU":
        raise TypeError(f"{answer!r} is not a number, a text or a list of them")
    words = [one if isinstance(one, str) else number(one) for one in array.ravel().tolist()]
    return f"{words} of {array.shape}"


def number(value: float) -> str:
    """A number's text: as an integer if it is one."""
    return str(int(value)) if isfinite(value) and value == int(value) else repr(value)


def hashed(text: str, salt: str) -> str:
    """A hash that takes about 50 ms, so that trying many answers takes long."""
    return scrypt(text.encode(), salt=salt.encode(), n=2**14, r=8, p=1, dklen=16).hex()
