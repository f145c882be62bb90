"""The colours of warps: apart for every eye and in grey print, read on, and the same everywhere."""

import itertools
import json
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

import mmsim as mm
from mmsim.cuda.report import Report
from mmsim.reports.verdicts import verdicts_page
from mmsim.view.look import host_style, page_style, site_variables
from mmsim.view.palette import DARK, LIGHT, WARPS, ink, luminance
from tests.kit import ROOT

# What an eye without one kind of cones makes of linear RGB: Machado, Oliveira and Fernandes, A
# Physiologically-based Model for Simulation of Color Vision Deficiency (2009), severity 1.
EYES = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}

XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(light):
    """CIE L*a*b* of linear RGB."""
    parts = XYZ @ np.clip(light, 0, 1) / WHITE
    x, y, z = np.where(parts > 0.008856, np.cbrt(parts), 7.787 * parts + 16 / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(first, second):
    """The difference of two colours by CIEDE2000: 1 is just noticed side by side."""
    (L1, a1, b1), (L2, a2, b2) = first, second
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25.0**7))
    a1, a2 = a1 * stretch, a2 * stretch
    C1, C2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    dH = 2 * np.sqrt(C1 * C2) * np.sin(np.radians(turn / 2))
    L, C, h = (L1 + L2) / 2, (C1 + C2) / 2, (h1 + turn / 2) % 360
    T = 1 - sum(
        weight * np.cos(np.radians(times * h + shift))
        for weight, times, shift in ((0.17, 1, -30), (-0.24, 2, 0), (-0.32, 3, 6), (0.2, 4, -63))
    )
    SL = 1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2)
    SC, SH = 1 + 0.045 * C, 1 + 0.015 * C * T
    around = 60 * np.exp(-(((h - 275) / 25) ** 2))
    RT = -2 * np.sqrt(C**7 / (C**7 + 25.0**7)) * np.sin(np.radians(around))
    parts = (L2 - L1) / SL, (C2 - C1) / SC, dH / SH
    return np.sqrt(sum(part**2 for part in parts) + RT * parts[1] * parts[2])


def seen(colour, eye):
    rgb = np.array(to_rgb(colour))
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return lab(np.array(EYES[eye]) @ light)


def test_the_measure_is_that_of_its_authors():
    """Two pairs of the test data of Sharma, Wu and Dalal (2005)."""
    assert ciede2000((50, 2.6772, -79.7751), (50, 0, -82.7485)) == pytest.approx(2.0425, abs=1e-4)
    assert ciede2000((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447)) == pytest.approx(
        1.4441, abs=1e-4
    )


@pytest.mark.parametrize("eye", EYES)
def test_no_two_warps_look_the_same(eye):
    """More than seven colours, and every pair at a distance that is seen at a glance."""
    assert len(set(WARPS)) == len(WARPS) > 7
    least = 20 if eye == "all cones" else 13
    for first, second in itertools.combinations(WARPS, 2):
        assert ciede2000(seen(first, eye), seen(second, eye)) > least, (first, second)


def test_warps_differ_in_grey_print():
    """In lightness, which is all that grey print leaves; neighbours most."""
    lightness = [seen(colour, "all cones")[0] for colour in WARPS]
    assert min(abs(a - b) for a, b in itertools.combinations(lightness, 2)) > 5
    assert min(abs(a - b) for a, b in itertools.pairwise(lightness)) > 10
    assert max(lightness) < 90, "white paper is 100"


def test_the_ink_is_read_on_every_colour():
    for colour in WARPS:
        light = sorted([luminance(colour), luminance(to_hex(ink(colour)))])
        assert (light[1] + 0.05) / (light[0] + 0.05) >= 4.5, "WCAG 2.1, 1.4.3"


def test_figures_and_player_share_the_colours():
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.DMM(2, 2).run(read, np.arange(24), threads=24, trace=True)
    bars = mm.figures.pipeline(run).patches
    assert {to_hex(bar.get_facecolor()) for bar in bars} == set(WARPS)
    page = run.player().html()
    assert json.loads(re.search(r"const COLOURS = (\[.*?\]);", page)[1]) == list(WARPS)
    for number, colour in enumerate(WARPS):
        assert f".w{number} {{ background: {colour}; color: {ink(colour)} }}" in page


STYLED = [
    *("mmsim/view/look.css", "mmsim/view/player/player.css", "mmsim/view/player/lecture.css"),
    *("mmsim/cuda/report.html", "mmsim/reports/verdicts.html", "docs/_static/site.css"),
    *("notebooks/course/templates/course.css", "notebooks/course/index.py"),
]
"""The files with the rules of all pages."""


@pytest.mark.parametrize("name", STYLED)
def test_colours_and_fonts_of_pages_come_from_one_place(name):
    """But for black on white paper, and what stands on a colour."""
    text = (ROOT / name).read_text("utf-8").partition("@media print")[0]
    assert re.findall(r"#[0-9a-f]{3,8}\b(?=[ ;,}])", text) in ([], ["#000", "#999"])
    assert not re.search("system-ui|monospace|Canvas", text)


def test_all_pages_have_the_same_look():
    own = [f"--{name}: {colour};" for name, colour in LIGHT.items()]
    for page in (Report().to_html(), verdicts_page([]), page_style(), host_style()):
        assert all(variable in page for variable in own)
        assert f"--paper: {DARK['paper']};" in page
        assert "{{" not in page
    assert DARK["paper"] not in page_style(dark=False)
    assert LIGHT.keys() == DARK.keys()
    assert LIGHT.items() <= site_variables(LIGHT).items()


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_is_read_on_its_page(colours):
    for behind in ("paper", "panel"):
        for name in ("ink", "faint", "accent", "good", "known", "bad"):
            light = sorted([luminance(colours[behind]), luminance(colours[name])])
            assert (light[1] + 0.05) / (light[0] + 0.05) >= 4.5, (name, behind)
