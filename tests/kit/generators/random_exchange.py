"""Random exchange among the lanes of a warp and random barriers, for the `Author`.

A lane asks another one only if that is active: the text says so itself, by the mask of the active
lanes, because neither the author nor the program knows who comes to a place.
"""


def number(author, s, x):
    """An integer that the lanes find together."""
    kind = author.pick("ballot", "match_any", "match_all", "active_mask", "shuffle", "shuffle")
    if kind == "ballot":
        return f"mm.warp.ballot({author.bool(s, 0)})"
    if kind == "active_mask":
        return "mm.warp.active_mask()"
    if kind == "shuffle":
        return shuffle(author, s, x)
    return f"mm.warp.{kind}(({x}) % {author.pick(2, 3, 1)})"


def shuffle(author, s, x):
    """The value that another lane holds of `x`, or this one where that takes no part."""
    if not s.thread:
        return x
    mask = "mm.warp.active_mask()"
    way = author.pick("", "_up", "_down", "_xor")
    if not way:
        lane = f"({author.int(s, 0)}) % {author.pick(4, 8, 2)}"
        lane = author.pick(lane, str(author.number(0, 7)))
        return f"mm.warp.shuffle({x}, {lane} if {mask} >> ({lane}) & 1 else T.lane)"
    distance = author.pick("1", "2", "4", f"({author.int(s, 0)}) % 3")
    there = {
        "_up": f"{mask} << ({distance}) >> T.lane",
        "_down": f"{mask} >> T.lane + ({distance})",
        "_xor": f"{mask} >> (T.lane ^ ({distance}))",
    }[way]
    return f"mm.warp.shuffle{way}({x}, {distance} if {there} & 1 else 0)"


def truth(author, s, x):
    """A truth value that the lanes find together."""
    kind = author.pick("any", "all", "shuffle")
    return shuffle(author, s, x) if kind == "shuffle" else f"mm.warp.{kind}({x})"


def barrier(author, s):
    """A barrier of any kind, or a sync of the lanes that are here."""
    kind = author.pick("barrier", "barrier", "or", "and", "count", "grid_barrier", "sync")
    if kind == "sync":
        return ["mm.warp.sync()", "T.barrier()"]
    if kind in ("barrier", "grid_barrier"):
        return [f"T.{kind}()"]
    test = author.bool(s, author.pick(0, 1))
    if author.pick(True, False):
        type_ = "int" if kind == "count" else "bool"
        target = author.target(s, type_)
        s.variables[target] = type_
        return [f"{target} = T.barrier_{kind}({test})"]
    return [f"T.barrier_{kind}({test})"]
