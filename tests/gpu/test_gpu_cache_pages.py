"""The pages that a multiprocessor knows, from made-up times of reads."""

from dataclasses import replace

import pytest

from benchmarks.laboratory.cache import section as cache
from benchmarks.laboratory.cached_machine import section as cached
from mmsim_algorithms.gpu.cache_calibrated import cached_numbers
from mmsim_algorithms.gpu.cache_pages import Pages, found
from mmsim_algorithms.gpu.cache_points import REGIONS
from mmsim_algorithms.gpu.kept import Results

KEPT = Results.read()
NUMBERS = ("page", "pages", "page_time")
LEFT_OUT = ("pages", "shares")


def rows(page, pages, ps=22.5):
    """Rows of a card whose pages have so many MiB: each request pays for all, if not all fit."""
    for spacing in (64, 32, 16, 8, 4, 2, 1):
        for regions in REGIONS:
            touched = -(-regions * min(spacing, page) // page)
            time = 6.25 if touched <= pages else max(6.25, ps * touched / 32)
            yield {"number": "pages", "spacing MiB": spacing, "pages": regions, "ps": time}


def without(record):
    """The record without the points of pages and the shares."""
    return replace(record, rows=tuple(r for r in record.rows if r["number"] not in LEFT_OUT))


def with_rows(*more):
    """The kept results with these rows of pages in the record of the cache."""
    record = without(KEPT["cache"])
    record = replace(record, rows=(*record.rows, *more))
    return Results({**KEPT.records, "cache": record})


@pytest.mark.parametrize("page", [2, 16, 64])
@pytest.mark.parametrize("pages", [12, 16, 17, 28])
def test_a_card_s_pages_are_found(page, pages):
    assert found(rows(page, pages)) == Pages(page * 2**20, pages, 22.5)


def test_between_two_points_the_fewer_regions_are_known():
    assert found(rows(16, 22)).pages == 20
    assert found(rows(16, 22)).page == 16 * 2**20


def test_reads_that_take_little_longer_are_quick():
    """17 pages cost 1.45 times as much, 18 more than 1.5 times."""
    assert found(rows(16, 16, ps=6.25 * 1.45 * 32 / 17)).pages == 17
    assert found(rows(16, 16, ps=6.25 * 1.51 * 32 / 17)).pages == 16


def test_pages_that_nothing_shows_are_left_out():
    assert found([{"number": "read hits", "ps": 7}]) is None
    assert found(rows(16, 32)) is None
    for results in (with_rows(), with_rows(*rows(16, 32))):
        assert not set(NUMBERS) & set(cached_numbers(results["cache"], KEPT.card))
        text = cached(results)
        assert "| page_time |" not in text


def test_the_machine_s_numbers_have_what_is_found():
    results = with_rows(*rows(16, 16))
    numbers = cached_numbers(results["cache"], KEPT.card)
    assert [numbers[name] for name in NUMBERS] == [16 * 2**20, 16, 225]
    text = cached(results)
    assert "| page_time | 22.5 |" in text
    assert "| page | 16777216 |" in text


def test_the_page_has_a_table_of_the_regions_only_if_they_are_measured():
    before = cache(with_rows())
    assert "the lanes of a warp read in turn" not in " ".join(before.split())
    text = cache(with_rows(*rows(16, 16)))
    assert "the lanes of a warp read in turn" in " ".join(text.split())
    assert "| regions | 1 | 2 | 4 | 8 | 16 | 32 | 64 |" in text
    assert "| 16 | 6.25 | 6.25 | 6.25 | 6.25 | 6.25 | 6.25 | 6.25 |" in text
    assert "| 32 | 6.25 | 6.25 | 6.25 | 6.25 | 22.5 | 22.5 | 22.5 |" in text
    assert "| pages |" not in text
