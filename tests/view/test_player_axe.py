"""The player has no barrier that axe-core finds: light and dark, in lecture mode, two runs."""

import pytest
from test_player_lecture import PLAYERS

from tests.kit.views import axe


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("make", PLAYERS.values(), ids=PLAYERS)
def test_axe_finds_no_barrier(show, make, scheme):
    script = axe.needed()
    viewport = {"width": 1280, "height": 720}
    shown = show(make(), color_scheme=scheme, reduced_motion="reduce", viewport=viewport)
    shown.evaluate("mmsim.go(20)")
    assert axe.violations(shown, script) == []
    shown.keyboard.press("l")
    assert shown.locator(".lecture").count()
    assert axe.violations(shown, script) == []
