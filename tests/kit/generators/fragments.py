"""Matrices in the registers of a warp's lanes, as mma takes them, and matrices of small numbers."""

import numpy as np

RANDOM = np.random.RandomState(2)
FORMS = (
    "m16n8k8.row.col.f32.f16.f16.f32",
    "m16n8k8.row.col.f16.f16.f16.f16",
    "m16n8k16.row.col.f32.f16.f16.f32",
    "m16n8k16.row.col.f16.f16.f16.f16",
    "m16n8k8.row.col.f32.bf16.bf16.f32",
    "m16n8k16.row.col.f32.bf16.bf16.f32",
    "m16n8k4.row.col.f32.tf32.tf32.f32",
    "m16n8k8.row.col.f32.tf32.tf32.f32",
    "m8n8k4.row.col.f64.f64.f64.f64",
    "m16n8k4.row.col.f64.f64.f64.f64",
    "m16n8k8.row.col.f64.f64.f64.f64",
    "m16n8k16.row.col.f64.f64.f64.f64",
    "m8n8k16.row.col.s32.s8.u8.s32",
    "m16n8k16.row.col.s32.s8.s8.s32",
    "m16n8k32.row.col.s32.u8.u8.s32",
    "m16n8k32.row.col.satfinite.s32.s8.s8.s32",
)
"""The products of each shape and type."""
WMMA_FORMS = {
    "m16n16k16 f16 f32": (8, 8, 8, 8),
    "m32n8k16 f16 f16": (8, 8, 4, 4),
    "m8n32k16 f16 f32": (8, 8, 8, 8),
    "m16n16k16 bf16 f32": (4, 4, 8, 8),
    "m32n8k16 bf16 f32": (8, 2, 8, 8),
    "m8n32k16 bf16 f32": (2, 8, 8, 8),
    "m16n16k8 tf32 f32": (4, 4, 8, 8),
    "m8n8k4 f64 f64": (1, 1, 2, 2),
    "m16n16k16 s8 s32": (2, 2, 8, 8),
    "m32n8k16 u8 s32": (4, 1, 8, 8),
    "m8n32k16 s8 s32": (1, 4, 8, 8),
}
"""The registers of A, B, C and D in each lane, by shape and types."""
NUMBERS = {"f16": "f2", "bf16": "u2", "tf32": "f4", "f32": "f4", "f64": "f8", "s8": "i1",
           "u8": "u1", "s32": "i4"}  # fmt: skip
"""The numbers of each type, of a bf16 its bits."""


def small(*shape):
    """Small whole numbers, whose sums of products every type of floats holds exactly."""
    return RANDOM.randint(-4, 5, shape)


def bits_of(numbers, type_):
    """Numbers as the words of memory that hold them."""
    if type_ == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(NUMBERS[type_])


def parts_of(form):
    """The shape of a product, and the types of D, A, B and C."""
    shape, *_, d, a, b, c = form.split(".")
    return tuple(map(int, shape[1:].replace("n", " ").replace("k", " ").split())), (d, a, b, c)


