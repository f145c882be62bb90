"""The kit that the tests share: oracles, generators, cards, runs, views, and tools (commands).

python -m tests.kit.tools.golden      # a tool, from the root of the repository
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The root of the repository."""
