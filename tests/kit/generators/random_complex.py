"""Random arithmetic of complex numbers, for the `Author` of programs.

What is kept of it has small parts, so that none becomes infinite or a NaN.
"""

from tests.kit.generators import random_exchange as exchange

PLAIN = "complex"
ASKED = ("complex64", "complex128")
TYPES = (PLAIN, *ASKED)
LITERALS = ("1j", "(2-0.5j)", "0.1j", "(-1.5+0.25j)", "0j")
DIVISORS = ("2j", "(3-1j)", "(0.1+0.2j)", "4")


def value(author, type_, s, depth):
    """A complex number: of Python's, or of a type that is asked for."""
    if depth <= 0:
        return leaf(author, type_, s)
    x = value(author, type_, s, depth - 1)
    kind = author.pick("+", "*", "-", "divide", "unary", "choice", "large", "lanes")
    if kind == "lanes":
        return exchange.shuffle(author, s, x)
    if kind == "unary":
        return author.pick(f"(-{x})", f"({x}).conjugate()", f"(+{x})")
    if kind == "divide":
        divisor = f"complex(2.5, ({author.float(s, 0)}) % 4.0)"
        return f"({x} / {author.pick(*DIVISORS, divisor)})"
    y = author.pick(value(author, type_, s, depth - 1), *LITERALS[:3], f"({author.float(s, 0)})")
    if kind == "choice":
        return f"({x} if {author.bool(s, 0)} else {_cast(type_, y)})"
    if kind == "large":
        return author.pick(f"({x} * ({author.int(s, 0)}))", f"({x} - ({author.int(s, 0)}))")
    return f"({x} {kind} {y})"


def _cast(type_, text):
    return f"complex({text})" if type_ == PLAIN else f"mm.{type_}({text})"


def leaf(author, type_, s):
    """A complex number without an operation."""
    if type_ == PLAIN:
        kind = author.pick("literal", "leaf", "leaf", "made", "cast")
        if kind == "leaf":
            return author.leaf(PLAIN, s) or "1j"
        if kind == "literal":
            return author.pick(*LITERALS)
        if kind == "cast":
            return f"complex({author.pick(author.int(s, 0), author.float(s, 0))})"
        return f"complex({author.float(s, 0)}, {author.pick(author.float(s, 0), '2')})"
    own = [name for name, of in s.variables.items() if of == type_]
    kind = author.pick("cast", *["variable"] * 2 * bool(own), "float")
    if kind == "variable":
        return author.pick(*own)
    return f"mm.{type_}({author.float(s, 0) if kind == 'float' else leaf(author, PLAIN, s)})"


def small(author, type_, s, depth):
    """A complex number that may be kept."""
    text = value(author, type_, s, depth)
    made = f"complex(({text}).real % 8.0, ({text}).imag % {author.pick('8.0', '-4.0')})"
    return made if type_ == PLAIN else f"mm.{type_}({made})"


def float_of(author, s, depth):
    """A plain float that a complex number gives."""
    z = value(author, author.pick(*TYPES), s, depth)
    if author.pick(False, False, True):  # machines round it differently
        return f"(math.floor(abs({small(author, PLAIN, s, depth - 1)}) * 8.0 + 0.3) / 64)"
    return f"(float(({z}).{author.pick('real', 'imag')}) % 64.0)"


def bool_of(author, s):
    """Return whether complex numbers are equal, or one is not zero."""
    z, w = (value(author, author.pick(*TYPES), s, 0) for _ in range(2))
    return author.pick(f"({z} == {w})", f"({z} != {w})", f"bool({z})", f"(not {z})")


def statement(author, s):
    """An assignment to a variable."""
    type_ = author.pick(*TYPES)
    text = small(author, type_, s, author.pick(1, 0, 2))
    target = author.target(s, type_)
    s.variables[target] = type_
    return [f"{target} = {text}"]
