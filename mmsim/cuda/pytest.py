"""A plugin of pytest that runs tests of `numba.cuda` kernels on mmsim.

    pytest -p mmsim.cuda.pytest [--cuda-check] [--cuda-json FILE] [--cuda-html FILE]

It replaces `numba.cuda` with mmsim before any test is imported, and prints a table of all launches
at the end. With --cuda-check, every launch is checked, and findings end the tests with status 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmsim.cuda.replacing import replace
from mmsim.cuda.report import Report
from mmsim.view.tables import table_text

report = Report()


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
    report.listen(check=config.option.cuda_check)


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Save the requested files; findings are a failure."""
    option = session.config.option
    if option.cuda_json is not None:
        option.cuda_json.write_text(report.to_json(), encoding="utf-8")
    if option.cuda_html is not None:
        option.cuda_html.write_text(report.to_html(), encoding="utf-8")
    if report.findings and exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table, and the verdict of the checks on each kernel."""
    if report.kernels:
        terminalreporter.section("kernels")
        for table in report.tables():
            terminalreporter.write_line(table_text(table))
        for verdict in report.verdicts():
            terminalreporter.write_line(verdict)
