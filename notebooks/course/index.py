"""The pages that list what a course is made of: one for students, one for their teacher."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from course.reading import read, title
from mmsim.view.look import page_style

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
body {{ max-width: 60rem; margin: 0 auto; padding: 1rem }}
h1 {{ color: var(--accent) }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{introduction}
<table>
<thead><tr><th scope="col">Class</th>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</main>
</body>
</html>
"""


def index(
    heading: str, introduction: str, notebooks: Sequence[Path], columns: dict[str, dict[str, str]]
) -> str:
    """A table with a row for each notebook; a column has links, `{name}` in them its name."""
    rows = []
    for number, path in enumerate(notebooks, 1):
        cells = [f'<th scope="row">{number}. {html.escape(title(read(path)))}</th>']
        for links in columns.values():
            shown = (
                f'<a href="{address.format(name=path.stem)}">{text}</a>'
                for text, address in links.items()
            )
            cells.append(f"<td>{', '.join(shown)}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    return PAGE.format(
        style=page_style(),
        title=heading,
        introduction=introduction,
        head=head,
        rows="\n".join(rows),
    )
