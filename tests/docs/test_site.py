"""The site: made without a warning and without a network, and whole.

Only a few claims are verified for it here, and the pictures of one algorithm and one figure of a
paper are drawn; `make docs` verifies and draws them all. The long tests draw them all, too.
"""

import doctest
import html
import importlib
import io
import json
import linecache
import os
import re
import shutil
import subprocess
import sys
import zlib
from base64 import urlsafe_b64decode
from html.parser import HTMLParser
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image

import mmsim as mm
from mmsim.claims import registered, verify
from mmsim.claims.verify import from_json, provenance, provenance_from_json, to_json
from mmsim.errors import FormatError
from tests.kit.views import axe

if find_spec("myst_nb") is None:  # without loading Sphinx
    pytest.skip("the site's tools aren't installed", allow_module_level=True)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
VERIFIED = ["SMM-E1.DMM", "SMM-ROT", "SMM-L5.1.printed", "SMM-L7.1.O", "CFP-F7"]
DRAWN = "histogram"
FIGURE = "SMM-F2"
PUBLIC = [
    *("mmsim", "mmsim.figures", "mmsim.claims", "mmsim.gpu", "mmsim.bench", "mmsim.results"),
    "mmsim.sweeps",
]

NO_NETWORK = """\
import socket

def refuse(name):
    original = getattr(socket.socket, name)

    def local_only(self, address, *rest):
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"the site asked for {address}")
        return original(self, address, *rest)

    setattr(socket.socket, name, local_only)

refuse("connect")
refuse("connect_ex")
"""


def sphinx(source, target, folder, **environment):
    """Run Sphinx as `make docs` does, in processes that reach nothing but this machine."""
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = ["sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E"]
    folders = ["-d", str(folder / "doctrees"), str(source), str(target)]
    return subprocess.run(
        [sys.executable, "-m", *command, *folders],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg", **environment},
    )


@pytest.fixture(scope="module")
def verdicts():
    claims = {claim.id: claim for claim in registered()}
    return verify(claims[id_] for id_ in VERIFIED)


@pytest.fixture(scope="module")
def made():
    return provenance([claim for claim in registered() if claim.id in VERIFIED])


