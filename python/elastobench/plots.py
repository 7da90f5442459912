"""Curves with logarithmic axes, drawn by matplotlib where it is installed, else by gnuplot, which elastobench needs anyway."""
import os
import shutil
import subprocess

from .errors import Error

_TERMINALS = {".png": "pngcairo size 800,600", ".svg": "svg size 800,600 dynamic", ".pdf": "pdfcairo"}


def plot(path, curves, xlabel="", ylabel="", title=""):
    """Draws curves, a dictionary of names and pairs (x, y), into a .png, .svg or .pdf file; points are joined in the order of x.
    Returns the path."""
    path = os.fspath(path)
    ending = os.path.splitext(path)[1]
    if ending not in _TERMINALS:
        raise Error("'%s' is no picture that can be drawn: its name ends in %s" % (path, ", ".join(_TERMINALS)))
    curves = {name: sorted((float(x), float(y)) for x, y in points if x > 0 and y > 0) for name, points in curves.items()}
    curves = {name: points for name, points in curves.items() if points}
    if not curves:
        raise Error("there is nothing to draw for '%s': no curve has a point with x > 0 and y > 0" % path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        _by_gnuplot(path, curves, _TERMINALS[ending], xlabel, ylabel, title)
    else:
        _by_matplotlib(Figure(), path, curves, xlabel, ylabel, title)
    return path


def _by_matplotlib(figure, path, curves, xlabel, ylabel, title):
    axes = figure.subplots()
    for name, points in curves.items():
        axes.loglog(*zip(*points), marker="o", label=name)
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    axes.legend()
    figure.savefig(path)


def _quoted(text):
    """As gnuplot takes a text to the letter."""
    return "'%s'" % text.replace("'", "''").replace("\n", " ")


def _by_gnuplot(path, curves, terminal, xlabel, ylabel, title):
    if not shutil.which("gnuplot"):
        raise Error("curves are drawn by matplotlib or gnuplot, and neither is installed (Debian: gnuplot-nox)")
    script = ["set terminal %s noenhanced" % terminal, "set output " + _quoted(path), "set logscale xy", "set format '%.0e'",
              "set xlabel " + _quoted(xlabel), "set ylabel " + _quoted(ylabel), "set title " + _quoted(title)]
    for at, points in enumerate(curves.values()):
        script += ["$curve%d << END" % at, *("%.17g %.17g" % point for point in points), "END"]
    script.append("plot " + ", ".join("$curve%d with linespoints pt 7 title %s" % (at, _quoted(name))
                                      for at, name in enumerate(curves)))
    done = subprocess.run(["gnuplot"], input="\n".join(script) + "\n", capture_output=True, text=True)
    if done.returncode or not os.path.exists(path):
        raise Error("gnuplot cannot draw '%s': %s" % (path, done.stderr.strip()))
