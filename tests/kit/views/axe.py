"""Barriers on a page by axe-core, which `make axe` fetches: violations of WCAG 2.1, A and AA."""

import pytest

from tests.kit import ROOT

FOLDER = ROOT / "build" / "axe"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
RUN = """levels => axe.run(document, {runOnly: {type: "tag", values: levels}, resultTypes: []})
  .then(found => [found.passes.length, found.violations.flatMap(rule =>
    rule.nodes.map(node => `${rule.id}: ${node.target.join(" > ")}: ${node.failureSummary}`))])"""


def needed():
    """The script of axe-core, or a skip that says how to get it."""
    scripts = sorted(FOLDER.glob("*.js"))
    if not scripts:
        pytest.skip("axe-core isn't there: make axe")
    return scripts[-1].read_text("utf-8")


def violations(page, script):
    """The violations that axe-core finds on a page that a browser shows, and in its frames."""
    for frame in getattr(page, "frames", [page]):  # `Firefox` has one
        frame.evaluate(f"(() => {{ {script}\n}})()")
    passes, found = page.evaluate(RUN, LEVELS)
    assert passes, "axe-core looked at nothing"
    return found