@pytest.fixture(scope="module")
def site(request, made, verdicts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    saved = folder / "verify.json"
    saved.write_text(to_json(verdicts, made), encoding="utf-8")
    drawn = f"{DRAWN} {FIGURE}" if request.config.option.markexpr == "not long" else ""
    made = sphinx(DOCS, folder / "html", folder, MMSIM_VERDICTS=str(saved), MMSIM_PICTURES=drawn)
    assert made.returncode == 0, made.stderr
    assert "WARNING" not in made.stderr
    return folder / "html"


def text_of(page):
    """The text of a page as a reader sees it, without its frames."""
    text = re.sub(r'srcdoc="[^"]*"|<(script|style)\b.*?</\1>', "", page.read_text(), flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", "", text).split())


class Loads(HTMLParser):
    """Collects what a page makes a browser load, its frames' pages included."""

    def __init__(self):
        super().__init__()
        self.found, self.frames = [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag != "a":
            self.found += [given[name] for name in ("src", "data", "poster") if given.get(name)]
        if tag in ("link", "use", "image"):
            self.found += [given[name] for name in ("href", "xlink:href") if given.get(name)]
        if given.get("srcdoc"):
            self.frames.append(given["srcdoc"])
            self.found += loads(given["srcdoc"]).found


def loads(text):
    parser = Loads()
    parser.feed(text)
    return parser


def test_no_page_loads_from_a_network(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        for address in loads(page.read_text()).found:
            assert not re.match(r"(\w+:)?//", address), (page.name, address)
    fetched = re.compile(r"(url\(|@import|import\()\s*[\"']?(https?:)?//")
    for file in [*pages, *site.rglob("*.css"), *site.rglob("*.js")]:
        assert not fetched.search(file.read_text()), file


def test_what_would_load_from_a_network_is_found():
    page = """<a href="https://a"></a><script src="https://b"></script>
    <link href="//c"><iframe srcdoc="&lt;img src='http://d'>"></iframe>"""
    assert loads(page).found == ["https://b", "//c", "http://d"]


def test_every_link_leads_to_a_file_of_the_site(site):
    for page in site.rglob("*.html"):
        text = re.sub(r'srcdoc="[^"]*"', "", page.read_text())
        for target in set(re.findall(r'<a [^>]*?href="(?!\w+:)([^"#?]+)', text)):
            assert (page.parent / html.unescape(target)).exists(), (page.name, target)


def test_a_browser_shows_the_players_and_asks_for_files_only(site, new_page):
    asked = []
    page = new_page()
    page.on("request", lambda request: asked.append(request.url))
    for name in ("index.html", "tutorial/stepping.html", "explanation/rules.html"):
        page.goto((site / name).as_uri())
        shown = "iframe.mmsim-laboratory" if name == "index.html" else "iframe[title^='player of']"
        frame = page.frame_locator(shown)
        page.locator(shown).first.evaluate("frame => frame.scrollIntoView({ behavior: 'instant' })")
        frame.get_by_text(re.compile("^Time 0 of")).first.wait_for(timeout=20_000)
        if name != "explanation/rules.html":  # Space plays without a click, and does not scroll
            before = page.evaluate("scrollY")
            page.keyboard.press(" ")
            frame.get_by_text("Pause", exact=True).wait_for(timeout=20_000)
            assert page.evaluate("scrollY") == before
    page.goto((site / "ledger.html").as_uri())
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "about:", "data:", "blob:"))] == []


TRANSPOSE = """\
@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, (i + j) % a.shape[1]] = a[i, j]
"""
"""The front page's program with a diagonal arrangement of b."""


def test_the_front_page_has_a_laboratory_that_one_changes(site, new_page):
    asked = []
    page = new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    box = page.locator("iframe.mmsim-laboratory")
    box.evaluate("frame => frame.scrollIntoView({ behavior: 'instant', block: 'center' })")
    frame = page.frame_locator("iframe.mmsim-laboratory")
    time = frame.locator("#verdict b")
    time.wait_for(timeout=20_000)
    a = np.arange(64).reshape(8, 8)
    options = {"threads": 64}
    namespace = {"mm": mm}
    name = "<the front page's>"
    linecache.cache[name] = (len(TRANSPOSE), None, TRANSPOSE.splitlines(keepends=True), name)
    exec(compile(TRANSPOSE, name, "exec"), namespace)
    changed = namespace["transpose"]

    def said(expected):
        frame.locator("#verdict b", has_text=re.compile(f"^{expected}$")).wait_for(timeout=20_000)

    seen = page.viewport_size["height"]
    for part in ("#text", "#machine", "#place .player"):  # in sight, all at once
        place = frame.locator(part).bounding_box()
        assert 0 <= place["y"] < seen - 100, part
        assert box.bounding_box()["y"] >= 0
    first = int(time.inner_text())
    frame.locator("#text").fill(f"import mmsim as mm\n\n\n{TRANSPOSE}")
    eight = mm.DMM(8, 2).run(changed, a, np.zeros_like(a), **options).time
    assert eight < first
    said(eight)
    frame.get_by_label("width, as a number").fill("3")
    three = mm.DMM(3, 2).run(changed, a, np.zeros_like(a), **options).time
    assert three != eight
    said(three)
    frame.get_by_role("button", name="Reset", exact=True).click()
    said(first)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def laboratories(page):
    """The links of a page to laboratories, each with its text and what it opens."""
    pattern = r'<a href="([^"]*_static/lab\.html)#lab=([^"]+)">([^<]*)</a>'
    return [
        (place, packed, text, json.loads(zlib.decompress(urlsafe_b64decode(packed + "==="), -15)))
        for place, packed, text in re.findall(pattern, page.read_text())
    ]


def test_an_example_leads_to_a_laboratory_with_its_program(site, new_page):
    from mmsim_algorithms.sums import tree

    found = {text: setup for _, _, text, setup in laboratories(site / "algorithms" / "sum.html")}
    assert list(found) == ["strided_tree", "tree", "columns", "few_barriers", "block_sums"]
    example = tree.prepare(4)
    expected = mm.DMM(4, 3).run(tree, *example.arguments, **example.launch).time
    page = new_page()
    page.goto((site / "algorithms" / "sum.html").as_uri())
    page.locator(".to-laboratory").get_by_text("tree", exact=True).click()
    page.locator("#verdict b").wait_for(timeout=20_000)
    assert page.locator("#verdict b").inner_text() == str(expected)
    assert "def tree(T" in page.locator("#text").input_value()
    assert page.title() == "tree in mmsim's laboratory"
    page.goto((site / "tutorial" / "first-program.html").as_uri())
    page.locator(".to-laboratory a").first.click()  # of a cell, with its sizes and its machine
    page.locator("#verdict b").wait_for(timeout=20_000)
    assert page.locator("#verdict b").inner_text() == "1,064"
    page.goto((site / "how-to" / "puzzles.html").as_uri())
    page.get_by_role("link", name="try them").click()
    page.wait_for_function("window.puzzles?.runs > 0")


def test_pages_of_examples_lead_to_laboratories(site):
    programs = {}
    for file in site.rglob("*.html"):
        for place, _, _, setup in laboratories(file):
            assert (file.parent / place).resolve() == site / "_static" / "lab.html"
            programs.setdefault(str(file.relative_to(site)), []).append(setup["program"])
    families = [f"algorithms/{path.name}" for path in (site / "algorithms").glob("[!i]*.html")]
    tutorial = [f"tutorial/{name}.html" for name in ("first-program", "stepping", "formula")]
    others = ["language.html", "checker.html", "how-to/layout.html", "explanation/schedules.html"]
    assert {*families, *tutorial, *others} <= set(programs)
    assert len(programs["language.html"]) > 8
    assert programs["tutorial/stepping.html"][0] == "transpose"
    assert programs["explanation/schedules.html"][-1] == "rotate_safely"


def test_links_are_of_runs_that_a_page_starts_itself(extension):
    module = extension("laboratories")
    assert doctest.testmod(extension("observed_runs")).failed == 0
    page = (
        "```python\nimport numpy as np\nimport mmsim as mm\n\n\n@mm.program\ndef f(T, a):\n"
        "    a[T.id] = 1\n```\n\n```python\nfor w in (2, 4):\n"
        "    print(mm.DMM(w, 3).run(f, np.zeros(8), threads=8).time)\n```\n\n```text\n6\n4\n```\n"
        "\nWords.\n\n```python\nmm.Cached(1, 4, 9).run(f, np.zeros(8), threads=8)\n"
        "mm.DMM(4, 3).run(f, np.random.rand(2**14), threads=8)\n```\n"
    )
    linked = module.with_links("page", page)
    before, link, after = re.split(r'\n\n(<p class="to-laboratory">.*</p>)', linked)
    assert before + after == page
    assert before.endswith("```text\n6\n4\n```")
    assert after.startswith("\n\nWords.")
    assert link.count("<a ") == 1


def test_the_ledger_leads_to_a_proof_that_opens(site, new_page):
    page = new_page()
    page.goto((site / "ledger.html").as_uri())
    row = page.locator("tr", has=page.locator("[id='SMM-L5.1']"))
    row.get_by_text("proved for each w up to 64").click()
    proof = page.locator("[id='proof-SMM-L5.1'] pre")
    proof.get_by_text("The difference is 0").wait_for(timeout=20_000)
    assert not page.locator("[id='proof-SMM-ROT'] pre").is_visible()
    targets = re.findall(r'href="#(proof-[^"]+)"', (site / "proofs.html").read_text())
    assert len(targets) > 100
    assert all(f'id="{one}"' in (site / "proofs.html").read_text() for one in targets)


ANSWERS = {
    "bank conflict": "explanation/rules.html",
    "race condition": "checker.html",
    "deadlock": "checker.html",
    "profile my kernel": "how-to/profile.html",
    "step through": "how-to/step.html",
    "compare two runs": "player.html",
    "warp divergence": "machines.html",
    "A100": "how-to/gpu.html",
    "colab": "how-to/colab.html",
    "install": "tutorial/first-program.html",
}
"""Searches, each with the page that answers."""


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"])
def test_a_search_finds_the_page_that_answers_first(site, new_page, every):
    page = new_page()
    for words, answer in islice(ANSWERS.items(), 0, None, every):
        page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
        first = page.locator("#search-results ul.search li a").first
        first.wait_for(timeout=20_000)
        found, _, place = first.get_attribute("href").partition("#")
        assert found == answer, words
        page.goto((site / answer).as_uri() + f"#{place}")
        section = page.locator(f"#{place}").locator("xpath=following::p[1]")
        assert section.inner_text(), words  # the anchor leads to the answer's section


def test_the_first_screen_says_what_it_runs_and_how_to_install_it(site, new_page):
    page = new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / "index.html").as_uri())
    for text in ("CUDA kernels of C++ and Python", "numba.cuda", "pip install ."):
        box = page.locator("article").get_by_text(text).first.bounding_box()
        assert box["y"] + box["height"] < 800, text


