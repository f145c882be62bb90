"""Random names of arrays, tuples and constant tables, for the `Author` of `random_programs`.

Arrays that a program *rotates* can be exchanged anywhere: they are of one type and one number of
dimensions, and the author knows of each only what holds for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

INDENT = "    "
EXCHANGE = ["def exchanged(x, y):", f"{INDENT}return y, x", "", ""]


# ------------------------------------------------------------ constant tables


@dataclass(frozen=True)
class Table:
    """A table of constants outside the program."""

    name: str
    type: str
    shape: tuple
    numpy: bool


def write_tables(author):
    """Some tables, and the lines that define them."""
    found, lines = [], []
    for _ in range(author.pick(0, 1, 2)):
        type_, shape = author.pick("int", "int", "float"), author.pick((3,), (2,), (2, 2), (3, 2))
        numbers = (0, 1, 2, -3, 7, 100) if type_ == "int" else (0.5, -2.25, 0.1, 3.0, 0.0)
        rows = [[author.pick(*numbers) for _ in range(shape[-1])] for _ in range(shape[0])]
        kind = author.pick(tuple, list, "np.array")
        if kind is tuple:
            rows = [tuple(row) for row in rows]
        values = rows if len(shape) == 2 else rows[0]
        text = repr(tuple(values)) if kind is tuple else repr(values)
        if kind == "np.array":
            text = f"np.array({text})"
        found.append(Table(author.name("TABLE"), type_, shape[-2:], kind == "np.array"))
        if len(shape) == 1:
            found[-1] = replace(found[-1], shape=(len(values),))
        lines.append(f"{found[-1].name} = {text}")
    return found, [*lines, "", ""] * bool(lines)


def table_item(author, table, s):
    """A number of a table; an index may count from the end."""
    indices = [table_index(author, size, s) for size in table.shape]
    if table.numpy and author.pick(True, False):
        return f"{table.name}[{', '.join(indices)}]"
    return table.name + "".join(f"[{index}]" for index in indices)


def table_index(author, size, s):
    kind = author.pick("constant", "modulo", "end")
    if kind == "constant":
        return str(author.number(-size, size - 1))
    index = f"({author.int(s, author.pick(0, 0, 1))}) % {size}"
    return index if kind == "modulo" else f"{index} - {size}"


# ------------------------------------------------------------ expressions


def items(author, type_, s):
    """Ways to write a number of this type that a table or a tuple holds."""
    found = [
        lambda table=table: table_item(author, table, s)
        for table in author.tables
        if table.type == type_
    ]
    for name, types in s.tuples.items():
        for position, of in enumerate(types):
            if of == type_:
                index = author.pick(position, position - len(types))
                found.append(lambda name=name, index=index: f"{name}[{index}]")
    return found


def extent(author, s):
    """A number that says how large something is, None where there is nothing."""
    sized = [*s.arrays, *s.tuples, *author.tables]
    if not sized:
        return None
    one = author.pick(*sized)
    if isinstance(one, str):
        return f"len({one})"
    if isinstance(one, Table):
        return author.pick(f"len({one.name})", *[f"{one.name}.size"] * one.numpy)
    ways = "len({})", "{}.shape[0]", "{}.size", "{}.ndim", "{}.shape[-1]"
    return author.pick(*ways).format(one.name)


def member(author, s):
    """x in a tuple or a table."""
    known = [name for name, types in s.tuples.items() if set(types) == {"int"}]
    known += [one.name for one in author.tables if one.type == "int" and len(one.shape) == 1]
    inside = author.pick("literal", *known)
    if inside == "literal":
        inside = author.pick(*[", ".join(author.int(s, 0) for _ in range(n)) for n in (2, 3)])
        inside = author.pick(f"({inside})", f"({author.int(s, 0)},)")
    return f"({author.int(s, 0)} {author.pick('in', 'not in')} {inside})"


def power(author, s, x):
    """A power of floats whose result is rounded from the exact one."""
    small = f"(abs({x}) % 8.0 + 0.5)"
    return author.pick(
        f"({x} % 8.0) ** {author.number(0, 8)}",
        f"abs({x}) ** 0.5",
        f"{small} ** -{author.number(1, 4)}",
        f"{small} ** -0.5",
        f"(({author.int(s, 0)}) % 9) ** 0.5",
        f"{small} ** (({author.int(s, 0)}) % 3 - 1.0)",
    )


# ------------------------------------------------------------ names of arrays


def rotate(author, arrays):
    """Choose the arrays that a program rotates, and know less of them; changes `arrays`."""
    by_kind = {}
    for array in author.nameable(arrays):
        by_kind.setdefault((array.type, array.dimensions), []).append(array)
    groups = [group for group in by_kind.values() if len(group) > 1]
    if not groups:
        return
    group = author.pick(*groups)
    first = group[0]
    narrow = next((a for a in group if a.dtype in ("int32", "float32")), first)
    same = all(array.shape == first.shape for array in group)
    known = replace(narrow, shape=first.shape if same else None)
    known = replace(known, writable=all(array.writable for array in group))
    known = replace(known, placed=any(array.placed for array in group))
    for array in group:
        arrays[arrays.index(array)] = replace(known, name=array.name)
    author.rotating = [array.name for array in group]


def nameless(array):
    """All that is known of an array, but its name."""
    return replace(array, name="")


def matched(array, other):
    """Return whether the names may stand for one array."""
    return nameless(array) == nameless(other)


def name_statement(author, s):
    """Give an array, or a row of one, a name."""
    arrays = author.nameable(s.arrays)
    if s.registers and author.pick(not arrays, True):
        name, size = author.pick(*s.registers)
        s.registers.append((author.name("q"), size))
        return [f"{s.registers[-1][0]} = {name}"]
    if not arrays:
        return ["pass"]
    text, meant = named(author, arrays, s)
    if author.pick(False, True):
        others = [array.name for array in arrays if nameless(array) == meant]
        if others:
            text = f"{text} if {author.bool(s, 0)} else {author.pick(*others)}"
    old = [a.name for a in s.arrays if a.name[0] == "q" and nameless(a) == meant]
    if old and author.pick(True, False):
        return [f"{author.pick(*old)} = {text}"]
    s.arrays.append(replace(meant, name=author.name("q")))
    return [f"{s.arrays[-1].name} = {text}", use(author, s, s.arrays[-1].name)]


def use(author, s, *names):
    """A statement by which names are those of arrays: what nothing uses is taken for a number."""
    target = author.target(s, "int")
    s.variables[target] = "int"
    return f"{target} = {' + '.join(f'len({name})' for name in names)}"


def named(author, arrays, s):
    """An array or a row of one: its text, and what is known of it."""
    array = author.pick(*arrays)
    if array.dimensions == 2 and author.pick(True, False):
        return row(author, array, s)
    return array.name, nameless(array)


def row(author, array, s):
    text = f"{array.name}[{author.index(array, 0, s)}]"
    return text, replace(array, name="", dimensions=1, shape=array.shape and array.shape[1:])


def swap_statement(author, s):
    """Exchange names of arrays."""
    names = [array.name for array in s.arrays if array.name in author.rotating]
    if len(names) < 2:
        names = [name for name, size in s.registers if size == s.registers[0][1]]
    if len(names) < 2:
        return name_statement(author, s)
    first = author.number(0, len(names) - 1)
    names = names[first:] + names[:first]
    x, y, *_ = names
    others = ", ".join([*names[1:], x])
    return [
        author.pick(
            f"{x}, {y} = {y}, {x}",
            f"{', '.join(names)} = {others}",
            f"{x}, {y} = exchanged({x}, {y})" if author.rotating else f"{x}, {y} = {y}, {x}",
            f"{x} = {y}",
            f"{x} = {y} if {author.bool(s, 0)} else {x}",
        )
    ]


# ------------------------------------------------------------ tuples


def result(author, types, s, depth):
    """The values of a tuple; floats stay small."""
    values = [author.expression(type_, s, depth) for type_ in types]
    small = [
        f"({value}) % 1000.0" if type_ == "float" else value
        for value, type_ in zip(values, types, strict=True)
    ]
    return ", ".join(small)


def pair_statement(author, s):
    """Assign a tuple to names for its values, or to one for all."""
    kind = author.pick("values", "divmod", "helper", "shape", "table", "nested")
    types = author.pick(("int", "int"), ("int", "float"), ("int", "int", "int"))
    if kind == "nested":
        x, y, z = (author.target(s, "int") for _ in range(3))
        values = [author.int(s, 0) for _ in range(3)]
        s.variables.update(dict.fromkeys((x, y, z), "int"))
        return ["{}, ({}, {}) = {}, ({}, {})".format(x, y, z, *values)]
    value = None
    if kind == "divmod":
        types, value = ("int", "int"), f"divmod({author.int(s, 1)}, {author.pick(3, -2, 7)})"
    if kind == "helper":
        results = sorted({one.result for one in s.helpers if type(one.result) is tuple})
        if results:
            types = author.pick(*results)
            value = author.helper_call(types, s)
    if kind == "shape" and s.arrays:
        array = author.pick(*s.arrays)
        types = ("int",) * array.dimensions
        # how many axes there are is known from the targets, or from what takes a part
        value = f"{array.name}.shape{author.pick('', f'[:{len(types)}]')}"
        return unpacked(author, types, value, s)
    tables = [table for table in author.tables if len(table.shape) == 2]
    if kind == "table" and tables:
        table = author.pick(*tables)
        types = (table.type,) * table.shape[1]
        value = f"{table.name}[{table_index(author, table.shape[0], s)}]"
    value = value or f"({result(author, types, s, author.pick(0, 1))})"
    if author.pick(True, False):
        return unpacked(author, types, value, s)
    old = [name for name, of in s.tuples.items() if of == types]
    name = author.pick(*old) if old and author.pick(True, False) else author.name("t")
    s.tuples[name] = types
    return [f"{name} = {value}"]


def unpacked(author, types, value, s):
    targets = [author.target(s, type_) for type_ in types]
    s.variables.update(zip(targets, types, strict=True))
    return [f"({', '.join(targets)},) = {value}"]


# ------------------------------------------------------------ loops over tuples


def loop_header(author, s, inner, uniform):
    """The head of a loop over a tuple, enumerate(...) or zip(...), and its first statements.

    `inner` learns its names.
    """
    variable, other = author.name("k"), author.name("k")
    values = f"({author.int(s, 0)}, {author.int(s, 0)})"
    kinds = ["values", "enumerate", "zip", "turns", "pairs", "array", "tuple"]
    kind = author.pick(*kinds, *["table"] * 2 * bool(author.tables))
    tuples = [name for name, types in s.tuples.items() if len(set(types)) == 1]
    arrays = author.nameable(s.arrays)
    if kind == "array" and arrays:
        array = author.pick(*arrays)
        same = [one.name for one in arrays if nameless(one) == nameless(array)]
        both = f"({array.name}, {author.pick(*same)})"
        name = author.name("q")
        inner.arrays.append(replace(array, name=name))
        first = [use(author, inner, name)]
        if author.pick(False, True):
            return f"for {name} in {both}:", first
        inner.variables[variable] = "int"
        return f"for {name}, {variable} in zip({both}, {values}):", first
    if kind == "tuple" and tuples:
        values = author.pick(*tuples)
        inner.variables[variable] = s.tuples[values][0]
        return f"for {variable} in {values}:", []
    if kind == "table" and author.tables:
        table = author.pick(*author.tables)
        if len(table.shape) == 1:
            inner.variables[variable] = table.type
            return f"for {variable} in {table.name}:", []
        targets = [variable, other]
        inner.variables.update(dict.fromkeys(targets, table.type))
        return f"for {', '.join(targets)} in {table.name}:", []
    if kind in ("enumerate", "zip", "turns", "pairs"):
        inner.variables.update({variable: "int", other: "int"})
        limit = "2" if uniform else f"({author.int(s, 0)}) % 3"
        first = author.pick("", f", {author.number(-2, 5)}")
        over = {
            "enumerate": f"enumerate({values}{first})",
            "zip": f"zip({values}, ({author.int(s, 0)}, 3, 4))",
            "turns": f"enumerate(range({limit}){first})",
            "pairs": f"({values}, (2, {author.int(s, 0)}))",
        }[kind]
        return f"for {variable}, {other} in {over}:", []
    inner.variables[variable] = "int"
    return f"for {variable} in {values}:", []
