"""Random kernels of CUDA C++ without a race, whose results are the same on every machine.

A block has 64 threads. Each reads `a`, computes on integers and floats by operations that IEEE 754
defines, keeps words in an array of its own, exchanges words in shared memory between barriers, by
atomics whose order doesn't matter and by shuffles, and writes its results. `newer` kernels also
use instructions of later cards: products of matrices of bytes, matrices of 8 by 8 halves between
shared memory and registers, copies in the background, barriers in shared memory, packed halves,
sums of products of bytes, directed roundings.
"""

from __future__ import annotations

import random

INTS = [f"x{k}" for k in range(4)]
UNSIGNED = [f"u{k}" for k in range(3)]
FLOATS = [f"f{k}" for k in range(3)]
LONGS = [f"l{k}" for k in range(2)]
HEAD = (
    'extern "C" __global__ void {name}(int* o, unsigned* p, float* q, long long* r, const int* a)\n'
    "{{\n    __shared__ int s[64];\n    __shared__ float g[64];\n    __shared__ long long w[64];\n"
    "    __shared__ {word} h[8];\n    int y[8];\n    int t = threadIdx.x;\n"
)
NEWER_HEAD = """
__device__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned halves(unsigned x, unsigned y, unsigned z)
{
    unsigned d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d)
        : "r"(x & 0xbbffbbffu), "r"(y & 0xbbffbbffu), "r"(z & 0xbbffbbffu));
    return d;
}
__device__ unsigned brains(unsigned x, unsigned y, unsigned z)
{
    unsigned d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d)
        : "r"(x & 0xbf7fbf7fu), "r"(y & 0xbf7fbf7fu), "r"(z & 0xbf7fbf7fu));
    return d;
}
__device__ unsigned tensor_float(float x)
{
    unsigned d;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(d) : "f"(x));
    return d;
}
"""
"""What newer kernels call."""


