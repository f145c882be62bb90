"""The mutated program of a number: the same for the same seed and number."""

from __future__ import annotations

import re
from random import Random

from fuzzing.corpus import Original
from fuzzing.grammar import random_program
from fuzzing.texts import mutate_text
from fuzzing.trees import mutate_tree


def make_program(
    seed: int, number: int, originals: list[Original]
) -> tuple[str, str, dict[str, int | float]]:
    """How a program was made, its text, and the numbers around it."""
    random = Random(f"{seed}, {number}")
    road = random.random()
    if road < 0.15:
        return "grown by the grammar", random_program(random), {}
    original, other = random.choice(originals), random.choice(originals)
    if road < 0.7:
        name, text = mutate_tree(random, original.text, other.text)
        if random.random() < 0.1:
            name, text = mutate_text(random, text)
            return f"text: {name}", text, original.numbers
        return f"tree: {re.sub('_', ' ', name)}", text, original.numbers
    name, text = mutate_text(random, original.text)
    return f"text: {name}", text, original.numbers
