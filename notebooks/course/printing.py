"""Pages printed as PDF, by Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path


def print_pages(pages: Sequence[Path]) -> bool:
    """Print each page to a PDF of its name; False where there is no Chromium or no Playwright."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return False
    if chromium is None:
        return False
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page()
        for number, page in enumerate(pages, 1):
            print(f"worksheet {number} of {len(pages)}: {page.stem}", flush=True)
            shown.goto(page.resolve().as_uri())
            shown.pdf(
                path=page.with_suffix(".pdf"), prefer_css_page_size=True, tagged=True, outline=True
            )
        browser.close()
    return True
