"""A plugin of pytest that runs tests of `numba.cuda` kernels on mmsim.

    pytest -p mmsim.cuda.pytest [--cuda-check] [--cuda-json FILE] [--cuda-html FILE]

It replaces `numba.cuda` with mmsim before any test is imported, and prints a table of all launches
at the end. With --cuda-check, every launch is checked, and findings end the tests with status 1.
If pytest-xdist spreads the tests over processes, each of them has a table of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mmsim.cuda import in_python
from mmsim.cuda.replacing import replace
from mmsim.cuda.report import Report
from mmsim.view.tables import table_text

report = Report()
processes: dict[str, dict[str, Any]] = {}
"""The lines and the number of findings of each process of pytest-xdist."""


def pytest_addoption(parser: Any) -> None:
    """Replace numba.cuda before any test is imported; add the options.

    This file does not replace it on import, as that would change the whole process.
    """
    replace()
    group = parser.getgroup("mmsim")
    group.addoption("--cuda-check", action="store_true", help="check every launch of a kernel")
    group.addoption("--cuda-json", type=Path, metavar="FILE", help="save the table of kernels")
    group.addoption("--cuda-html", type=Path, metavar="FILE", help="save a page of kernels")


def pytest_configure(config: Any) -> None:
    """Count the launches."""
    option = config.option
    if getattr(option, "numprocesses", None) and (option.cuda_json or option.cuda_html):
        raise pytest.UsageError("--cuda-json and --cuda-html need one process: add -n 0")
    if option.cuda_check and in_python.is_asked_for():
        raise pytest.UsageError(in_python.UNCHECKED)
    report.listen(check=option.cuda_check)


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Save the requested files; findings are a failure."""
    option, output = session.config.option, getattr(session.config, "workeroutput", None)
    if output is not None:  # a process of pytest-xdist, of which the first one prints
        output["mmsim"] = {"lines": _lines(), "findings": len(report.findings)}
        return
    if option.cuda_json is not None:
        option.cuda_json.write_text(report.to_json(), encoding="utf-8")
    if option.cuda_html is not None:
        option.cuda_html.write_text(report.to_html(), encoding="utf-8")
    found = len(report.findings) + sum(one["findings"] for one in processes.values())
    if found and exitstatus == 0:
        session.exitstatus = 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Keep the output of a process of pytest-xdist."""
    output = getattr(node, "workeroutput", None) or {}
    if "mmsim" in output:
        processes[node.gateway.id] = output["mmsim"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table, and the verdict of the checks on each kernel."""
    sections = {"kernels": _lines()}
    sections |= {f"kernels of {name}": one["lines"] for name, one in processes.items()}
    for title, lines in sections.items():
        if lines:
            terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)


def _lines() -> list[str]:
    """The lines of the tables, and the verdicts; none without a launch."""
    return [*map(table_text, report.tables()), *report.verdicts()] if report.kernels else []
