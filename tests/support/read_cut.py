"""Prints, for every frame of a run, how many of the two cuts have opened: all copies of a cut are at their node's place, or none is."""
import sys

import h5py
import numpy

file = h5py.File(sys.argv[1])
run = file["runs"][sys.argv[2]]
rest = file["scenes"][run.attrs["scene_hash"]]["mesh/positions"][:]
frames = run["frames/positions"][:]
uncut = int(run.attrs["uncut_nodes"])
places = {tuple(p): i for i, p in enumerate(rest[:uncut])}
origin = numpy.array([places[tuple(p)] for p in rest[uncut:]])
planes = sorted(set(rest[uncut:, 0]))
opened = []
for x in frames:
    apart = numpy.abs(x[uncut:] - x[origin]).max(axis=1)
    opened.append(sum(apart[rest[uncut:, 0] == plane].max() > 0 for plane in planes))
print("nodes together", *opened)
