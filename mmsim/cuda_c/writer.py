"""Writes a program as the text of a CUDA kernel: the frame around its statements.

The simulation and the text start from one representation. So they can't differ in the accesses or
in their order.
"""

from __future__ import annotations

import re

from mmsim.cuda_c.body import Body
from mmsim.cuda_c.helpers import HELPERS, called
from mmsim.cuda_c.text import C_TYPES, comment, word_type
from mmsim.ir import nodes as ir
from mmsim.ir.walk import statements, written_arrays
from mmsim.meaning.launch import Launch
from mmsim.model.threads import Extents, written

STATIC_BYTES = 48 * 1024
"""The shared memory that a kernel can have without a request at its launch."""
ALIGNMENT = 128
"""The alignment of shared arrays in bytes: they begin at bank 0, as in the model."""


def waits_between_repetitions(code: ir.Code) -> bool:
    """Return whether all threads must end a repetition of the program before one begins the next.

    They must if the program reads words that it writes, or if threads leave it before a barrier.
    """
    everything = list(statements(code.body))
    read = {one.array for one in everything if isinstance(one, ir.Load | ir.VectorLoad | ir.Atomic)}
    written = written_arrays(code.body)
    kinds = {type(one) for one in everything}
    return bool(read & written) or {ir.Return, ir.Barrier} <= kinds


def _number(name: str, extents: Extents) -> str:
    """The number of a thread in its block, or of a block in its grid: x first, then y, then z."""
    terms, before = [f"{name}.x"], extents[0]
    for axis, extent in zip(ir.AXES[1:], extents[1:], strict=True):
        if extent > 1:
            terms.append(f"{name}.{axis} * {before}LL" if before > 1 else f"{name}.{axis}")
        before *= extent
    return " + ".join(terms)


