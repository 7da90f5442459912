"""Prints the collider of each scene of a result file and its last offset in a run, by names and units that the file itself gives."""
import sys

import h5py

with h5py.File(sys.argv[1]) as file:
    lines = set()
    for run in file["runs"].values():
        if "frames" not in run:  # skipped
            continue
        scene, frames = file["scenes"][run.attrs["scene_hash"]], run["frames"]
        line = f"{scene.attrs['name'].decode()}: none"
        if "colliders" in scene:
            colliders, offset = scene["colliders"], frames["collider_offset"]
            assert offset.shape == (len(frames["time"]), len(colliders["kind"]), 3)
            assert all("unit" in dataset.attrs for dataset in colliders.values())
            kinds = {value: name for name, value in h5py.check_enum_dtype(colliders["kind"].dtype).items()}
            line = f"{scene.attrs['name'].decode()}: {kinds[colliders['kind'][0]]}"
            line += f", radius {colliders['radius'][0]:g} {colliders['radius'].attrs['unit'].decode()}"
            for name, values in (("origin", colliders["origin"]), ("offset", offset)):
                row = (values[0] if name == "origin" else values[-1, 0]).round(3).tolist()
                line += f", {name} {[x + 0.0 for x in row]} {values.attrs['unit'].decode()}"
        lines.add(line)
    print("\n".join(sorted(lines)))