def test_every_picture_says_what_is_seen(site):
    """Not the name of its file, nor that nothing is known of it."""
    pictures = [
        (page.name, dict(found))
        for page in site.rglob("*.html")
        for found in attributes(page.read_text(), "img")
        if ("class", "toggler") not in found  # what unfolds a part of the index: "-"
    ]
    assert len(pictures) > 60
    for page, given in pictures:
        text = given.get("alt") or ""
        assert len(text) > 10, (page, text)
        assert not re.search(r"\.(svg|png|jpe?g)$|No description|^Figure: $", text), (page, text)
    described = {given["alt"] for page, given in pictures if page == "rules.html"}
    assert any("4 banks of memory: W(0) asks for" in text for text in described)
    frames = [
        dict(found)
        for page in site.rglob("*.html")
        for found in attributes(page.read_text(), "iframe")
    ]
    assert frames
    assert all(re.search(r"\w{4}", frame.get("title") or "") for frame in frames)


def attributes(text, tag):
    """The attributes of each element of a page with this tag."""
    found = []

    class Elements(HTMLParser):
        def handle_starttag(self, name, given):
            found.append(given)

    text = re.sub(r"<(script|style)\b.*?</\1>|<!--.*?-->", "", text, flags=re.S)
    for one in re.findall(rf"""<{tag}\b(?:"[^"]*"|'[^']*'|[^"'>])*>""", text):
        Elements().feed(one)
    return found


