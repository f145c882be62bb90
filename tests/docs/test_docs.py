"""Every Python example of the README and of docs/ runs, and prints what the page says.

Code cells run here too, in order as in their page, without the site that shows them.
"""

import contextlib
import io
import linecache
import re
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest

import mmsim as mm

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^```(?:\{code-cell\} )?(python|text)\n(?::tags: [^\n]*\n\n)?(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

CODE = re.compile(r"^```(?:\{code-(?:cell|block)\} )?python\n.*?^```$", re.MULTILINE | re.DOTALL)


def examples(page):
    """The Python blocks of a page, each with the text block that follows directly, if any."""
    blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    text = page.read_text(encoding="utf-8")
    for block, after in zip_longest(blocks, blocks[1:]):
        if block[1] == "python":
            follows = after is not None and after[1] == "text"
            shown = follows and not text[block.end() : after.start()].strip()
            yield block[2], after[2] if shown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some save a file
    monkeypatch.setenv("MMSIM_PYTHON", "0")  # one sets it
    namespace = {"__name__": page.stem}
    for number, (source, expected) in enumerate(examples(page)):
        name = f"<{page.name} {number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, name, "exec"), namespace)
        if expected is not None:
            assert printed.getvalue() == expected


def test_the_readme_shows_a_kernel_with_its_profile():
    (_, expected), (stepped, _) = examples(ROOT / "README.md")
    assert "player().save(" in stepped
    assert "beyond the least possible" in expected


def test_padding_frees_the_readmes_kernel_of_conflicts(capsys):
    source, _ = next(examples(ROOT / "README.md"))
    padded = source.replace("(32, 32), np.float32", "(32, 33), np.float32")
    linecache.cache["<padded>"] = (len(padded), None, padded.splitlines(keepends=True), "<padded>")
    exec(compile(padded, "<padded>", "exec"), {})
    assert capsys.readouterr().out.startswith("transpose: 512 stages, 0 of them beyond")


def test_the_readme_begins_with_what_it_is_and_how_to_install_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, purpose, audience, *rest = text.split("\n\n")
    assert purpose.startswith("mmsim ")
    assert purpose.count(".") == 1
    assert not re.search(r"[DUH]MM", purpose + audience)
    assert rest[0] == "## Install"
    lines = text.splitlines()
    assert len(lines) <= 120
    assert lines.index("pip install .") < 25
    said = [text.index(f"*{word}*") for word in ("request", "stages")]
    assert max(said) < text.index("4480 stages")


def test_tests_that_the_pages_name_are_there():
    named = 0
    for page in PAGES:
        for name in re.findall(
            r"`(?:python )?(tests/[\w/]+\.py)", page.read_text(encoding="utf-8")
        ):
            # The command of a kept run names the file where it was on that day, before the kit.
            moved = (ROOT / "tests" / "kit").rglob(Path(name).name)
            assert (ROOT / name).exists() or any(moved), (page.name, name)
            named += 1
    assert named > 10


def test_links_lead_somewhere():
    for page in PAGES:
        text = CODE.sub("", page.read_text(encoding="utf-8"))
        text = re.sub(r"`[^`\n]*`", "", text)  # without code
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), (page.name, target)


def test_verdicts_on_the_page_of_claims_are_those_of_verification():
    from mmsim.claims import registered, verify_claim
    from tests.kit.runs.some_cases import some

    rows = re.findall(
        r"^\| (SMM-[\w.]+)[^|]*\| `([^`]+)` \| (\d+) \| (\w+) \|$",
        (ROOT / "docs" / "claims.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == 4
    claims = {claim.id: claim for claim in registered()}
    for id_, formula, cases, result in rows:
        claim = claims[id_ if result == "holds" else f"{id_}.printed"]
        grid = claim.cases()
        verdict = verify_claim(replace(claim, grid=lambda grid=grid: some(grid)))
        assert (verdict.statement, len(grid), verdict.result) == (formula, int(cases), result)


def test_the_page_of_limits_names_what_there_is():
    text = (ROOT / "docs" / "explanation" / "limits.md").read_text(encoding="utf-8")
    (first,) = re.findall(r"^- A program is one function.*", text, re.MULTILINE)
    assert re.findall(r"\bno (\w+)", first) == ["pointers", "recursion"]
    for owner, names in (
        (mm, ("atomic", "warp", "vector")),
        (mm.Cached, ("sectors", "under_way", "resident")),
        (mm.HMM, ("bank_bytes",)),
    ):
        for name in names:
            assert hasattr(owner, name), name
    for said in ("`mm.Cached` has a second-level cache", "`mm.Cached` has sectors", "`under_way`"):
        assert said in text
