"""What the notebooks ask: predictions before a result shows, exercises that the machine checks."""

import re
from collections.abc import Callable

import numpy as np
from sealed import Sealed

RIGHT = "Right."
UNGUESSED = "(You made no prediction: set your guess above, and run both cells again.)"


def predicted(guess: object, shown: object) -> None:
    """Print the machine's result and the reader's prediction; None means no prediction.

    >>> predicted(None, 18)
    The machine says 18. (You made no prediction: set your guess above, and run both cells again.)
    >>> predicted(18, 18)
    The machine says 18, as you predicted.
    >>> predicted(16, 18)
    The machine says 18. You predicted 16: where does the difference come from?
    """
    if guess is None:
        print(f"The machine says {shown}. {UNGUESSED}")
    elif same(guess, shown):
        print(f"The machine says {shown}, as you predicted.")
    else:
        print(
            f"The machine says {shown}. You predicted {guess}: where does the difference come from?"
        )


def check(
    answer: object,
    right: object | Callable[[object], str | None],
    *,
    unit: str = "",
    atol: float = 0,
    rtol: float = 0,
) -> None:
    """Print whether the answer to an exercise is right; `...` is no answer yet.

    `right` is the answer, worked out by the machine, or a function that looks at an answer and
    returns what is wrong with it, None if nothing is. An error that it raises, because the answer
    is of another kind or a program doesn't run, is what is wrong, too.

    A number may be given with its unit, and may be off by `atol`, or by `rtol` times the right one.

    >>> check(..., 7)
    Not answered yet: replace the dots above.
    >>> check(7, 7)
    Right.
    >>> check(5, 7)
    Not yet: 5 is not what the machine says.
    >>> check("7 stages", 7, unit="time units")
    Not yet: the unit is time units, not stages.
    >>> check("0.33 ms", 1 / 3, unit="ms", atol=0.01)
    Right.
    >>> check(5, lambda answer: None if answer % 2 == 0 else f"{answer} is odd")
    Not yet: 5 is odd.
    >>> check("five", lambda answer: None if answer / 2 == 3 else f"half of {answer} isn't 3")
    Not yet: TypeError: unsupported operand type(s) for /: 'str' and 'int'.
    """
    print(judged(answer, right, unit, atol, rtol))


def graded(
    answer: object,
    right: Sealed | Callable[[object], str | None],
    *,
    points: int,
    unit: str = "",
) -> int:
    """Print whether an answer is right, as `check` does, and return its points.

    It stands in a student's copy, where it is the value of its cell, which a grader reads.

    >>> graded(8, lambda answer: None if answer % 2 == 0 else f"{answer} is odd", points=2)
    Right.
    2
    >>> graded(..., Sealed("salt", ()), points=2)
    Not answered yet: replace the dots above.
    0
    """
    found = judged(answer, right, unit)
    print(found)
    return points if found == RIGHT else 0


def judged(
    answer: object,
    right: object | Sealed | Callable[[object], str | None],
    unit: str = "",
    atol: float = 0,
    rtol: float = 0,
) -> str:
    """What is printed on an answer."""
    if answer is ...:
        return "Not answered yet: replace the dots above."
    try:
        if unit:
            answer = without_unit(answer, unit)
        if callable(right):
            wrong = right(answer)
        else:
            is_right = (
                right.opens(answer)
                if isinstance(right, Sealed)
                else same(answer, right, atol, rtol)
            )
            wrong = None if is_right else f"{answer!r} is not what the machine says"
    except OtherUnitError as error:
        wrong = str(error)
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    return RIGHT if wrong is None else f"Not yet: {wrong}."


def same(one: object, other: object, atol: float = 0, rtol: float = 0) -> bool:
    """Whether two answers are equal, arrays element by element; numbers, within a tolerance."""
    if atol or rtol:
        return bool(abs(one - other) <= max(atol, rtol * abs(other)))
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


class OtherUnitError(ValueError):
    """An answer is given in another unit than the question asks for."""


def without_unit(answer: object, unit: str) -> object:
    """The number of an answer such as "7 time units"; any other answer as it is.

    >>> without_unit("1 time unit", "time units"), without_unit("7", "stages"), without_unit(7, "s")
    (1.0, 7.0, 7)
    """
    if not isinstance(answer, str):
        return answer
    given = re.fullmatch(r"\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(\D*?)\s*", answer)
    if given is None:
        return answer
    if given[2] and given[2].removesuffix("s") != unit.removesuffix("s"):
        raise OtherUnitError(f"the unit is {unit}, not {given[2]}")
    return float(given[1])
