"""Pictures of predicted against measured times, a panel for each part."""

import sys


def draw(panels, file, width, height, measured, predicted):
    """Calls each of `panels` with axes of its own, of so many inches; `measured` and `predicted` name the axes."""
    try:
        import matplotlib
    except ImportError:
        print("python3-matplotlib is missing, so there is no picture", file=sys.stderr)
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    columns = min(3, len(panels))
    figure, axes = pyplot.subplots(-(-len(panels) // columns), columns, squeeze=False, layout="constrained",
                                   figsize=(width * columns, height * -(-len(panels) // columns)))
    for draw_panel, panel in zip(panels, axes.flat):
        draw_panel(panel)
    for panel in axes.flat[len(panels):]:
        panel.remove()
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.supxlabel(measured)
    figure.supylabel(predicted)
    figure.savefig(file)
