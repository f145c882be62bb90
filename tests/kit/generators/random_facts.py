"""Random facts about symbols, and points at which they are true."""

from itertools import islice, product

import numpy as np

from mmsim.proof.domain import Case
from mmsim.proof.facts import Facts, Range
from mmsim.proof.terms import Term, power_of_two, simple, symbol
from tests.kit.generators.random_sizes import value

LANES = 3
FREE, EXPONENTS, WHOLE = ("x", "y", "z"), ("a", "b"), "q"
x, y, z, a, b = map(symbol, FREE + EXPONENTS)
DIVISORS = (
    *map(Term.of, (2, 3, 4)),
    *(x, z, x * 2, x * y, z + 1, x * 2 + 1, x * z * 4),
    *(power_of_two(a), power_of_two(a) * z, power_of_two(b) * 2, power_of_two(a + b)),
)


class World:
    """Facts, points at which they are true, and random terms."""

    def __init__(self, random):
        self.random = random
        self.made = []
        names = (*FREE, *EXPONENTS)
        lows = {name: random.choice((0, 0, 1, 2)) for name in names} | {WHOLE: 1}
        shares = self.share()
        self.facts = Case({}, lows, shares).facts() if shares else Facts()
        self.facts.lows = lows
        self.facts.ranges = self.ranges()
        self.bound = [one.name for one in self.facts.ranges]
        if random.random() < 0.3:
            self.facts.assumed = [random.choice((a - b, x - y, self.term(2, False)))]
        found = [
            point
            for steps in product(range(3), repeat=len(lows))
            for point in self.points_of(dict(zip(lows, steps, strict=True)))
        ]
        random.shuffle(found)
        self.points = list(islice((one for one in found if self.fits(one)), 40))

    def share(self):
        above = self.random.choice((x * y, x * 2, x, y * y))
        return ((above, z, symbol(WHOLE)),) if self.random.random() < 0.3 else ()

    def ranges(self):
        found = []
        for name in ("i", "j")[: self.random.choice((0, 1, 1, 2))]:
            inner = [symbol(one.name) for one in found]
            low = self.random.choice((Term.of(0), Term.of(0), Term.of(1), z, *inner))
            size = (x, y * 2, x * y, power_of_two(a), Term.of(3), x + z, *inner)
            found.append(Range(name, low, low + self.random.choice(size)))
        return found

    def points_of(self, steps):
        lows = self.facts.lows
        found = [{name: low + steps[name] for name, low in lows.items()}]
        for one in self.facts.ranges:
            found = [
                {**point, one.name: number}
                for point in found
                for low, high in [(int(one.low.at(point)), int(one.high.at(point)))]
                for number in {low, low + 1, (low + high) // 2, high - 1}
                if low <= number < high
            ]
        return found

    def fits(self, point):
        facts = self.facts
        return all(
            above.at(point) == below.at(point) * whole.at(point) and below.at(point) >= 1
            for above, below, whole in facts.shares
        ) and all(term.at(point) >= 0 for term in facts.assumed)

    def at(self, term, point):
        """The values of the lanes."""
        return [value(term.of_lanes(lane), point, self.facts) for lane in range(LANES)]

    def product(self):
        random = self.random
        if self.made and random.random() < 0.3:
            return random.choice(self.made)
        found = Term.of(1)
        for _ in range(random.choice((1, 1, 1, 2))):
            found = found * symbol(random.choice((*FREE, *self.bound)))
        if random.random() < 0.25:
            power = power_of_two(symbol(random.choice(EXPONENTS)))
            found = random.choice((power, found * power))
        return found

    def term(self, most=3, lanes=True):
        """A term, whole at all points."""
        random = self.random
        found = Term.of(random.choice((0, 0, -1, 1, -2, 3, 5, -7)))
        for _ in range(random.randint(1, most)):
            factor = random.choice((-4, -3, -2, -1, 1, 1, 2, 3, 4, 6, 8))
            if lanes and random.random() < 0.2:
                factor = simple(np.array([random.randint(-3, 4) for _ in range(LANES)]))
            found = found + self.product() * Term.of(factor)
        return found

    def divisor(self):
        """A term that is positive at all points."""
        found = self.random.choice(DIVISORS)
        if all(found.at(point) > 0 for point in self.points):
            return found
        return Term.of(2)

    def powers(self):
        """A term of at most two powers of two and a number."""
        random = self.random
        found = Term.of(random.choice((0, -1, -1, 3, -5)))
        exponent = a * random.choice((1, 1, 2)) + random.choice((0, 1))
        found = found + power_of_two(exponent) * random.choice((1, 2, -1))
        return found + random.choice((0, 1)) * power_of_two(b) * random.choice((-1, 1, -2, -3))