class Kernel:
    """Writes one kernel; `draw` decides everything."""

    def __init__(self, draw: random.Random, name: str, newer: bool = False) -> None:
        self.draw = draw
        self.newer = newer
        self.name = name
        self.loops = 0
        self.word = draw.choice(("int", "unsigned", "unsigned long long"))

    def text(self) -> str:
        """The kernel."""
        draw = self.draw
        lines = [f"    int {one} = a[(t * {draw.randrange(1, 64)} + {k}) & 63];" for k, one in
                 enumerate(INTS)]  # fmt: skip
        lines += [f"    unsigned {one} = (unsigned)a[t] * {draw.getrandbits(16)}u;"
                  for one in UNSIGNED]  # fmt: skip
        lines += [f"    float {one} = a[t ^ {draw.randrange(64)}] * 0.25f;" for one in FLOATS]
        lines += [
            f"    long long {one} = (long long)a[t] << {draw.randrange(40)};" for one in LONGS
        ]
        lines += [f"    for (int k = 0; k < 8; k++) y[k] = t * k + {draw.randrange(99)};"]
        for _ in range(draw.randrange(3, 9)):
            lines += self.statement(1, True)
        ends = ("o", INTS), ("p", UNSIGNED), ("q", FLOATS), ("r", LONGS)
        lines += [f"    {array}[t] = {' + '.join(names)};" for array, names in ends]
        if self.newer:
            lines[:0] = ["    __shared__ int4 m[64];", "    __shared__ unsigned long long met;"]
        return HEAD.format(name=self.name, word=self.word) + "\n".join(lines) + "\n}\n"

    def statement(self, depth: int, together: bool) -> list[str]:
        """Lines of a statement; only where all threads are `together` they meet."""
        draw, pad = self.draw, "    " * depth
        kinds = ["int", "unsigned", "float", "long"] * 2 + ["local", "part"]
        kinds += ["if", "for", "while", "switch"] if depth < 3 else []
        kinds += ["shared", "shuffle", "vote", "atomic"] if together else []
        if self.newer and together and draw.random() < 0.4:
            return [pad + line for line in self.newer_statement()]
        match draw.choice(kinds):
            case "int":
                return [f"{pad}{draw.choice(INTS)} = {self.int(3)};"]
            case "unsigned":
                return [f"{pad}{draw.choice(UNSIGNED)} = {self.unsigned(3)};"]
            case "float":
                return [f"{pad}{draw.choice(FLOATS)} = {self.float(3)};"]
            case "long":
                return [f"{pad}{draw.choice(LONGS)} = {self.long(3)};"]
            case "if":
                found = [f"{pad}if ({self.test()}) {{", *self.body(depth), f"{pad}}}"]
                if draw.random() < 0.5:
                    found[-1:] = [f"{pad}}} else {{", *self.body(depth), f"{pad}}}"]
                return found
            case "for":
                self.loops += 1
                k = f"k{self.loops}"
                end = draw.choice((str(draw.randrange(1, 6)), f"({self.int(1)} & 3)"))
                head = f"{pad}for (int {k} = 0, n{k} = {end}; {k} < n{k}; {k}++) {{"
                leave = f"{pad}    if ({self.test()}) {draw.choice(('break', 'continue'))};"
                more = [leave] if draw.random() < 0.4 else []
                return [head, *more, *self.body(depth), f"{pad}    x0 += {k};", f"{pad}}}"]
            case "while":
                name = draw.choice(UNSIGNED)
                head = f"{pad}for ({name} &= 0xff; {name} > {draw.randrange(9)}u; {name} >>= 1) {{"
                own = [line for line in self.body(depth) if f"{name} = " not in line]
                return [head, *own, f"{pad}}}"]
            case "switch":
                arms = [f"{pad}case {k}: x1 = {self.int(2)}; break;"
                        for k in range(draw.randrange(2, 7))]  # fmt: skip
                last = f"{pad}default: x2 = {self.int(1)};"
                return [f"{pad}switch ({self.int(1)} & 7) {{", *arms, last, f"{pad}}}"]
            case "shared":
                name, shared = draw.choice((("x0", "s"), ("f0", "g"), ("l0", "w")))
                at = f"(t * {draw.randrange(1, 64, 2)} + {draw.randrange(64)}) & 63"
                write = f"{pad}{shared}[t] = {name};"
                read = f"{pad}{name} += {shared}[{at}];"
                return [write, f"{pad}__syncthreads();", read, f"{pad}__syncthreads();"]
            case "shuffle":
                how = draw.choice(("_up", "_down", "_xor", ""))
                name = draw.choice((*INTS, *FLOATS, *LONGS))
                width = draw.choice((8, 32))
                lane = draw.randrange(8) if how else self.int(2)
                call = f"__shfl{how}_sync(~0u, {name}, {lane}, {width})"
                return [f"{pad}{name} = {call};"]
            case "local":
                return [f"{pad}y[{self.int(2)} & 7] {draw.choice('+^|')}= {self.int(2)};",
                        f"{pad}x3 -= y[{self.int(1)} & 7];"]  # fmt: skip
            case "part":
                type_, places = draw.choice(
                    (("int4", 15), ("int2", 31), ("short", 127), ("unsigned char", 255))
                )
                part = f"((const {type_}*)a)[{self.int(2)} & {places}]"
                return [f"{pad}x1 ^= {part}{'.y' if places < 32 else ''};"]
            case "atomic":
                how = draw.choice(("Add", "Min", "Max", "And", "Or", "Xor"))
                value = f"({self.word}){draw.choice((*INTS, *UNSIGNED, *LONGS, '1'))}"
                return [f"{pad}if (t < 8) h[t] = {draw.randrange(99)};", f"{pad}__syncthreads();",
                        f"{pad}atomic{how}(&h[{self.int(1)} & 7], {value});",
                        f"{pad}__syncthreads();", f"{pad}l1 += h[t * 3 & 7];",
                        f"{pad}__syncthreads();"]  # fmt: skip
        own = draw.choice(
            (f"__ballot_sync(~0u, {self.test()})", f"__all_sync(~0u, {self.test()})",
             f"__match_any_sync(~0u, {self.int(1)} & 3)", f"__reduce_max_sync(~0u, {INTS[2]})",
             f"__reduce_xor_sync(~0u, {UNSIGNED[1]})")
        )  # fmt: skip
        return [f"{pad}u0 = {own} + __any_sync(~0u, {self.test()});"]

    def newer_statement(self) -> list[str]:
        """Lines of a statement in which all threads meet, of later cards."""
        draw = self.draw
        x, y, u = draw.choice(INTS), draw.choice(INTS), draw.choice(UNSIGNED)
        own = "m[t] = make_int4(x0, x1, x2, x3);"
        row = f"place(&m[(t & 32) + (t * {draw.randrange(1, 32, 2)} + {draw.randrange(32)} & 31)])"
        sync = "__syncthreads();"
        turned = draw.choice(("", ".trans"))
        four = ", ".join(f'"+r"({one})' for one in INTS)
        match draw.randrange(9):
            case 0:
                types = draw.choice(("s8.s8", "u8.s8", "s8.u8", "u8.u8"))
                name = f"mma.sync.aligned.m16n8k32.row.col{draw.choice(('', '.satfinite'))}"
                factors = ", ".join(f'"r"({one})' for one in (x, y, u, "t", "u0", "u1"))
                return [f'asm volatile("{name}.s32.{types}.s32 {{%0, %1, %2, %3}}, '
                        f'{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};" : {four}'
                        f" : {factors});"]  # fmt: skip
            case 1:
                name = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"
                return [f'asm volatile("{name} {{%0, %1}}, {{%2}}, {{%3}}, {{%0, %1}};" : '
                        f'"+r"(x0), "+r"(x1) : "r"({y}), "r"({u}));']  # fmt: skip
            case 2:
                name = "movmatrix.sync.aligned.m8n8.trans.b16"
                return [f'asm volatile("{name} %0, %1;" : "=r"({x}) : "r"({y}));']
            case 3:
                name = f"ldmatrix.sync.aligned.m8n8.x4{turned}.shared.b16"
                load = (f'asm volatile("{name} {{%0, %1, %2, %3}}, [%4];" : '
                        f'{four.replace("+", "=")} : "r"({row}));')  # fmt: skip
                return [own, sync, load, sync]
            case 4:
                name = f"stmatrix.sync.aligned.m8n8.x2{turned}.shared.b16"
                where = "place(&m[(t & 32) + (t * 3 & 15)])"
                store = (f'asm volatile("{name} [%0], {{%1, %2}};" :: "r"({where}), "r"({x}), '
                         f'"r"({u}) : "memory");')  # fmt: skip
                read = f"{x} ^= m[t * 5 & 63].{draw.choice('xyzw')};"
                return [own, sync, store, sync, read, sync]
            case 5:
                size, many = draw.choice(((4, 64), (8, 32), (16, 16)))
                how = "cg" if size == 16 else "ca"
                given = f"(const char*)a + ({self.int(1)} & {many - 1}) * {size}"
                rest = draw.choice(("", f", {draw.randrange(size + 1)}"))
                name = f"cp.async.{how}.shared.global [%0], [%1], {size}{rest};"
                copy = f'asm volatile("{name}" :: "r"(place(&m[t])), "l"({given}));'
                wait = 'asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");'
                part = draw.choice("xyzw"[: size // 4])
                return [copy, wait, sync, f"{x} += m[t ^ {draw.randrange(64)}].{part};", sync]
            case 6:
                first = (
                    'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(met_));'
                )
                wait = ('asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 '
                        'p, [%0], 0; @!p bra AGAIN; }" :: "r"(met_) : "memory");')  # fmt: skip
                number = self.loops = self.loops + 1
                wait = wait.replace("AGAIN", f"AGAIN_{self.name}_{number}")
                arrive = ('asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" '
                          ':: "r"(met_) : "memory");')  # fmt: skip
                read = f"{x} ^= m[t ^ {draw.randrange(64)}].y;"
                last = ('if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" '
                        ':: "r"(met_) : "memory");')  # fmt: skip
                body = [first, own, sync, arrive, wait, read, sync, last, sync]
                return [line.replace("met_", "place(&met)") for line in body]
            case 7:
                how = draw.choice(("add", "min", "max"))
                return [f"{x} += __reduce_{how}_sync(~0u, {self.int(1)} >> 6);"]
        return [f"{{ int all; u2 += __match_all_sync(~0u, {self.int(1)} & 1, &all); x3 -= all; }}"]

    def body(self, depth: int) -> list[str]:
        """Lines inside a branch or a loop."""
        count = self.draw.randrange(1, 3)
        return [line for _ in range(count) for line in self.statement(depth + 1, False)]

    def test(self) -> str:
        """A condition."""
        draw = self.draw
        sign = draw.choice(("<", "<=", ">", ">=", "==", "!="))
        of = draw.choice((self.int, self.unsigned, self.float, self.long))
        one = f"{of(1)} {sign} {of(1)}"
        return one if draw.random() < 0.7 else f"({one}) {draw.choice(('&&', '||'))} t % 3 == 1"

    def int(self, depth: int) -> str:
        """An int."""
        draw = self.draw
        if depth == 0 or draw.random() < 0.2:
            return draw.choice((*INTS, "t", "y[t & 7]", str(draw.randrange(-99, 99))))
        x, y = self.int(depth - 1), self.int(depth - 1)
        if self.newer and draw.random() < 0.2:
            z = self.int(0)
            return draw.choice(
                (f"__dp4a({x}, {y}, {z})", f"__dp2a_lo({x}, {y}, {z})", f"__mul24({x}, {y})",
                 f"(int)__sad({x}, {y}, {z})", f"__rhadd({x}, {y})", f"(int)__vabsdiffs4({x}, {y})",
                 f"__ldcg(&a[{x} & 63])", f"(int)__double2int_rd((double){x} / ({y} | 1))")
            )  # fmt: skip
        return draw.choice(
            (
                f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} & {y})", f"({x} ^ {y})",
                f"({x} | {y})", f"({x} << ({y} & 31))", f"({x} >> ({y} & 31))",
                f"({x} / ({y} | 1))", f"({x} % (({y} & 15) + 1))", f"min({x}, {y})",
                f"max({x}, {y})", f"({x} < {y} ? {x} : {y})", f"abs({x})", f"(short){x}",
                f"(signed char){x}", f"__popc({x})", f"__clz({x})", f"__mulhi({x}, {y})",
                f"(int){self.unsigned(depth - 1)}", f"(int)({self.float(depth - 1)})",
                f"(int)({self.long(depth - 1)} >> 7)", f"(int)__brev({x})", f"__ffs({x})",
            )
        )  # fmt: skip

    def unsigned(self, depth: int) -> str:
        """An unsigned int."""
        draw = self.draw
        if depth == 0 or draw.random() < 0.2:
            return draw.choice((*UNSIGNED, f"{draw.getrandbits(32)}u"))
        x, y = self.unsigned(depth - 1), self.unsigned(depth - 1)
        if self.newer and draw.random() < 0.2:
            z = self.unsigned(0)
            return draw.choice(
                (f"halves({x}, {y}, {z})", f"brains({x}, {y}, {z})",
                 f"__dp4a((unsigned){x}, (unsigned){y}, (unsigned){z})",
                 f"tensor_float(__int_as_float({self.int(1)} & 0x3fffffff))", f"__vsadu4({x}, {y})",
                 f"__vabsdiffu4({x}, {y})", f"__funnelshift_rc({x}, {y}, {z})",
                 f"__usad({x}, {y}, {z})", f"__vmaxu2({x}, {y})")
            )  # fmt: skip
        return draw.choice(
            (
                f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} & {y})", f"({x} ^ {y})",
                f"({x} >> ({y} & 31))", f"({x} << ({y} & 31))", f"({x} / ({y} | 1u))",
                f"({x} % ({y} | 1u))", f"max({x}, {y})", f"__umulhi({x}, {y})",
                f"(unsigned char){x}", f"(unsigned short){x}", f"(unsigned){self.int(depth - 1)}",
                f"__byte_perm({x}, {y}, {draw.getrandbits(16)}u)",
                f"__funnelshift_l({x}, {y}, {y})", f"({x} == {y})", f"~{x}",
            )
        )  # fmt: skip

    def float(self, depth: int) -> str:
        """A float."""
        draw = self.draw
        if depth == 0 or draw.random() < 0.2:
            return draw.choice((*FLOATS, f"{draw.randrange(-9, 9)}.5f"))
        x, y = self.float(depth - 1), self.float(depth - 1)
        if self.newer and draw.random() < 0.2:
            mode = draw.choice(("rz", "rd", "ru"))
            return draw.choice(
                (f"__fadd_{mode}({x}, {y})", f"__fmul_{mode}({x}, {y})", f"__frcp_rn({x})",
                 f"__fmaf_{mode}({x}, {y}, 0.75f)", f"__double2float_{mode}((double){x} * 1.1)",
                 f"copysignf({x}, {y})", f"(float)__int2float_{mode}({self.int(1)})")
            )  # fmt: skip
        return draw.choice(
            (
                f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"fmaf({x}, {y}, {x})",
                f"({x} / {y})", f"fminf({x}, {y})", f"fmaxf({x}, {y})", f"fabsf({x})",
                f"sqrtf(fabsf({x}))", f"floorf({x})", f"rintf({x})", f"truncf({x})",
                f"(float){self.int(depth - 1)}", f"(float){self.unsigned(depth - 1)}",
                f"(float)({self.long(depth - 1)})", f"(float)((double){x} * {y})",
                f"(float)((double){x} / {y})", f"(float)sqrt(fabs((double){x}))",
                f"__int_as_float({self.int(depth - 1)} & 0x3fffffff)",
            )
        )  # fmt: skip

    def long(self, depth: int) -> str:
        """A long long."""
        draw = self.draw
        if depth == 0 or draw.random() < 0.2:
            return draw.choice((*LONGS, f"{draw.randrange(-(1 << 40), 1 << 40)}LL"))
        x, y = self.long(depth - 1), self.long(depth - 1)
        return draw.choice(
            (
                f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} ^ {y})", f"({x} & {y})",
                f"({x} >> ({self.int(1)} & 63))", f"({x} << ({self.int(1)} & 63))",
                f"({x} / ({y} | 1))", f"({x} % ({y} | 1))", f"(long long){self.int(depth - 1)}",
                f"(long long){self.unsigned(depth - 1)}", f"__mul64hi({x}, {y})",
                f"(long long)__popcll({x})", f"({x} < {y} ? {y} : {x})",
                f"(long long)((unsigned long long){x} >> ({y} & 63))",
                f"(long long)((unsigned long long){x} / (unsigned long long)({y} | 1))",
                f"(long long)((unsigned long long){x} % (unsigned long long)({y} | 1))",
                f"(long long)__umul64hi({x}, {y})", f"(long long)__brevll({x})",
                f"(long long)__clzll({x})", f"(long long)({self.float(depth - 1)})",
            )
        )  # fmt: skip


def kernels(seed: int, count: int, newer: bool = False) -> str:
    """CUDA C++ with kernels k0, k1, ...: the same for the same seed."""
    draw = random.Random(seed)
    texts = [Kernel(draw, f"k{number}", newer).text() for number in range(count)]
    return "\n".join([NEWER_HEAD, *texts] if newer else texts)
