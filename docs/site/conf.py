"""The documentation site: pages of the tree as they are, what the program and its headers say, one theme."""

import os
import sys
from pathlib import Path

site = Path(__file__).resolve().parent
tree = site.parents[1]
sys.path[:0] = [str(site), str(tree / "python")]

project = "Trigram"
author = copyright = "the Trigram maintainers"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.graphviz", "expansions", "docstrings"]

# The source folder is the whole tree, so that pages and their links stand where they are read without a site too.
root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "*/README.md", "kernels/cuda/README.md", "experiments/*/README.md", "experiments/studies/*.md"]
exclude_patterns = ["build", "build-*", "results", "README.md", "DECISIONS.md", "docs/site"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header", "toc.not_readable"]
graphviz_output_format = "svg"

html_theme = "furo"
html_title = "Trigram"
html_static_path = ["static"]
html_css_files = ["trigram.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

breathe_projects = {"trigram": os.environ.get("TRIGRAM_DOXYGEN", "")}
breathe_default_project = "trigram"
breathe_default_members = ("members",)
breathe_show_include = False
cpp_index_common_prefix = ["trigram::"]

# What the package needs only where it is used; its signatures are shown as they are written.
autodoc_mock_imports = ["torch", "pandas", "numpy", "matplotlib", "redis", "lightning", "accelerate", "transformers", "distributed"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
default_role = "code"

nitpicky = True
# Types that others document, and those of ours that no page shows: their names stand there without a link.
nitpick_ignore_regex = [
    (r"py:.*", r"(?!trigram\.).*|trigram\.(results\.Scratch|overflow|device|collectives).*"),
    (r"cpp:identifier", r".*"),
    (r"std:ref", r"(class|struct|namespace)trigram_.*|.*_8hpp"),
]
