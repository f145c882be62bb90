"""The laboratory's page: a program and its machine to be changed, and the player of the run."""

from __future__ import annotations

import html
import json
import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from os import PathLike
from typing import Any

from mmsim.errors import LaunchError
from mmsim.frontend.program import Program
from mmsim.host.arguments import file_path
from mmsim.ir import nodes as ir
from mmsim.ir.walk import all_parts
from mmsim.javascript.text import text_of
from mmsim.model.machines import Machine, Schedule
from mmsim.model.threads import asked
from mmsim.names import everything
from mmsim.view.lab.claims import claims_of
from mmsim.view.lab.inputs import describe, named_sizes, size_text
from mmsim.view.lab.scripts import part, script, work
from mmsim.view.page import filled, origin, page
from mmsim.view.player.scripts import as_json

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; img-src data: blob:"
)
"""The policy of a page, which loads nothing from outside."""
OPENING = """\
const [data, work] = ["data", "work"].map((id) => document.getElementById(id).textContent);
window.laboratory = openLaboratory(place, JSON.parse(data), work);"""
HEIGHT = 960
"""The height of the frame in a notebook, in pixels."""
MACHINES = {
    "DMM": ("width", "latency"),
    "UMM": ("width", "latency"),
    "HMM": ("dmms", "width", "global_latency", "shared_latency"),
}
"""The machines that the page has, by the names of their classes, and their parameters."""


class Laboratory:
    """A page in which one changes a program and its machine, and sees the run at once.

    A notebook shows it, `save` writes it to a file, `html` returns it as text.
    """

    def __init__(
        self,
        program: Program,
        args: tuple[Any, ...],
        machine: Machine,
        launch: dict[str, Any],
        schedule: Schedule,
    ) -> None:
        if not isinstance(program, Program) or program.parsed_late:
            raise LaunchError(
                f"a laboratory has a program, a function with @mm.program, not {program}"
            )
        kind = type(machine).__name__
        if kind not in MACHINES or getattr(machine, "bank_bytes", None) is not None:
            raise LaunchError(
                f"a laboratory has a DMM, a UMM or an HMM without bank_bytes, not {machine}; step "
                "through its run with run.player()"
            )
        self.program = program
        self.machine = machine
        names = [parameter.name for parameter in program.code.parameters]
        sizes = {**named_sizes(args), "w": machine.width}
        threads = _threads(program, launch, sizes)
        self.setup: dict[str, Any] = {
            "text": text_of(program),
            "program": program.name,
            "sizes": {name: value for name, value in sizes.items() if name != "w"},
            "machine": {"kind": kind, **{one: getattr(machine, one) for one in MACHINES[kind]}},
            "schedule": schedule,
            "launch": threads,
            "arguments": [
                describe(name, value, sizes) for name, value in zip(names, args, strict=False)
            ],
            "view": "",
            "over": "machine.width",
        }
        if claims := claims_of(program):
            self.setup["claims"] = claims

    def __repr__(self) -> str:
        return f"<laboratory of {self.program.name} on {self.machine}>"

    def fragment(self) -> str:
        """Return what follows # in a link: it opens this laboratory in any laboratory's page."""
        text = json.dumps(_for_link(self.setup), ensure_ascii=False, separators=(",", ":"))
        packing = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        packed = packing.compress(text.encode()) + packing.flush()
        return f"lab={urlsafe_b64encode(packed).decode().rstrip('=')}"

    def html(self) -> str:
        """Return the page as text."""
        data = {"setup": self.setup, "origin": origin()}
        values = {
            "POLICY": POLICY,
            "PLACE": "laboratory",
            "PURPOSE": "run this program",
            "TITLE": self._title,
            "SCRIPT": script(),
            "MORE": f'<script type="text/plain" id="work">{work(everything())}</script>\n',
            "DATA": as_json(data),
            "OPENING": OPENING,
        }
        return page(values)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file."""
        file_path("path", path).write_text(self.html(), encoding="utf-8", errors="backslashreplace")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither it nor the notebook affects the other.

        It is compressed: a notebook that is saved holds the whole engine.
        """
        packed = b64encode(zlib.compress(self.html().encode(), 9)).decode()
        frame = filled(part("frame.html"), {"TITLE": self._title, "PACKED": packed})
        return (
            f'<iframe class="mmsim-laboratory" title="{html.escape(repr(self)[1:-1])}" '
            'sandbox="allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox" '
            f'allow="clipboard-write" style="width: 100%; height: {HEIGHT}px; border: 0" '
            f'srcdoc="{html.escape(frame)}"></iframe>'
        )

    @property
    def _title(self) -> str:
        return html.escape(f"{self.program.name} in mmsim's laboratory")


def _for_link(setup: dict[str, Any]) -> dict[str, Any]:
    """A setup with only those sizes that a text of its launch or of its arguments names."""
    texts = [*setup["launch"].values()]
    for one in setup["arguments"]:
        layout = {**one.get("layout", {}), "kind": "", "offsets": ""}
        texts += [one.get("shape", ""), one.get("value", ""), *layout.values()]
    names = {name for text in texts for name in re.findall(r"[A-Za-z_]\w*", text)}
    return setup | {"sizes": {name: n for name, n in setup["sizes"].items() if name in names}}


def _threads(program: Program, launch: dict[str, Any], sizes: dict[str, int]) -> dict[str, str]:
    """The threads as texts; p is a size of its own if the program asks for their number."""
    if launch.get("grid") is not None:
        return {
            name: ", ".join(map(str, extents)) if isinstance(extents, tuple) else str(extents)
            for name, extents in ((one, launch[one]) for one in ("grid", "block"))
        }
    threads, size, _ = asked(**launch)
    if _counts_threads(program.code) or size_text(threads, sizes) == str(threads):
        sizes["p"] = threads
        text = "p"
    else:
        text = size_text(threads, sizes)
    own = "" if size is None or size == threads else str(size)
    return {"threads": text, "block_size": own}


def _counts_threads(code: ir.Code) -> bool:
    """Return whether a program asks for the number of threads."""
    return any(
        isinstance(one, ir.ThreadField) and one.field == "count" for one in all_parts(code.body)
    )
