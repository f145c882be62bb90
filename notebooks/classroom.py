"""What the notebooks ask: predictions before a result shows, exercises that the machine checks."""

from collections.abc import Callable

import numpy as np


def predicted(guess: object, shown: object) -> None:
    """Print what the machine says beside what the reader predicted; None is no prediction.

    >>> predicted(None, 18)
    The machine says 18. (You made no prediction: set your guess above, and run both cells again.)
    >>> predicted(18, 18)
    The machine says 18, as you predicted.
    >>> predicted(16, 18)
    The machine says 18. You predicted 16: where does the difference come from?
    """
    if guess is None:
        print(
            f"The machine says {shown}. "
            "(You made no prediction: set your guess above, and run both cells again.)"
        )
    elif same(guess, shown):
        print(f"The machine says {shown}, as you predicted.")
    else:
        print(
            f"The machine says {shown}. You predicted {guess}: where does the difference come from?"
        )


def check(answer: object, right: object | Callable[[object], str | None]) -> None:
    """Print whether the answer to an exercise is right; `...` is none yet.

    `right` is the answer, worked out by the machine, or a function that looks at an answer and
    returns what is wrong with it, None if nothing is. An error that it raises, because the answer
    is of another kind or a program doesn't run, is what is wrong, too.

    >>> check(..., 7)
    Not answered yet: replace the dots above.
    >>> check(7, 7)
    Right.
    >>> check(5, 7)
    Not yet: 5 is not what the machine says.
    >>> check(5, lambda answer: None if answer % 2 == 0 else f"{answer} is odd")
    Not yet: 5 is odd.
    >>> check("five", lambda answer: None if answer / 2 == 3 else f"half of {answer} isn't 3")
    Not yet: TypeError: unsupported operand type(s) for /: 'str' and 'int'.
    """
    if answer is ...:
        print("Not answered yet: replace the dots above.")
        return
    try:
        if callable(right):
            wrong = right(answer)
        else:
            wrong = None if same(answer, right) else f"{answer!r} is not what the machine says"
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    print("Right." if wrong is None else f"Not yet: {wrong}.")


def same(one: object, other: object) -> bool:
    """Whether two answers are equal, arrays element by element."""
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))