def test_pictures_do_not_glare_in_the_dark(site, new_page):
    """Light cards, less light than a page of paper; on a light page they stay as they are."""
    page = new_page(color_scheme="light")
    for name in ("explanation/rules", "gallery", "ledger"):
        page.goto((site / f"{name}.html").as_uri())
        for theme, most in (("light", 255), ("dark", 210)):
            page.evaluate("theme => { document.body.dataset.theme = theme }", theme)
            picture = page.locator("article img, figure.curve svg").first
            shown = Image.open(io.BytesIO(picture.screenshot())).convert("L")
            lightest = shown.getextrema()[1]
            assert most - 15 <= lightest <= most, (name, theme)
    page = new_page(color_scheme="dark")  # as the system says
    page.goto((site / "gallery.html").as_uri())
    lighting = "one => getComputedStyle(one).filter"
    assert page.locator("article img").first.evaluate(lighting) == "brightness(0.8)"


SOME = [
    "index",
    "ledger",
    "proofs",
    "algorithms/product",
    "_modules/index",
    "notebooks/09-is-my-tile-free",
]
"""Pages of each kind; a long test looks at all of them, in the dark too."""


@pytest.mark.parametrize(
    ("scheme", "pages"),
    [
        ("light", SOME),
        pytest.param("light", None, marks=pytest.mark.long),
        pytest.param("dark", None, marks=pytest.mark.long),
    ],
    ids=["some", "light", "dark"],
)
def test_axe_finds_no_barrier(site, browser, scheme, pages):
    """On the pages themselves; the frames in them are the player's own pages."""
    script = axe.needed()
    files = sorted(site.rglob("*.html")) if pages is None else [site / f"{p}.html" for p in pages]
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")
    for file in files:
        page.goto(file.as_uri(), timeout=120_000)
        assert axe.violations(page, script) == [], file.name
    page.close()


