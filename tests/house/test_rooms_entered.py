"""Binding goes down, results come up: no room is entered twice for what isn't its own.

A run is walked as it happens. Counted are the calls that hand on the program or its launch, as an
argument or as the object of a method: these are the calls that bind and that run. A room (a folder
of `mmsim`) is entered by such a call from another room. Further calls from the same stay of that
other room are the same entry: engine and meaning talk with each other at each access. So the
entries of a room are the ways, from room to room, on which the program reaches it.

One way is for binding, one for running. A third means that a room keeps what isn't its own.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from test_house import FLOOR

import mmsim as mm
from mmsim.frontend.program import Program
from mmsim.meaning.launch import Launch

SOURCE = Path(mm.__file__).parent


def room_of(frame):
    """The room of a frame's code; None outside of mmsim and in its single files."""
    file = Path(frame.f_code.co_filename)
    if not file.is_relative_to(SOURCE):
        return None
    parts = file.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else None


class Walk:
    """The ways on which programs and launches reach rooms; those whose last step goes up."""

    def __init__(self):
        self.way_of = {}
        self.ways = []
        self.climbs = []

    def note(self, frame, event, _):
        room = room_of(frame)
        if event != "call" or room is None:
            return
        caller = frame.f_back
        while caller is not None and caller not in self.way_of:
            caller = caller.f_back
        before = self.way_of.get(caller, ())
        if not before and room != "api":
            return  # the check of the call's keywords, by the decorator of `Machine.run`
        way = self.way_of[frame] = before if before[-1:] == (room,) else (*before, room)
        if any(isinstance(one, Program | Launch) for one in frame.f_locals.values()):
            if way not in self.ways:
                self.ways.append(way)
            if before and FLOOR[room] > FLOOR[before[-1]]:
                self.climbs.append(way)

    def entries(self):
        """The number of times that each room is entered."""
        return Counter(way[-1] for way in self.ways)


def walked(call):
    walk = Walk()
    sys.setprofile(walk.note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return walk


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("engine", ["array", "events"])
def test_no_room_is_entered_more_than_twice(engine, schedule):
    @mm.program
    def copy(T, a, b):
        b[T.id] = a[T.id]

    machine = mm.DMM(width=4, latency=3)

    def run():
        arrays = np.arange(8), np.zeros(8, int)
        how = {"schedule": schedule, "engine": engine, "trace": False}
        time = {"synchronous": 8, "asynchronous": 7}[schedule]
        assert machine.run(copy, *arrays, threads=8, **how).time == time

    first, again = walked(run), walked(run)
    for walk in (first, again):
        assert walk.climbs == []
        assert {"api", "meaning", "engines"} <= walk.entries().keys()
        assert max(walk.entries().values()) <= 2, walk.ways


def test_a_room_that_keeps_what_is_another_s_is_seen(monkeypatch):
    """As when programs had the results that binding derives from them."""
    names = {}
    file = str(SOURCE / "frontend" / "kept.py")
    exec(compile("def kept(program, make): return make()", file, "exec"), names)
    monkeypatch.setattr(Launch, "once", lambda launch, _, make: names["kept"](launch.program, make))
    program = mm.program(lone)
    walk = walked(lambda: mm.DMM(4, 3).run(program, np.zeros(4), threads=4))
    assert {way[-1] for way in walk.climbs} == {"meaning"}
    assert walk.entries()["meaning"] > 2


def lone(T, a):
    a[T.id]
