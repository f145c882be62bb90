"""A few cases of a claim, where all of them would take too long."""

from collections import defaultdict

CHOICES = 4
"""A parameter with no more values than this is a choice, as of a machine; others are sizes."""


def some(cases, most=4, values_of_choices=CHOICES):
    """Cases with all values of all choices, and about as many as asked for all over the grid."""
    values = defaultdict(set)
    for case in cases:
        for name, value in case.items():
            values[name].add(repr(value))
    choices = [name for name, found in values.items() if len(found) <= values_of_choices]
    seen, kept = set(), []
    step = max(1, len(cases) // most)
    for number, case in enumerate(cases):
        chosen = {(name, repr(case[name])) for name in choices if name in case}
        if number % step == 0 or not chosen <= seen:
            kept.append(case)
            seen |= chosen
    return kept
