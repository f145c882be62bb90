"""Links out of docs/: they are right where the repository is read, and the site has no such page.

The notebooks are copied next to the pages, so from them `../docs/` is a link within the site.
Of modules whose source Sphinx doesn't have, as `builtins`, its list of sources has no link either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class Elsewhere(SphinxPostTransform):
    """Links into the site stay links; what else lies in the repository becomes its bare name."""

    default_priority = 5  # before MyST looks, and complains

    def run(self, **options: Any) -> None:
        for node in list(self.document.findall(pending_xref)):
            if node["reftype"] == "myst" and node.get("refdomain") is None:
                found = self.found(node)
                if found is not None:
                    node.replace_self(found)

    def found(self, node: pending_xref) -> nodes.Node | None:
        """What stands for a link, or None if it leads to no file of the repository."""
        docs = Path(self.app.srcdir)
        document: str = node.get("refdoc", self.env.docname)
        folder = (docs / document).parent
        if folder == docs / "notebooks":
            folder = docs.parent / "notebooks"
        path, _, anchor = str(node["reftarget"]).partition("#")
        target = (folder / path).resolve()
        unwritten = target.suffix == ".ipynb"  # the notebooks name those to come
        if not path or not (target.exists() or unwritten):
            return None
        other = self.env.path2doc(target) if target.is_relative_to(docs) else None
        if other not in self.env.all_docs:
            return nodes.inline("", "", *node.children)
        link = self.app.builder.get_relative_uri(document, other) + (f"#{anchor}" if anchor else "")
        return nodes.reference("", "", *node.children, internal=True, refuri=link)


def forget_modules_without_source(app: Sphinx) -> list[Any]:
    """Before the list is made: viewcode would list them without making their pages."""
    modules: dict[str, Any] = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(Elsewhere)
    app.connect("html-collect-pages", forget_modules_without_source, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
