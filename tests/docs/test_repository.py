"""The address of the repository: the site and the player take it from pyproject.toml, or name none.

It is built into the package's metadata, of a copy of pyproject.toml that names an address or not.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.host.checkout import DISTRIBUTION, repository
from mmsim.view.page import ORIGIN

ROOT = Path(__file__).parents[2]
ADDRESS = "https://example.org/made-up/repository"
URLS = f'\n[project.urls]\nHomepage = "https://example.org"\nRepository = "{ADDRESS}"\n'
BUILD = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel('.')"


def project():
    """The package's entry in pyproject.toml, without its parts and without addresses."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.")[0]
    text = re.sub(r"^\[project\.urls\]\n(?:(?!\[).*\n)*", "", text, flags=re.M)
    return text + "\n[tool.setuptools]\npackages = []\n"


@pytest.fixture(scope="module", params=[URLS, ""], ids=["an address", "no address"])
def installed(request, tmp_path_factory):
    """A folder with the metadata, and the address that they name."""
    if find_spec("setuptools") is None:  # which isn't imported here: it replaces distutils
        pytest.skip("setuptools isn't installed")
    folder = tmp_path_factory.mktemp("installed")
    (folder / "pyproject.toml").write_text(project() + request.param, encoding="utf-8")
    for name in ("README.md", "LICENSE"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run([sys.executable, "-c", BUILD], cwd=folder, capture_output=True, check=True)
    return folder, ADDRESS if request.param else ""


@pytest.fixture
def address(installed, monkeypatch):
    folder, address = installed
    monkeypatch.syspath_prepend(folder)
    return address


@mm.program
def copied(T, a, b):
    b[T.id] = a[T.id]


def traced():
    a = np.arange(4)
    return mm.DMM(4, 2).run(copied, a, a.copy(), threads=4, trace=True)


def test_it_is_that_of_pyproject(address):
    assert repository() == address


def test_without_an_installed_package_there_is_none(monkeypatch):
    monkeypatch.setattr("mmsim.host.checkout.DISTRIBUTION", f"no-{DISTRIBUTION}")
    assert repository() == ""


@pytest.mark.parametrize("compared", [False, True], ids=["one run", "two runs"])
def test_a_player_links_to_it(address, show, compared):
    player = mm.compare(traced(), traced()) if compared else traced().trace.player()
    origin = show(player).locator("#origin")
    assert origin.inner_text() == f"{ORIGIN} {address}".strip()
    links = origin.locator("a")
    assert [link.get_attribute("href") for link in links.all()] == [address] * bool(address)


def test_a_player_s_link_opens_from_a_notebook(address, browser, tmp_path):
    """Its frame may open nothing where there is no link."""
    frame = traced().trace.player()._repr_html_()
    assert ("allow-popups" in frame) == bool(address)
    if address:
        page = browser.new_page()
        page.context.route("https://example.org/**", lambda route: route.fulfill(body="there"))
        (tmp_path / "notebook.html").write_text(frame, encoding="utf-8")
        page.goto((tmp_path / "notebook.html").as_uri())
        with page.expect_popup() as opened:
            page.frame_locator("iframe").locator("#origin a").click()
        assert opened.value.url == address
        page.close()


def test_each_page_of_the_site_links_to_it(installed, tmp_path):
    """The site's settings, of a site of one page without what takes long."""
    pytest.importorskip("furo", reason="the site's tools aren't installed")
    folder, address = installed
    settings = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert "__file__" in settings
    settings = settings.replace("__file__", repr(str(ROOT / "docs" / "conf.py")))
    (tmp_path / "conf.py").write_text(
        f"{settings}\nextensions = ['mathml']\nhtml_static_path = []\n"
    )
    (tmp_path / "index.rst").write_text("One page\n========\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "site")],
        cwd=tmp_path,  # the root of a repository may have metadata of its own
        env={**os.environ, "PYTHONPATH": path},
        check=True,
    )
    foot = (tmp_path / "site" / "index.html").read_text(encoding="utf-8").partition("<footer")[2]
    assert re.findall(r'<a [^>]*href="([^"]+)"[^>]*>Repository</a>', foot) == (
        [address] if address else []
    )
    assert ("Repository" in foot) == bool(address)


def test_the_guide_for_contributors_says_where_it_stands():
    said = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    assert "in `pyproject.toml`, as `Repository` under `[project.urls]`" in said
