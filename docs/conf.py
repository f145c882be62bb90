"""How Sphinx makes the site of these pages. Nothing is fetched, neither then nor by a reader."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import mmsim
from mmsim.host.checkout import repository
from mmsim.view.look import site_variables
from mmsim.view.palette import DARK, LIGHT

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

project = "mmsim"
author = "The mmsim authors"
copyright = author  # Sphinx's name for it
version = release = mmsim.__version__

# Sphinx makes many objects that stay: the collector of garbage would look at them time and again.
gc.set_threshold(50_000)

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "accessible",
    "alt_texts",
    "mathml",
    "navigation",
    "elsewhere",
    "commands_page",
    "ledger_page",
    "notebooks_page",
    "gallery_page",
    "family_pages",
    "laboratories",
]
exclude_patterns = ["_ext"]
# Names in single backticks: a link where the reference has the name, else just code.
default_role = "py:obj"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

html_theme = "furo"
html_title = "mmsim"
html_theme_options = {
    "light_css_variables": {**site_variables(LIGHT), "figure-light": "none"},
    "dark_css_variables": {**site_variables(DARK), "figure-light": "brightness(.8)"},
}
if repository():  # at the foot of each page
    link = {"name": "Repository", "url": repository(), "html": "Repository", "class": ""}
    html_theme_options["footer_icons"] = [link]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["player.js", "site.js"]
html_show_copyright = False
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Pages of docs/ with code cells run when the site is made; a cell that raises is a warning. The
# notebooks show the outputs that they were saved with.
nb_execution_mode = "force"
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_timeout = 120
nb_execution_show_tb = True
# A figure comes as SVG and as HTML that holds the same SVG; on the site the first is a file.
nb_mime_priority_overrides = [("html", "image/svg+xml", 25)]  # text/html has 30
nb_ipywidgets_js = {}  # it would come from elsewhere; the player needs none

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False

# The ledger's verdicts: what `mmsim verify --json` saved, as `make ledger` keeps it.
ledger_verdicts = os.environ.get("MMSIM_VERDICTS", str(ROOT / "docs" / "verdicts.json"))

# The algorithms and the figures of papers that are drawn anew: all, or those that the environment
# names.
pictures_drawn = os.environ.get("MMSIM_PICTURES", "").split()

# Whether the notebooks show what their readers are to predict, folded, and the checks of their
# exercises. The course's site shows neither.
notebook_answers = True

# The kernel that the code cells run in prints nothing but the links to laboratories.
ipython = Path(tempfile.mkdtemp())
(ipython / "profile_default").mkdir()
(ipython / "profile_default" / "ipython_kernel_config.py").write_text(
    "get_config().IPKernelApp.log_level = 40\n"
    "get_config().InteractiveShellApp.extensions = ['observed_runs']\n"
    f"import sys; sys.path.append({str(HERE / '_ext')!r})\n"
)
os.environ["IPYTHONDIR"] = str(ipython)
atexit.register(shutil.rmtree, ipython, ignore_errors=True)
