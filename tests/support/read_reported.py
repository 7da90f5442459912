"""Reads w.h5 in a folder, the run of tests/plugins/reporting.c with its defaults, and finds what that solver says it reports; prints TAP."""
import glob
import os
import sys
import xml.etree.ElementTree as xml

import h5py
import numpy

from read_result import check_movie, ok, plan

PERIOD, WIDTH, LEVELS, MEMORY = 20, 0.05, 4, 1e6


def marks(rest, tets, step):
    """Elements whose centre is within the pulse of a step, from 0."""
    lo, hi = rest.min(axis=0), rest.max(axis=0)
    axis = numpy.argmax(hi - lo)
    centre = (rest[tets][:, :, axis].mean(axis=1) - lo[axis]) / (hi - lo)[axis]
    return abs(centre - (step % PERIOD) / PERIOD) < WIDTH


def is_close(measured, wanted):
    """Elements whose centre is on the pulse's rim may come out either way."""
    return (measured != wanted).mean() < 0.02


def check_setup(setup):
    memory = {name: (d[()], d.attrs["unit"].decode()) for name, d in setup["memory"].items()}
    wanted = {name: (MEMORY * (i + 1), "byte") for i, name in enumerate(("matrix", "factor", "updates"))}
    ok(memory == wanted, "memory by kind, in bytes; none of what was not reported")
    tree = setup["supernodes"]
    parent = tree["parent"][:]
    ok({d.shape for d in tree.values()} == {(2**LEVELS - 1,)}, "the tree has all its supernodes")
    ok(parent[-1] == -1 and all(parent[s] > s for s in range(len(parent) - 1)), "children precede their parents")
    ok(sorted(numpy.bincount(parent[:-1]))[-(2 ** (LEVELS - 1) - 1):] == [2] * (2 ** (LEVELS - 1) - 1), "each has two")
    ok(tree["pivots"][-1] == LEVELS and tree["rows"][-1] == 3 * LEVELS, "pivots and rows of its root")
    ok(tree["flops"][-1] == 100 * LEVELS**3 and tree["flops"].attrs["unit"] == b"flop", "flops of its root")


def check_updates(run, mesh):
    frames, counters = run["frames"], run["counters"]
    updates, steps = frames["updates"], frames["step"][:]
    rest, tets = mesh["positions"][:], mesh["tetrahedra"][:]
    ok(updates.dtype == numpy.uint8 and updates.compression == "gzip" and updates.chunks[1:] == (len(tets),),
       "updates are bytes, in compressed chunks of whole frames")
    ok(updates.shape == (len(steps), len(tets)), "one for each frame and element")
    ok(not updates[0].any(), "none before the first step")
    ok(max(numpy.diff(steps)) > 1, "frames are more than a step apart")
    good = all(is_close(updates[f], sum(marks(rest, tets, s).astype(int) for s in range(steps[f - 1], steps[f])))
               for f in range(1, len(steps)))
    ok(good, "each frame has the updates of the steps since the one before")
    ok(updates[:].sum() == counters["updated_elements"][:].sum() > 0, "as many as the steps counted")
    ok(updates[:].max() > 1, "an element updated in two steps counts twice")


folder = sys.argv[1]
with h5py.File(os.path.join(folder, "w.h5"), "r") as file:
    run = file["runs"][list(file["runs"])[0]]
    mesh = file["scenes"][run.attrs["scene_hash"]]["mesh"]
    check_setup(run["setup"])
    check_updates(run, mesh)
    check_movie(glob.glob(os.path.join(folder, "w.*.xdmf"))[0], run, mesh)
plan()
