"""Random accesses to several adjacent elements, for the `Author` of `random_programs`."""

LENGTHS = (2, 4, 8)


def statement(author, s):
    """A vector access as a statement, None where no array has vectors."""
    written = vectors(author, s, author.writable(s)) if author.pick(True, True, False) else []
    found = written or vectors(author, s, author.readable(s))
    if not found:
        return None
    array, count = author.pick(*found)
    text = f"mm.vector({array.name}, {count})[{', '.join(place(author, array, count, s))}]"
    if not written:
        return read(author, s, array, count, text)
    values = [author.stored(array, s) for _ in range(count)]
    return [f"{text} = {', '.join(values)}"]


def read(author, s, array, count, text):
    """A vector that is read: into a name of its own, into several, or into none."""
    kind = author.pick("names", "names", "tuple", "none")
    if kind == "none":
        return [text]
    if kind == "tuple" and array.type in ("int", "float"):
        name = author.name("t")
        s.tuples[name] = (array.type,) * count
        return [f"{name} = {text}"]
    targets = [author.target(s, array.type) for _ in range(count)]
    s.variables.update(dict.fromkeys(targets, array.type))
    return [f"{', '.join(targets)} = {text}"]


def vectors(author, s, arrays):
    """The arrays that have vectors, each with their length."""
    return [
        (array, count)
        for array in arrays
        if array.shape and not array.placed and array.name not in author.counters
        for count in LENGTHS
        if array.shape[-1] % count == 0 and place_known(author, array, count, s)
    ]


def place_known(author, array, count, s):
    """Return whether threads that must not race can find vectors of an array that are their own."""
    segment = getattr(author, "segments", {}).get(array.name)
    if segment is None:
        return True
    mode = author.modes[array.name]
    if array.dimensions > 1 or (not s.thread and segment.start):
        return False
    if mode == "gather":
        return segment.size % count == 0
    return s.thread and mode == "interleaved" and segment.words == count


def place(author, array, count, s):
    """The index of a vector."""
    segment = getattr(author, "segments", {}).get(array.name)
    if segment is None:
        many = array.shape[-1] // count
        numbers = [f"({author.int(s, author.pick(0, 0, 1))}) % {many}"]
        numbers += [f"T.{author.pick('id', 'index', 'lane')} % {many}"] * s.thread
        outer = [author.index(array, axis, s) for axis in range(array.dimensions - 1)]
        return [*outer, author.pick(*numbers)]
    before = f"T.block * {segment.size // count} + " if segment.start else ""
    if author.modes[array.name] == "gather":
        return [f"{before}({author.int(s, 0)}) % {segment.size // count}"]
    return [f"{before}T.index"]