def test_every_public_name_has_a_reference_entry(site):
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    documented = {
        name for kind, names in inventory.items() if kind.startswith("py:") for name in names
    }
    for module in PUBLIC:
        names = importlib.import_module(module.replace(".figures", ".view.figures")).__all__
        missing = [
            n
            for n in names
            if not {f"{module}.{n}", f"mmsim.{n}", f"mmsim.model.{n}", f"mmsim.api.{n.lower()}.{n}"}
            & documented
        ]
        assert missing == [], module
    layouts = {
        f"{value.__module__}.{value.__name__}"
        for name, value in vars(importlib.import_module("mmsim.model.layout")).items()
        if isinstance(value, type) and hasattr(value, "offsets") and not name.startswith("_")
    }
    assert len(layouts) == 14
    assert layouts <= documented


def test_every_command_and_option_is_in_the_reference(site):
    from mmsim.cli.commands import make_parser

    shown = text_of(site / "reference" / "commands.html")
    for parser in parsers(make_parser()):
        assert f"{parser.prog}¶" in shown
        for option in parser._option_string_actions:
            assert option in shown or option == "--help", (parser.prog, option)


def parsers(parser):
    """A parser's commands, and theirs."""
    for action in parser._subparsers._group_actions if parser._subparsers else ():
        for command in action.choices.values():
            yield command
            yield from parsers(command)


def test_the_ledger_shows_every_claim_with_formula_and_verdict(site, made, verdicts):
    page = (site / "ledger.html").read_text()
    assert all(said in page for said in (made.date, made.commit, made.version, made.claims))
    rows = {
        id_: row
        for row in re.findall(r"<tr\b.*?</tr>", page, re.S)
        for id_ in re.findall(r'<strong id="([^"]+)"', row)
    }
    assert set(rows) == {claim.id for claim in registered()}
    found = {verdict.id: verdict for verdict in verdicts}
    for id_, row in rows.items():
        assert "<math" in row, id_
        if id_ in found:
            assert f">{found[id_].outcome}<" in row
            assert re.search(rf"\b{found[id_].cases} cases?\b", row)
        else:
            assert "not verified in this build" in row
            assert ">holds<" not in row
    assert {found[id_].result for id_ in VERIFIED} == {"holds", "refuted"}
    assert ">bound, slack 1.03<" in rows["SMM-L7.1.O"]
    assert page.count('<figure class="curve"><svg') == 1


def test_the_gallery_shows_every_figure_and_the_list_of_all(site):
    from mmsim.claims.printed import registered_contents, registered_drawings

    page = (site / "gallery.html").read_text()
    for drawing in registered_drawings():
        assert (site / "_images" / f"{drawing.id}.svg").exists()
        assert f'src="_images/{drawing.id}.svg"' in page
        assert f"mmsim reproduce {drawing.id}" in text_of(site / "gallery.html")
    assert "<path" in (site / "_images" / f"{FIGURE}.svg").read_text()
    rows = {row.partition("<")[0] for row in re.findall(r"<tr[^>]*><td><p>(.*?)</tr>", page, re.S)}
    assert {item.id for item in registered_contents()} <= rows
    assert "<!-- " not in page.partition("<article")[2]


