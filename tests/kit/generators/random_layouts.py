"""Random layouts, as data, and questions about tiles: many can't be, or can't hold their array."""

WRONG = (0, -1, 2**31, 2**40 + 1, 1.5, "4", None, True, 2**32, -5)
KINDS = (
    *("RAW", "Diagonal", "RAS", "RAP", "OneP", "R1P", "ThreeP", "W2P", "OnePW2R"),
    *("Padded", "Strided", "Swizzle", "XorRows", "cute"),
)
TILES = ((32, 32), (64, 64), (16, 16), (8, 64), (64, 8), (40, 48), (7, 33), (1, 1), (32, 33))
SWIZZLES = (
    *("", "Swizzle<3,3,3> o ", "Swizzle<3,4,3> o ", "Swizzle<2,3,3> o ", "Swizzle<5,0,5> o "),
    "Sw<3,4,3> o smem_ptr[16b](unset) o ",
)


class Layouts:
    """Writes layouts, with a shape for each."""

    def __init__(self, random):
        self.random = random

    def pick(self, *options):
        return self.random.choice(options)

    def often(self, share):
        return self.random.random() < share

    def number(self, *good):
        """A good number, or now and then a wrong one."""
        return self.pick(*WRONG) if self.often(0.04) else self.pick(*good)

    def seed(self):
        return self.number(0, 1, 2**32 - 1, self.random.randrange(2**32))

    def layout(self, depth=0):
        """A layout, and the shape of an array; None for the layout's own."""
        kind = self.pick(*KINDS)
        fields, shape = getattr(self, "rotating" if kind in KINDS[1:9] else kind.lower())(kind)
        if kind == "Swizzle" and depth < 2 and self.often(0.4):
            fields["layout"], shape = self.layout(depth + 1)
        if self.often(0.06):
            shape = self.pick((4, 4), (16,), (), (3, 5), (0, 4), (32, 33))
        return {"kind": kind, **fields}, shape

    def raw(self, kind):
        return {}, tuple(self.random.randrange(9) for _ in range(self.pick(0, 1, 2, 3)))

    def rotating(self, kind):
        if kind in KINDS[4:9]:
            w = self.pick(1, 2, 3, 4, 5, 8)
            shape = self.pick((w,) * 4, (w**3, w), (w**4,), (w, w * w, w), (w, w))
            return {"width": self.number(w), "seed": self.seed()}, shape
        w = self.pick(1, 2, 3, 4, 5, 8, 16, 32, 33)
        rows = w if kind == "RAP" and self.often(0.8) else self.pick(0, 1, 2, w, 7, 64, 100)
        fields = {"width": self.number(w)}
        if kind != "Diagonal" and self.often(0.8):
            fields["seed"] = self.seed()
        if kind != "Diagonal" and self.often(0.4):
            shifts = self.random.sample(range(w), w)
            if kind == "RAS" or self.often(0.2):
                shifts = [self.random.randrange(-2 * w, 3 * w) for _ in range(rows)]
            if shifts:
                shifts[0] = self.number(shifts[0])
            fields["shifts"] = shifts
        return fields, self.pick((rows, w), (rows * w,))

    def padded(self, kind):
        _, shape = self.raw(kind)
        return {"by": self.number(0, 1, 2, 8)}, shape

    def strided(self, kind):
        shape = tuple(self.nested(2) for _ in range(self.pick(1, 2, 3)))
        stride = self.compact(shape) if self.often(0.7) else self.like(shape)
        return {"shape": shape, "stride": stride}, None

    def swizzle(self, kind):
        shift = self.pick(1, 1, 1, -1) * self.random.randrange(9)
        fields = {"bits": self.random.randrange(5), "base": self.random.randrange(6)}
        fields |= {"shift": shift}
        if self.often(0.1):
            fields[self.pick(*fields)] = self.number(9, 30, 31, 32, -1)
        return fields, self.pick((8, 8), (64, 64), (16, 32), (7, 9), (128,), (2, 4, 16))

    def xorrows(self, kind):
        fields = {"width": self.number(1, 2, 4, 8, 32, 3), "vector": self.number(1, 1, 2, 4)}
        shapes = (8, 8), (32, 32), (64, 64), (16, 128), (5, 64), (64,), (2, 4, 16), (3, 6), (0, 32)
        return fields, self.pick(*shapes)

    def cute(self, kind):
        fields, _ = self.strided(kind)
        text = f"{self.printed(fields['shape'])}:{self.printed(fields['stride'])}"
        text = self.pick(*SWIZZLES, "Sw<2,0,-3> o _0 o ", "Swizzle<1,0,1> o 1 o ") + text
        if self.often(0.2):
            at, new = self.random.randrange(len(text)), self.pick(*"(),_ 90:x'", "9" * 20)
            text = text[:at] + new + text[at + self.pick(0, 1) :]
        return {"text": self.pick("", " ") + text}, None

    def nested(self, depth):
        if depth == 0 or self.often(0.5):
            return self.pick(1, 2, 2, 3, 4, 8)
        return tuple(self.nested(depth - 1) for _ in range(self.pick(1, 2, 3)))

    def like(self, shape):
        """Numbers nested as a shape is."""
        if not isinstance(shape, tuple):
            return self.number(0, 1, 2, 4, 8, 16, 64, 3)
        more = (1,) * self.often(0.02)
        return (*map(self.like, shape), *more)

    def compact(self, shape):
        """Strides of a shape in which the extents follow each other in any order."""
        extents, strides, stride = list(leaves(shape)), {}, 1
        for at in self.random.sample(range(len(extents)), len(extents)):
            strides[at] = stride
            stride = stride * extents[at] + self.pick(0, 0, 0, 1, 3)
        own = iter(range(len(extents)))

        def filled(part):
            return tuple(map(filled, part)) if isinstance(part, tuple) else strides[next(own)]

        return filled(shape)

    def printed(self, nested):
        if not isinstance(nested, tuple):
            return f"{self.pick('', '_')}{nested}"
        return f"({self.pick(',', ', ').join(map(self.printed, nested))})"

    def tile(self, search):
        """A question to `mmsim conflicts`; `search` is the share of searches."""
        rows, columns = self.pick(*TILES)
        size, type_ = self.pick((4, "float"), (2, "half"), (8, "double"), (1, "int8"), (4, "int"))
        vector = self.pick(*(one for one in (1, 1, 2, 4, 8) if one * size <= 16))
        pitch = columns + self.pick(0, 0, 0, 4, 8)
        strides = self.pick(f"({pitch},1)", f"({pitch},1)", f"(1,{rows})")
        printed = f"{self.pick(*SWIZZLES)}({rows},{columns}):{strides}"
        known = self.pick("RAW", "padded 1", "padded 8", "xor 8", "xor 32", "128B", "64B", "32B")
        asked = {"layout": self.pick(printed, known), "type": type_, "vector": vector}
        asked |= {"tile": f"{rows}x{columns}", "collisions": self.often(0.3)}
        kinds = ["read", "read", "write"]
        kinds += ["atomic", "cas"] * (size in (4, 8) and vector == 1)
        kinds += ["ldmatrix", "stmatrix"] * (vector in (1, 16 // size))
        asked["accesses"] = [
            (self.pick(*kinds), self.way(rows, vector)) for _ in range(self.pick(0, 1, 2, 3))
        ]
        if self.often(search):
            asked["search"] = self.pick("padding", "swizzles")
            asked["layout"] = self.pick("RAW", "RAW", asked["layout"])
        return self.wrong(asked) if self.often(0.1) else asked

    def way(self, rows, vector):
        t, v = self.pick(4, 8, 16, 32), vector * self.pick(1, 2, 4)
        return self.pick(
            *("rows", "columns", "rows", "columns"),
            f"({t},{v}):({self.pick(1, v, rows)},{self.pick(1, t, rows)})",
            f"((4,{t // 4}),({vector},{v // vector})):((32,1),({rows},8))",
        )

    def wrong(self, asked):
        """The same with a mistake, or most often."""
        words = {
            "layout": ("nonsense", "Swizzle<3,3,3>", "xor 3", f"padded {'9' * 20}", "32b"),
            "type": ("quaternion", "float4", "cutlass::half_t", "half_t"),
            "tile": ("0x4", "64", "8000x8000", None),
            "vector": (3, 8, 16),
            "accesses": ([("ldmatrix", "(4,4):(1,4)")], [("cas", "rows")], [("read", "x")]),
        }
        name = self.pick(*words)
        return asked | {name: self.pick(*words[name])}


def leaves(nested):
    """The numbers of a nested tuple."""
    if not isinstance(nested, tuple):
        yield nested
        return
    for part in nested:
        yield from leaves(part)
