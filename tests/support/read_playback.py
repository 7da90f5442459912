"""Compares what a page plays of the runs of a result file (DIR/*.js, all of one scene) with the file itself, by numpy. Prints a line a
channel and run: the largest error, over what the script promises."""
import base64
import glob
import json
import sys

import h5py
import numpy as np


def numbers(text, kind, width=1):
    data = np.frombuffer(base64.b64decode(text), dtype=kind)
    return data.reshape(-1, width) if width > 1 else data


def places(part, name):
    return np.array(part["lo"]) + np.array(part["size"]) * numbers(part[name], "<u2", 3) / 65535


def strains(rest, now, tetrahedra):
    edges = lambda x: np.stack([x[tetrahedra[:, k]] - x[tetrahedra[:, 0]] for k in (1, 2, 3)], axis=2)
    gradient = edges(now) @ np.linalg.inv(edges(rest))
    return np.abs(np.linalg.svd(gradient, compute_uv=False) - 1).max(axis=1)


with h5py.File(sys.argv[1]) as file:
    runs = sorted(file["runs"].values(), key=lambda run: run.attrs["order"])
    for n, run in enumerate(runs):
        script = glob.glob(f"{sys.argv[2]}/*-r{n}.js")[0]
        with open(script) as text:
            played = json.loads(text.read().removeprefix("elastobench.add(").rstrip().removesuffix(");"))
        frames, mesh = run["frames"], file["scenes"][run.attrs["scene_hash"]]["mesh"]
        time = frames["time"][:]
        shown = [int(np.abs(time - t).argmin()) for t in played["time"]]
        assert np.allclose(time[shown], played["time"], rtol=1e-8, atol=0) and (frames["step"][:][shown] == played["step"]).all()
        ends = shown[0] == 0 and shown[-1] == len(time) - 1 and played["stored"] == len(time)
        print(f"r{n} frames {len(shown)} of {len(time)}", "from end to end" if ends else "NOT from end to end")

        body, surface = played["parts"][0], mesh["surface"][:]
        nodes = np.unique(surface)
        assert (nodes[numbers(body["index"], "<u4", 3)] == surface).all()
        x = places(body, "positions").reshape(len(shown), -1, 3)
        off = max(np.linalg.norm(x[k] - frames["positions"][f][nodes], axis=1).max() for k, f in enumerate(shown))
        print(f"r{n} positions", "within" if off <= played["precision"] * 1.01 else f"OFF BY {off}")

        if "tetrahedra" in mesh:
            rest, tetrahedra = mesh["positions"][:], mesh["tetrahedra"][:]
            behind = [next(e for e in np.flatnonzero((tetrahedra == t[0]).any(axis=1)) if set(t) <= set(tetrahedra[e])) for t in surface]
            strain = played["strain"]
            decoded = strain["most"] * (numbers(strain["data"], "u1").reshape(len(shown), -1) / 255) ** 2
            off = max(np.abs(decoded[k] - strains(rest, frames["positions"][f].astype(float), tetrahedra[behind])).max() for k, f in enumerate(shown))
            print(f"r{n} strain", "within" if off <= 0.004 * strain["most"] + 1e-5 else f"OFF BY {off} of {strain['most']}")
            print(f"r{n} regions", "right" if (numbers(played["region"], "u1") == mesh["region"][:][behind]).all() else "WRONG")
            if "updates" in frames:
                stored, channel = frames["updates"][:].astype(int), numbers(played["updated"]["data"], "u1").reshape(len(shown), -1)
                sums = [stored[(shown[k - 1] + 1 if k else 0):f + 1].sum(axis=0).clip(max=255) for k, f in enumerate(shown)]
                right = all((channel[k] == sums[k][behind]).all() and played["updated"]["elements"][k] == (sums[k] > 0).sum() for k in range(len(shown)))
                print(f"r{n} updates", "right" if right and channel.any() else "WRONG")

        if "contacts" in frames:
            stored, told = {name: frames["contacts"][name][:] for name in ("offsets", "force", "frame", "weight", "vertices")}, played["contacts"]
            points, forces = places(told, "points"), numbers(told["forces"], "<i2", 3) * told["most"] / 32767
            worst = 0
            for k, f in enumerate(shown):
                rows = slice(stored["offsets"][f], stored["offsets"][f + 1])
                mine = slice(told["offsets"][k], told["offsets"][k + 1])
                assert mine.stop - mine.start == rows.stop - rows.start
                world = np.einsum("cad,ca->cd", stored["frame"][rows], stored["force"][rows])
                worst = max(worst, np.abs(forces[mine] - world).max(initial=0) / told["most"])
                for c, (weight, vertices) in enumerate(zip(stored["weight"][rows], stored["vertices"][rows])):
                    first = weight > 0
                    if (vertices[first] < run.attrs["nodes"]).all():
                        place = weight[first] @ frames["positions"][f][vertices[first]]
                        worst = max(worst, np.abs(points[mine][c] - place).max() / max(told["size"]))
            print(f"r{n} contacts", f"{'within' if worst <= 2e-5 else worst}, {'some' if len(points) else 'none'}")
        print(f"r{n} parts", " ".join(part["kind"] for part in played["parts"]))