def test_the_pages_of_algorithms_show_their_pictures(site):
    from mmsim_algorithms.drawings.sections import EVERY_PICTURE

    for picture in EVERY_PICTURE:
        page = (site / "algorithms" / f"{picture.page}.html").read_text()
        assert (site / "_images" / f"{picture.name}.svg").exists()
        assert f'src="../_images/{picture.name}.svg"' in page
        assert f'alt="{picture.alt}"' in html.unescape(page)
        assert picture.caption in text_of(site / "algorithms" / f"{picture.page}.html")
        assert "<!-- picture" not in page
    assert "<path" in (site / "_images" / f"{DRAWN}.svg").read_text()


def test_pictures_that_are_not_as_claims_and_papers_say_are_warnings(
    extension, monkeypatch, tmp_path
):
    from mmsim.claims import ClaimError, Drawing
    from mmsim_algorithms.drawings.measured import Picture

    def draw(picture=None):
        raise ClaimError("n=8 took 5")

    pictures, figures, warned = extension("family_pages"), extension("gallery_page"), []
    for module in (pictures, figures):
        monkeypatch.setattr(
            module.logger, "warning", lambda *words: warned.append(words[0] % words[1:])
        )
    monkeypatch.setattr(Picture, "draw", draw)
    monkeypatch.setattr(
        figures, "registered_drawings", lambda: [Drawing("X-F1", "X, Figure 1", "t", draw)]
    )
    assert pictures.entry(Picture("sum", (), "", ""), tmp_path) == ""
    assert list(figures.gallery(tmp_path)) == ["## X"]
    assert warned == [
        "the picture of sum is not as its claims say: n=8 took 5",
        "X-F1 is not as in the paper: n=8 took 5",
    ]
    assert not list(tmp_path.iterdir())


def test_a_picture_that_is_not_drawn_anew_is_empty_or_that_of_before(extension, tmp_path):
    from mmsim_algorithms.drawings.measured import Picture

    entry, picture = extension("family_pages").entry, Picture("sum", (), "A sum", "its picture")
    assert entry(picture, tmp_path, drawn=False) == "![its picture](pictures/sum.svg)\n\nA sum"
    assert "<path" not in (tmp_path / "sum.svg").read_text()
    (tmp_path / "sum.svg").write_text("before")
    entry(picture, tmp_path, drawn=False)
    assert (tmp_path / "sum.svg").read_text() == "before"
    figures = extension("gallery_page")
    assert "![" in "".join(figures.gallery(tmp_path, [FIGURE]))
    assert [one.stem for one in tmp_path.glob("*-F*") if "<path" in one.read_text()] == [FIGURE]


def test_words_of_a_caption_are_no_markdown(extension):
    module = extension("gallery_page")
    assert module.plain("r[*] <a> | b_i") == r"r\[\*\] \<a> \| b\_i"
    assert module.code("mmsim a; mmsim b") == "`mmsim a`; `mmsim b`"


def test_a_claim_that_fails_is_shown_to_fail(made, verdicts, extension):
    from dataclasses import replace

    failed = [replace(verdicts[0], result="fails", reason="n=1: 5")]
    page = extension("ledger_page").page(made, failed)
    (row,) = (line for line in page.splitlines() if f'id="{VERIFIED[0]}"' in line)
    assert "[fails]{.verdict .fails}" in row
    assert "n=1: 5" in row
    assert f"wrong: {VERIFIED[0]}" in page


DEEP = ("[" * 100_000, '{"format": ' * 100_000)
ODD = '{"format": "mmsim verdicts 3", "verdicts": [{"curve": 3}]}'


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": "another"}', '{"verdicts": [{}]}', ODD, *DEEP]
)
def test_what_is_no_verdicts_is_refused(text):
    with pytest.raises(FormatError, match="not verdicts"):
        from_json(text)


