"""What tests of pictures begin with: the scripts that draw, and matplotlib without a screen. Whoever imports it ends with 77 where
matplotlib or fastjsonschema is missing."""

import pathlib
import sys

sys.dont_write_bytecode = True
try:
    import fastjsonschema  # noqa: F401
    import matplotlib
except ImportError:
    sys.exit(77)
matplotlib.use("Agg")

PLOT = pathlib.Path(__file__).resolve().parent.parent.parent / "experiments" / "plot"
sys.path.insert(0, str(PLOT))
