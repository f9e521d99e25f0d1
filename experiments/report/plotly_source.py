"""Plotly's library for browsers, as the page carries it: the page asks no server for it."""

import base64
import gzip


def packed():
    """Gzip in base64, a third of its size; the browser unpacks it. Raises ImportError where plotly is missing."""
    import plotly.offline
    source = plotly.offline.get_plotlyjs().encode()
    return base64.b64encode(gzip.compress(source, mtime=0)).decode()