class Writer:
    """Writes the kernel `name` around a program's `body`.

    After `text`, `dynamic_bytes` is the shared memory that the launch has to request.
    """

    def __init__(self, launch: Launch, name: str, body: Body, clear_shared: bool) -> None:
        self.launch = launch
        self.name = name
        self.body = body
        self.clear_shared = clear_shared
        self.in_shared = body.space == "shared"
        self.dynamic_bytes = 0
        locals_ = launch.meaning.code.locals
        self.shared = [local.name for local in locals_ if local.kind == "shared"]
        self.fields = {part.field for part in body.parts if isinstance(part, ir.ThreadField)}
        self.numbers = {part.name for part in body.parts if isinstance(part, ir.Number)}

    def text(self) -> str:
        """The whole text."""
        body = self.body
        self._signature()
        body.add("{")
        with body.inside():
            self._shared_arrays()
            self._thread()
            if self.in_shared:
                self._repeated()
            else:
                body.write()
        body.add("}")
        kernel = "\n".join(body.lines)
        functions = [placement.text for placement in body.placements.values()]
        code = re.sub("//.*", "", "\n".join([*functions, kernel]))
        helpers = called(code, self.launch.grid.extents.is_line)
        needs = {
            "cooperative_groups": self.body.cooperative,
            "cuda_fp16": HELPERS["half_float"] in helpers,
        }
        head = [f"#include <{name}.h>" for name, is_needed in needs.items() if is_needed]
        return "\n\n".join([self._title(), *head, *helpers, *functions, kernel]) + "\n"

    def _title(self) -> str:
        grid, program = self.launch.grid, self.launch.program
        shape = grid.extents
        blocks = f"{written(shape.grid)} blocks" if grid.blocks > 1 else "1 block"
        about = comment((program.function.__doc__ or "").strip().split("\n")[0])
        threads = f"p = {grid.threads} threads, {blocks} of {written(shape.block)}"
        lines = [
            f"// {comment(program.name)} in CUDA C: {threads}.",
            *([f"// {about}"] if about else []),
            "// Compile with --fmad=false: Python never fuses a product and a sum.",
        ]
        return "\n".join(lines)

    def _signature(self) -> None:
        """The kernel's head; `Kernel.arguments` lists its parameters in the same order."""
        parameters = []
        for name in self.launch.parameters:
            const = "" if name in self.body.written else "const "
            word = C_TYPES[word_type(self.body.typing.arrays[name], shared=False).name]
            if self.in_shared:
                parameters.append(f"{const}{word} *{self._source(name)}")
            else:
                parameters.append(self._pointer(name, f"{const}volatile {word}"))
        for name, placement in self.body.placements.items():
            if placement.table is not None:
                parameters.append(f"const int *offsets_{self.body.names.of(name)}")
        if self.in_shared:
            parameters += ["int repeat", "long long *cycles"]
        self.body.add(f'extern "C" __global__ void {self.name}(')
        self.body.lines.extend(f"    {parameter}," for parameter in parameters)
        self.body.lines[-1] = self.body.lines[-1].removesuffix(",") + ")"

    def _source(self, name: str) -> str:
        """The pointer to a parameter in global memory, if the array itself is in shared memory."""
        return f"from_{self.body.names.of(name)}"

    def _pointer(self, name: str, word: str) -> str:
        """The declaration of a pointer to an array: a[i][j] is an element."""
        rest = "".join(f"[{extent}]" for extent in self.body.extents(name)[1:])
        own = self.body.names.of(name)
        return f"{word} (*{own}){rest}" if rest else f"{word} *{own}"

    def _shared_arrays(self) -> None:
        """Arrays in shared memory, and their first contents."""
        body, given = self.body, list(self.launch.parameters) if self.in_shared else []
        names = given + self.shared
        words = {name: word_type(body.typing.arrays[name], shared=True) for name in names}
        sizes = {name: body.size(name) * words[name].itemsize for name in names}
        starts, total = {}, 0
        for name in names:
            starts[name] = total
            total += -(-max(sizes[name], 1) // ALIGNMENT) * ALIGNMENT
        if total > STATIC_BYTES:
            self.dynamic_bytes = total
            body.add(f"extern __shared__ __align__({ALIGNMENT}) unsigned char memory[];")
        for name in names:
            word = f"volatile {C_TYPES[words[name].name]}"
            if self.dynamic_bytes:
                rest = "".join(f"[{extent}]" for extent in body.extents(name)[1:])
                kind = f"{word} (*){rest}" if rest else f"{word} *"
                body.add(f"{self._pointer(name, word)} = ({kind})(memory + {starts[name]});")
            else:
                extents = "".join(f"[{max(extent, 1)}]" for extent in body.extents(name))
                own = f"{body.names.of(name)}{extents}"
                body.add(f"__shared__ __align__({ALIGNMENT}) {word} {own};")
        for name in given:
            body.add(f"copy_words({body.first(name)}, {self._source(name)}, {body.size(name)});")
        cleared = self.shared if self.clear_shared else []
        for name in cleared:
            body.add(f"clear({body.first(name)}, {body.size(name)});")
        if given or cleared:
            body.add("__syncthreads();")

    def _thread(self) -> None:
        """The values that the program knows before it begins: T and its numbers."""
        body, grid = self.body, self.launch.grid
        if self.in_shared:  # else each repetition would test whether the first index is in range
            for axis, extent in zip(ir.AXES, grid.extents.block, strict=True):
                if axis == "x" or extent > 1:
                    body.add(f"__builtin_assume(threadIdx.{axis} < {extent});")
        if grid.threads % grid.block_size:
            body.add(f"if ({self._field('id')} >= {grid.threads})")
            body.add("    return;")
        self._fields_of_thread()
        if body.mask is not None:
            size, last = f"{grid.block_size}", grid.threads % grid.block_size
            if last:
                size = f"({self._field('block')} == {grid.blocks - 1} ? {last} : {size})"
            index = _number("threadIdx", grid.extents.block)
            own = f"({index})" if "+" in index else index
            left = f"{size} - {own} / {grid.width} * {grid.width}"
            body.add(f"const unsigned int {body.mask} = first_lanes({left}, {grid.width});")
        for name, value in self.launch.meaning.numbers.items():
            if name in self.numbers:
                kind = C_TYPES[body.typing.numbers[name].name]
                text = body.expressions.write(ir.Const(value)).code
                body.add(f"const {kind} {body.names.of(name)} = {text};")

    def _fields_of_thread(self) -> None:
        """T, with the fields that the program uses."""
        body = self.body
        numbers = [field for field in ir.NUMBERS if field in self.fields]
        members = [f"long long {', '.join(numbers)};"] * bool(numbers)
        values = [", ".join(map(self._field, numbers))] * bool(numbers)
        for name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            axes = [axis for axis in ir.AXES if f"{name}.{axis}" in self.fields]
            if axes:
                members.append(f"struct {{ long long {', '.join(axes)}; }} {name};")
                values.append(f"{{{', '.join(f'{name}.{axis}' for axis in axes)}}}")
        if len(members) == 1:
            body.add(f"const struct {{ {members[0]} }} T = {{{values[0]}}};")
        elif members:
            body.add("const struct {")
            body.lines.extend(f"        {member}" for member in members)
            body.add("} T = {")
            body.lines.extend(f"        {value}," for value in values)
            body.add("};")

    def _field(self, field: str) -> str:
        """A field of T by the papers' name, from CUDA's own numbers."""
        grid = self.launch.grid
        several = grid.blocks > 1
        index = _number("threadIdx", grid.extents.block)
        block = _number("blockIdx", grid.extents.grid)
        first, own = (f"({text})" if "+" in text else text for text in (block, index))
        before = f"{first} * {grid.block_size}LL + " if several else ""
        warps_before = f"{first} * {grid.warps_per_block}LL + " if several else ""
        return {
            "id": f"{before}{index}",
            "index": index,
            "block": block,
            "lane": f"{own} % {grid.width}",
            "warp": f"{warps_before}{own} / {grid.width}",
            "count": f"{grid.threads}",
            "block_size": f"{grid.block_size}",
            "blocks": f"{grid.blocks}",
        }[field]

    def _repeated(self) -> None:
        """The program, repeated as asked, between two readings of the clock.

        A warp that has ended one repetition begins the next, unless that depends on the others.
        """
        body = self.body
        start, repetition = body.names.fresh("start"), body.names.fresh("turn")
        body.add(f"long long {start} = clock64();")
        body.add(f"for (int {repetition} = 0; {repetition} < repeat; {repetition}++) {{")
        with body.inside():
            if body.leaves:
                body.add("{")
                with body.inside():
                    body.write()
                body.add("}")
                body.add("end_of_program:;")
            else:
                body.write()
            if body.leaves and body.waits:
                # A thread that has returned still comes to every barrier of the others.
                body.add("while (!__syncthreads_and(1))")
                body.add("    ;")
            elif waits_between_repetitions(self.launch.code):
                body.add("__syncthreads();")
        body.add("}")
        body.add("__syncthreads();")
        body.add(f"if ({self._field('index')} == 0)")
        body.add(f"    *cycles = clock64() - {start};")
        for name in self.launch.parameters:
            if name in body.written:
                to, size = self._source(name), body.size(name)
                body.add(f"copy_words({to}, {body.first(name)}, {size});")
