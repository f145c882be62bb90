"""The laboratory: campaigns of this project on its own cards, and the pages about them.

Nothing here is in the wheel. Commands run from the root of a checkout:

- `python -m benchmarks.laboratory.page docs` makes the pages from the kept results (`make metal`).
- `predict_again` predicts kept results again, by today's rules.
- `counted_launches`, `unmodelled` and `tiles` count or time launches on a card.

Prose of the pages stands in `templates`, in Markdown; Python computes tables and numbers.
"""
