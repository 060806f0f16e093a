"""How Sphinx builds the site: sphinx-build -W -n docs docs/_build, with the extra `docs`."""

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.docstrings import to_rst  # noqa: E402
from tools.pages import write_pages  # noqa: E402
from tools.pictures import draw_pictures  # noqa: E402

project = "spacy-parsetag"
copyright = "spacy-parsetag's contributors, MIT licence"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
html_theme = "furo"
html_title = "spacy-parsetag"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False

myst_enable_extensions = ["attrs_inline"]
smartquotes = False  # `--skip-bad` and quotes in what commands say of themselves are typed as they stand
myst_heading_anchors = 3
# Snippets show what a shell, a grammar or a terminal has; not all of it is of a language that Pygments knows.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have them
autodoc_default_options = {"members": True, "show-inheritance": False}
nitpick_ignore_regex = [("py:.*", ".*")]  # types in docstrings are words, not links

nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove"  # what tqdm says of notebooks


def is_field(*args: object) -> bool | None:
    """Leave out the fields of a named tuple, of which Python knows numbers, and the class says what they are."""
    return True if type(args[3]).__name__ == "_tuplegetter" else None


def set_dashes(app: Sphinx, doctree: nodes.document) -> None:
    """Set the dashes that autodoc writes between a parameter and its meaning."""
    for text in [text for text in doctree.findall(nodes.Text) if text == " -- "]:
        text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> None:
    docs = Path(app.srcdir)
    write_pages(docs / "reference")
    draw_pictures(docs / "pictures")
    app.connect("autodoc-skip-member", is_field)
    app.connect("doctree-read", set_dashes)
    app.connect("autodoc-process-docstring", lambda *args: args[-1].__setitem__(slice(None), to_rst(args[-1])))
