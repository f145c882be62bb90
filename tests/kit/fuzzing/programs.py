"""The mutated program of a number: the same for the same seed and number."""

from __future__ import annotations

import warnings
from random import Random

from tests.kit.fuzzing.corpus import Original
from tests.kit.fuzzing.grammar import random_program
from tests.kit.fuzzing.texts import mutate_text
from tests.kit.fuzzing.trees import mutate_tree

TRIES = 4
"""Trees are made so often until Python takes one; texts are tried as they are."""


def make_program(
    seed: int, number: int, originals: list[Original]
) -> tuple[str, str, dict[str, int | float]]:
    """The way in which a program was made, its text, and the numbers around it."""
    random = Random(f"{seed}, {number}")
    original, other = random.choice(originals), random.choice(originals)
    chance = random.random()
    if chance < 0.3:
        name, text = mutate_text(random, original.text)
        return f"text: {name}", text, original.numbers
    for _ in range(TRIES):
        if chance < 0.45:
            name, text = "grown by Python's grammar", random_program(random)
        else:
            name, text = mutate_tree(random, original.text, other.text)
            name = f"tree: {name.replace('_', ' ')}"
        if is_python(text):
            break
    if chance > 0.95:
        _, text = mutate_text(random, text)
        name = "tree, then text"
    return name, text, original.numbers


def is_python(text: str) -> bool:
    """Return whether Python compiles a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<a mutated program>", "exec")
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return False
    return True
