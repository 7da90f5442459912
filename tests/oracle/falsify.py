"""Makes a copy of a result file with one number changed:  falsify.py FROM TO DATASET INDEX FACTOR

DATASET is a path in the first run ("steps/kinetic"), INDEX a comma-separated place in it, -1 the last. The number is multiplied by FACTOR, or becomes FACTOR
where it is 0."""
import shutil
import sys

import h5py

source, target, path, index, factor = sys.argv[1:]
shutil.copy(source, target)
with h5py.File(target, "r+") as file:
    dataset = file["runs"][next(iter(file["runs"]))][path]
    place = tuple(int(i) % n for i, n in zip(index.split(","), dataset.shape))
    value = dataset[place]
    dataset[place] = value * float(factor) if value != 0 else float(factor)
