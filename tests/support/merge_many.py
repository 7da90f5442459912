#!/usr/bin/python3
"""How long `elastobench merge` takes for many shards, each a file with one run.

    tests/support/merge_many.py [COUNT] [FOLDER]      10 000 shards in a new folder of /tmp

Not a test: it wants 2 GB of disk twice and some minutes. One shard is run by the program; the others are copies of
its file in which the run and the row of the plan are others. Prints the seconds of the merge and its peak of memory. Needs python3-h5py.
"""
import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import h5py

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, os.environ.get("BUILD", "build"), "elastobench")


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_128bits.restype = Digest
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def seal(path):
    """As harness/results/seal.h has it: the program would have put it there."""
    with open(path, "r+b") as file:
        data = file.read()
        digest = XXHASH.XXH3_128bits(data, len(data))
        file.write(b"elastobench-seal" + struct.pack(">QQ", digest.high, digest.low))


def number(source, count, shard, path):
    """Makes of the file of shard 1 that of another."""
    shutil.copy(source, path)
    with h5py.File(path, "r+") as file:
        (old,) = file["runs"].keys()
        new = "%s.%016x" % (old.rpartition(".")[0], shard)
        file.move("runs/" + old, "runs/" + new)
        run = file["runs"][new].attrs
        run["id"] = new
        run["identity"] = run["identity"] + b" shard=%d" % shard
        run["order"] = shard - 1
        (plan,) = file["plans"].values()
        plan["shard"][0] = shard
        plan["wanted"][0] = plan["done"][0] = 1
    seal(path)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="elastobench-merge-")
    source = os.path.join(folder, "first.h5")
    if not os.path.exists(source):
        os.makedirs(folder, exist_ok=True)
        subprocess.run([PROGRAM, "run", "bench/beam:resolution=0.5", "-s", "newton", "--steps", "1", "--shard",
                        "1/%d" % count, "-o", source], check=True, stdout=subprocess.DEVNULL)
        for shard in range(1, count + 1):
            number(source, count, shard, os.path.join(folder, "shard-%05d.h5" % shard))
    os.sync()
    began = time.time()
    merge = subprocess.Popen([PROGRAM, "merge", os.path.join(folder, "all.h5"), os.path.join(folder, "shard-*.h5"),
                              "--overwrite"])
    _, status, used = os.wait4(merge.pid, 0)
    seconds = time.time() - began
    print("merge of %d files: %.1f s, %.1f s of processors, %.0f MB at most, exit code %d" %
          (count, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)))


main()
