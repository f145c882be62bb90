"""Programs of simple statements on arrays a, b and d, each with at most one access."""

from hypothesis import strategies as st

HEAD = """\
@mm.program
def made(T, a, b, d):
    s = mm.shared(24, dtype=mm.int32)
    r = mm.registers(2)
    x = T.id
    y = T.index
    z = 7
    r[0] = 1
    r[1] = 2
"""
NAMES = st.sampled_from(["x", "y", "z"])
NUMBERS = st.sampled_from(["T.id", "T.index", "T.lane", "x", "y", "z", "5"])
SIZES = {"a": "a.size", "b": "b.size", "d": "d.size", "s": "24"}
SHARED_BY_A_WARP = st.sampled_from(["T.block", "T.warp", "z", "5"])
PLAIN = (
    *("read", "read", "write", "atomic", "same", "draw", "add", "choose", "keep", "take"),
    *("copy", "root"),
)
RANGES = st.sampled_from(
    ["0", "1", "2", "3", "33", "a.size", "n % 4", "n % 2, 4", "5, n % 4, -1", "0, 4, n % 2 + 1"]
)
STEPS = st.sampled_from(["w = w - 1", "w -= 1", "w = w - q", "w = w // 2"])
OTHERS = (*PLAIN, "again", "if", "for", "while", "barrier", "leave")


@st.composite
def simple_programs(draw):
    """The text of a program called `made`."""
    return HEAD + "".join(f"    {line}\n" for line in body(draw, draw(st.integers(1, 10)), OTHERS))


def body(draw, statements, kinds):
    lines = []
    for _ in range(statements):
        lines += statement(draw, draw(st.sampled_from(kinds)))
    return lines


def place(draw):
    """An element of an array, anywhere in it."""
    array = draw(st.sampled_from(list(SIZES)))
    factor, term = draw(st.integers(1, 5)), draw(NUMBERS)
    return array, f"({draw(NUMBERS)} * {factor} + {term}) % {SIZES[array]}"


def statement(draw, kind):
    """Its lines."""
    name, other, value = draw(NAMES), draw(NAMES), draw(NUMBERS)
    match kind:
        case "read":
            array, index = place(draw)
            return [f"{name} = {array}[{index}]"]
        case "write":
            array, index = place(draw)
            return [f"{array}[{index}] = ({value} + {other}) % 97"]
        case "atomic":
            array, index = place(draw)
            return [f"mm.atomic.add({array}, {index}, {value} % 97)"]
        case "same":
            array = draw(st.sampled_from(list(SIZES)))
            index = f"({draw(SHARED_BY_A_WARP)} + {draw(SHARED_BY_A_WARP)}) % {SIZES[array]}"
            return [f"mm.atomic.add({array}, {index}, {value} % 97)"]
        case "draw":
            array, index = place(draw)
            return [f"{name} = mm.atomic.max({array}, {index}, {value} % 97)"]
        case "add":
            return [f"{name} = ({other} + {value}) % 97"]
        case "choose":
            return [f"{name} = {other} if {draw(NAMES)} % 2 == 0 else {value}"]
        case "copy":
            return [f"{name} = {other}"]
        case "root":
            return [f"{name} = (int(math.sqrt({other})) + {value}) % 97"]
        case "keep":
            array, index = place(draw)
            return [f"r[0] = {array}[{index}]", f"r[1] = {draw(NUMBERS)}"]
        case "take":
            return [f"{name} = (r[{draw(st.integers(0, 1))}] + {other}) % 97"]
        case "if":
            test = draw(st.sampled_from(["T.lane", "T.index", name])) + " % 3 == 1"
            otherwise = body(draw, 1, PLAIN) if draw(st.booleans()) else ["pass"]
            return [
                f"if {test}:", *inner(body(draw, draw(st.sampled_from([1, 1, 2, 5])), PLAIN)),
                "else:", *inner(otherwise),
            ]  # fmt: skip
        case "for":
            lines = body(draw, 2, (*PLAIN, "if", "inner"))
            return [f"n = d[{value} % d.size]", f"for k in range({draw(RANGES)}):", *inner(lines)]
        case "inner":
            return [f"for m in range({draw(st.integers(0, 3))}):", *inner(body(draw, 1, PLAIN))]
        case "while":
            lines = body(draw, draw(st.integers(1, 2)), PLAIN)
            lines += ["q = 1"] if draw(st.booleans()) else []
            test = draw(st.sampled_from(["w > 0", "0 < w", "w > 0 * z"]))
            return ["q = 1", f"w = {name} % 4", f"while {test}:", *inner([*lines, draw(STEPS)])]
        case "again":
            array, index = place(draw)
            change = draw(st.sampled_from([f"{array}[i] = 5", f"mm.atomic.add({array}, i, 1)"]))
            return [f"i = {index}", f"{name} = {array}[i]", change, f"{other} = {array}[i]"]
        case "leave":
            return [f"if T.index > {draw(st.integers(2, 9))}:", "    return"]
    return ["T.barrier()"]


def inner(lines):
    return [f"    {line}" for line in lines]