@pytest.mark.parametrize("text", [ODD, '{"made": {"date": "today"}}', '{"made": 3}', *DEEP])
def test_verdicts_that_do_not_say_what_they_were_made_of_are_refused(text):
    with pytest.raises(FormatError, match="lack their provenance"):
        provenance_from_json(text)


def test_the_pages_show_what_their_cells_gave(site):
    assert "1024 threads in blocks of 1024, synchronous: 1064 time units" in text_of(
        site / "tutorial" / "first-program.html"
    )
    assert "holds in 27 cases" in text_of(site / "tutorial" / "formula.html")
    assert list((site / "_images").glob("*.svg"))
    for name in ("tutorial/stepping.html", "explanation/rules.html"):
        assert any("mmsim" in frame for frame in loads((site / name).read_text()).frames), name


def test_every_page_and_notebook_is_on_the_site(site):
    pages = [path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")]
    notebooks = [
        Path("notebooks", path.stem + ".html") for path in ROOT.glob("notebooks/[0-9]*.ipynb")
    ]
    assert len(pages) > 30
    assert all((site / path).exists() for path in [*pages, *notebooks])


@pytest.fixture
def extension(monkeypatch):
    """Import a module of the site's extensions."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module


def test_formulas_become_mathml_or_a_warning(extension):
    module = extension("mathml")
    assert doctest.testmod(module).failed == 0
    assert "<msqrt>" in module.mathml(r"\sqrt{n}", "block")
    with pytest.raises(ValueError, match="no MathML"):
        module.mathml(r"\frac{n}{", "inline")


def test_a_cell_that_raises_fails_the_build(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    shutil.copy(DOCS / "conf.py", docs)
    for folder in ("_ext", "_static"):
        shutil.copytree(DOCS / folder, docs / folder)
    (docs / "index.md").write_text(
        "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# A page\n\n"
        "```{code-cell} python\nassert 1 + 1 == 3, 'wrong sum'\n```\n"
    )
    made = sphinx(docs, tmp_path / "html", tmp_path)
    assert made.returncode != 0
    assert "wrong sum" in made.stderr


def test_answers_can_be_left_out_of_the_notebooks(extension):
    new = nbformat.v4
    outputs = [new.new_output("stream", text="7")]
    tags = (["hide-output"], ["exercise"], [], [])
    cells = [
        new.new_code_cell(str(number), metadata={"tags": one, "name": "1"}, outputs=outputs)
        for number, one in enumerate(tags)
    ]

    class App:
        class config:
            notebook_answers = False

    whole = nbformat.writes(new.new_notebook(cells=cells))
    source = [whole]
    extension("notebooks_page").leave_out_answers(App, "notebooks/01", source)
    made = [(cell["source"], len(cell["outputs"])) for cell in json.loads(source[0])["cells"]]
    assert made == [(["0"], 0), (["1"], 1), (["3"], 1)]  # without the check of the exercise
    App.config.notebook_answers = True
    source = [whole]
    extension("notebooks_page").leave_out_answers(App, "notebooks/01", source)
    assert source == [whole]


def test_a_cell_of_a_notebook_says_what_its_pictures_show(extension):
    cells = [{"metadata": {"alt": "Two graphs"}}, {"metadata": {}}]
    source = [json.dumps({"cells": cells})]
    extension("notebooks_page").name_pictures(None, "notebooks/01", source)
    named, plain = json.loads(source[0])["cells"]
    assert named["metadata"]["mystnb"] == {"image": {"alt": "Two graphs"}}
    assert plain["metadata"] == {}
    page = ["# A page"]
    extension("notebooks_page").name_pictures(None, "index", page)
    assert page == ["# A page"]


def test_lists_and_captions_can_be_read_aloud(extension):
    assert doctest.testmod(extension("accessible")).failed == 0
    assert doctest.testmod(extension("alt_texts")).failed == 0