def row_column(which, i, lane, shape, type_):
    """The place of element i of a lane's fragment, by the formulas of NVIDIA's PTX ISA 9.0."""
    m, _, k = shape
    group, within = lane >> 2, lane % 4
    if which in "cd":
        return group + (8 if i >= 2 else 0), within * 2 + (i & 1)
    if which == "b":
        match type_:
            case "f16" | "bf16":
                return within * 2 + (i & 1) + (8 if i >= 2 else 0), group
            case "tf32" | "f64":
                return within + 4 * i, group
            case _:
                return within * 4 + (i & 3) + (16 if i >= 4 else 0), group
    match type_:
        case "f16" | "bf16" if k == 8:
            return group + (8 if i >= 2 else 0), within * 2 + (i & 1)
        case "f16" | "bf16":
            lower = not (0 <= i < 2 or 4 <= i < 6)
            return group + 8 * lower, within * 2 + (i & 1) + (8 if i >= 4 else 0)
        case "tf32":
            return group + 8 * (i in (1, 3)), within + (4 if i >= 2 else 0)
        case "f64" if m == 8:
            return group, within
        case "f64":
            return group + 8 * (i % 2), within + 4 * (i // 2)
        case _ if m == 8:
            return group, within * 4 + i
        case _ if k == 16:
            return group + (8 if i >= 4 else 0), within * 4 + (i & 3)
        case _:
            lower = not (0 <= i < 4 or 8 <= i < 12)
            return group + 8 * lower, within * 4 + (i & 3) + (16 if i >= 8 else 0)


def places(which, shape, type_):
    """The rows and the columns of the numbers of each lane."""
    m, n, k = shape
    count = {"a": m * k, "b": k * n}.get(which, m * n) // 32
    found = [[row_column(which, i, lane, shape, type_) for i in range(count)] for lane in range(32)]
    return np.moveaxis(np.array(found), 2, 0)


def fragments(matrices, which, shape, type_):
    """The words of each lane's registers, of one matrix or of an array of them."""
    row, column = places(which, shape, type_)
    found = np.ascontiguousarray(matrices[..., row, column])
    return found.view("f8" if type_ == "f64" else "u4")


def matrices_of(words, shape, type_):
    """D from the registers of the lanes."""
    numbers = words.view(NUMBERS[type_])
    found = np.zeros((*numbers.shape[:-2], *shape[:2]), numbers.dtype)
    found[..., *places("d", shape, type_)] = numbers
    return found


def registers(form):
    """The registers of a lane: of D, A, B and C."""
    shape, types = parts_of(form)
    return [
        fragments(np.zeros((32, 32), NUMBERS[type_]), which, shape, type_).shape[-1]
        for which, type_ in zip("dabc", types, strict=True)
    ]


def kernel_text(name, words):
    """PTX: each lane loads its registers, multiplies and stores its results."""
    kind = "f64" if "f64" in name else "b32"
    size = 8 if kind == "f64" else 4
    text = [".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry multiply("]
    text += [",\n".join(f".param .u64 p{i}" for i in range(4)), ")", "{"]
    text += [".reg .b32 %lane, %block;", ".reg .b64 %p<8>;", "mov.u32 %lane, %laneid;"]
    text += ["mov.u32 %block, %ctaid.x;", "mad.lo.u32 %lane, %block, 32, %lane;"]
    for i, letter in enumerate("dabc"):
        text += [f".reg .{kind} %{letter}<{words[i]}>;", f"ld.param.u64 %p{i}, [p{i}];"]
        text += [f"mad.wide.u32 %p{i}, %lane, {words[i] * size}, %p{i};"]
        if i:
            loads = (f"ld.{kind} %{letter}{k}, [%p{i}+{k * size}];" for k in range(words[i]))
            text += loads
    vectors = (
        "{" + ", ".join(f"%{x}{k}" for k in range(n)) + "}"
        for x, n in zip("dabc", words, strict=True)
    )
    text += [f"{name} {', '.join(vectors)};"]
    text += [f"st.{kind} [%p0+{k * size}], %d{k};" for k in range(words[0])]
    return "\n".join([*text, "ret;", "}"])


def wmma_text(form, orders):
    """PTX: each block multiplies matrices in memory, whose lines are as long as they are."""
    shape, type_, sum_ = form.split()
    m, n, k = map(int, shape[1:].replace("n", " ").replace("k", " ").split())
    text = [".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry multiply("]
    text += [",\n".join(f".param .u64 p{i}" for i in range(4)), ")", "{", ".reg .b64 %p<4>;"]
    text += [".reg .b32 %block;", "mov.u32 %block, %ctaid.x;"]
    vectors = {}
    for letter, count in zip("abcd", WMMA_FORMS.get(form, (1, 1, 2, 2)), strict=True):
        own = type_ if letter in "ab" else sum_
        kind = {"f64": "f64", "f32": "f32"}.get(own, "b32")
        text += [f".reg .{kind} %{letter}<{count}>;"]
        vectors[letter] = "{" + ", ".join(f"%{letter}{k}" for k in range(count)) + "}"
    for i, (size, own) in enumerate(((m * k, type_), (k * n, type_), (m * n, sum_), (m * n, sum_))):
        bytes_ = size * np.dtype(NUMBERS.get(own, "i1")).itemsize
        text += [f"ld.param.u64 %p{i}, [p{i}];", f"mad.wide.u32 %p{i}, %block, {bytes_}, %p{i};"]
    for i, letter in enumerate("abc"):
        own = f"{shape}.{type_ if letter in 'ab' else sum_}"
        name = f"wmma.load.{letter}.sync.aligned.{orders[i]}.{own}"
        text += [f"{name} {vectors[letter]}, [%p{i}];"]
    types = f"{sum_}.{sum_}" if type_ == "f16" else f"{sum_}.{type_}.{type_}.{sum_}"
    name = f"wmma.mma.sync.aligned.{orders[0]}.{orders[1]}.{shape}.{types}"
    text += [f"{name} {', '.join(vectors[x] for x in 'dabc')};"]
    text += [f"wmma.store.d.sync.aligned.{orders[2]}.{shape}.{sum_} [%p3], {vectors['d']};"]
    return "\n".join([*text, "ret;", "}"])
