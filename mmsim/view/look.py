"""The look of pages, as CSS: the variables that all of them share, and the rules of those of text.

A variable is named as in `mmsim.view.palette`: `--ink` and so on, `--sans` and `--mono`, `--text`
and `--dense`.
"""

from __future__ import annotations

from importlib import resources

from mmsim.view.palette import DARK, DENSE, LIGHT, MONO, SANS, TEXT

PREFERRED = "@media (prefers-color-scheme: dark)"


def page_style(*, dark: bool = True) -> str:
    """The style of a page of text, for a style element. Without `dark` it is always light."""
    rules = f"{PREFERRED} {{ :root {{ {_listed(DARK)} }} }}\n" if dark else ""
    scheme = "light dark" if dark else "light"
    own = resources.files("mmsim.view").joinpath("look.css").read_text(encoding="utf-8")
    return f":root {{ color-scheme: {scheme}; {_listed(_constant() | LIGHT)} }}\n{rules}{own}"


def host_style() -> str:
    """The variables of a shadow root. Its host's `data-theme` overrides what a reader prefers."""
    dark = f"color-scheme: dark; {_listed(DARK)}"
    return (
        f":host {{ color-scheme: light; {_listed(_constant() | LIGHT)} }}\n"
        f'{PREFERRED} {{ :host(:not([data-theme="light"])) {{ {dark} }} }}\n'
        f':host([data-theme="dark"]) {{ {dark} }}\n'
    )


def site_variables(colours: dict[str, str]) -> dict[str, str]:
    """The variables of the documentation's theme, Furo, and all of our own, by their names."""
    return {
        **_constant(),
        **colours,
        "font-stack": SANS,
        "font-stack--monospace": MONO,
        "color-background-primary": colours["paper"],
        "color-background-secondary": colours["panel"],
        "color-background-border": colours["line"],
        "color-foreground-primary": colours["ink"],
        "color-foreground-secondary": colours["faint"],
        "color-brand-primary": colours["accent"],
        "color-brand-content": colours["accent"],
    }


def _constant() -> dict[str, str]:
    """The variables that are the same in the dark."""
    return {"sans": SANS, "mono": MONO, "text": TEXT, "dense": DENSE}


def _listed(variables: dict[str, str]) -> str:
    """Variables as CSS sets them.

    >>> _listed({"ink": "#000", "paper": "#fff"})
    '--ink: #000; --paper: #fff;'
    """
    return " ".join(f"--{name}: {value};" for name, value in variables.items())
