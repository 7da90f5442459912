"""Reads r.h5, c.h5 (planar, with bones; and cut), h.h5 (hexahedra) and their XDMF files in a folder with h5py, numpy and, where they are, VTK's reader and meshio; prints TAP."""
import glob
import os
import sys
import xml.etree.ElementTree as xml

import h5py
import numpy

tests = 0


def ok(passed, name):
    global tests
    tests += 1
    print(("ok" if passed else "not ok"), tests, "-", name)


def cells_of(mesh):
    return mesh[next(kind for kind in ("tetrahedra", "hexahedra", "triangles") if kind in mesh)]


def check_run(run, scenes, name):
    steps, residuals, frames = run["steps"], run["residuals"], run["frames"]
    rows = run.attrs["steps_done"]
    ok(run.attrs["outcome"] == b"completed" and rows == 6, f"{name}: attributes are bytes and int")
    ok(all(d.shape == (rows,) for d in steps.values()), f"{name}: every column has a row a step")
    ok(all(d.shape == (rows,) for d in run["phases"].values()), f"{name}: so have the phases")
    ok(all(d.shape == (rows,) for d in run["counters"].values()), f"{name}: and the counters")
    offsets = residuals["offsets"][:]
    ok(len(offsets) == rows + 1 and offsets[-1] == len(residuals["values"]) and numpy.all(numpy.diff(offsets) > 0),
       f"{name}: residuals are ragged rows")
    mesh = scenes[run.attrs["scene_hash"]]["mesh"]
    rest, tets = mesh["positions"][:], cells_of(mesh)[:]
    corner = rest[tets]
    edges = (corner[:, 1:] - corner[:, :1])[:, :, :tets.shape[1] - 1]
    ok(numpy.all(numpy.linalg.det(edges) > 0), f"{name}: the rest mesh has positive volumes")
    ok(tets.min() == 0 and tets.max() == len(rest) - 1, f"{name}: elements use every node")
    ok(mesh["surface"].shape[0] == mesh["surface_region"].shape[0] > 0, f"{name}: the surface is there")
    positions = frames["positions"]
    ok(positions.dtype == numpy.float32 and positions.compression == "gzip" and positions.chunks[1:] == positions.shape[1:],
       f"{name}: frames are float32, chunked and compressed")
    velocities = frames["velocities"]
    ok(velocities.dtype == numpy.float32 and velocities.shape == positions.shape, f"{name}: with velocities")
    ok(run["units"].attrs["dt"] == b"s" and set(run["units"].attrs) <= set(run.attrs), f"{name}: the run's numbers have units")
    ok(positions.shape == (len(frames["time"]), len(rest), 3), f"{name}: frames have the shape of the mesh")
    ok(frames["step"][0] == 0 and frames["step"][-1] == rows, f"{name}: the first and the last frame are there")
    ok(abs(frames["time"][-1] - steps["time"][-1]) < 1e-12, f"{name}: the last frame is that of the last step")
    ok(numpy.abs(positions[-1] - rest).max() > 1e-6, f"{name}: something moved")


def units(file):
    missing = []
    file.visititems(lambda name, item: missing.append(name)
                    if isinstance(item, h5py.Dataset) and not isinstance(item.attrs.get("unit"), bytes) else None)
    return missing


def resolve(item, folder):
    """The array that an XDMF data item means."""
    if item.get("Format") == "HDF" and item.get("ItemType") is None:
        file, path = item.text.strip().rsplit(":", 1)
        data = h5py.File(os.path.join(folder, file), "r")[path][:]
    else:
        raise ValueError("unexpected data item")
    assert list(data.shape) == [int(n) for n in item.get("Dimensions").split()]
    return data


def check_movie(path, run, mesh):
    folder, name = os.path.dirname(path), os.path.basename(path)
    ok(xml.parse(path).getroot().get("Version") == "3.0", f"{name}: is of XDMF 3")
    frames = xml.parse(path).getroot().findall("./Domain/Grid/Grid")
    times = [float(grid.find("Time").get("Value")) for grid in frames]
    ok(numpy.allclose(times, run["frames/time"][:]), f"{name}: a grid a frame")
    good = True
    for f, grid in enumerate(frames):
        points = resolve(grid.find("Geometry/DataItem"), folder)
        cells = resolve(grid.find("Topology/DataItem"), folder)
        fields = {field.get("Name"): resolve(field.find("DataItem"), folder) for field in grid.findall("Attribute")}
        good = good and numpy.array_equal(points, run["frames/positions"][f])
        good = good and numpy.array_equal(cells, cells_of(mesh)[:])
        good = good and numpy.array_equal(fields["position"], points)
        good = good and numpy.array_equal(fields["velocity"], run["frames/velocities"][f])
        good = good and numpy.array_equal(fields["region"], mesh["region"][:])
        good = good and ("updates" in fields) == ("updates" in run["frames"])
        if "updates" in fields:
            good = good and numpy.array_equal(fields["updates"], run["frames/updates"][f])
    ok(good, f"{name}: its items are the frames, elements, regions and updates, each a dataset as a whole")
    check_vtk(path, run, mesh)
    check_meshio(path, run, mesh)


def check_bones(path, run):
    folder, name = os.path.dirname(path), os.path.basename(path)
    bones = run["frames/bones"]
    ok(bones.shape == (len(run["frames/time"]), 2, 2, 3), f"{name}: two bones a frame")
    frames = xml.parse(path).getroot().findall("./Domain/Grid/Grid")
    good = len(frames) == len(bones)
    for f, grid in enumerate(frames):
        points = resolve(grid.find("Geometry/DataItem"), folder)
        lines = numpy.array(grid.find("Topology/DataItem").text.split(), int).reshape(-1, 2)
        good = good and numpy.array_equal(points[lines], bones[f])
    ok(good, f"{name}: its lines are the bones of every frame")


def check_cut(run, mesh, name):
    """A node's copies have its place until the cut parts them."""
    positions, uncut = run["frames/positions"], run.attrs["uncut_nodes"]
    ok(run.attrs["nodes"] == len(mesh["positions"]) > uncut, f"{name}: the stored mesh has all cuts made")
    rest = mesh["positions"][:]
    twin = [numpy.flatnonzero((rest[:uncut] == point).all(axis=1))[0] for point in rest[uncut:]]
    away = [numpy.abs(frame[uncut:] - frame[twin]).max() for frame in (positions[0], positions[-1])]
    ok(away[0] == 0 and away[1] > 0, f"{name}: copies of nodes part from them")


def check_vtk(path, run, mesh):
    global tests
    try:
        try:
            from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
        except ImportError:
            from vtkmodules.vtkIOXdmf3 import vtkXdmf3Reader as vtkXdmfReader
        from vtkmodules.util.numpy_support import vtk_to_numpy
    except ImportError:
        tests += 1
        print("ok", tests, "- VTK # SKIP this VTK has no XDMF reader")
        return
    reader = vtkXdmfReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    good = True
    for frame in (0, -1):
        reader.UpdateTimeStep(float(run["frames/time"][frame]))
        data = reader.GetOutputDataObject(0)
        while data.IsA("vtkMultiBlockDataSet"):
            data = data.GetBlock(0)
        points = vtk_to_numpy(data.GetPoints().GetData())
        good = good and data.GetNumberOfCells() == len(cells_of(mesh))
        good = good and numpy.array_equal(points, run["frames/positions"][frame])
        if "updates" in run["frames"]:
            updates = vtk_to_numpy(data.GetCellData().GetArray("updates"))
            good = good and numpy.array_equal(updates, run["frames/updates"][frame])
    ok(good, f"{os.path.basename(path)}: VTK reads the elements, the first and the last frame")


def check_meshio(path, run, mesh):
    global tests
    try:
        import meshio
    except ImportError:
        tests += 1
        print("ok", tests, "- meshio # SKIP there is none")
        return
    with meshio.xdmf.TimeSeriesReader(path) as reader:
        points, cells = reader.read_points_cells()
        good = numpy.array_equal(points, run["frames/positions"][0]) and numpy.array_equal(cells[0].data, cells_of(mesh)[:])
        good = good and reader.num_steps == len(run["frames/time"])
        for f in range(reader.num_steps):
            time, of_nodes, of_cells = reader.read_data(f)
            good = good and time == run["frames/time"][f]
            good = good and numpy.array_equal(of_nodes["position"], run["frames/positions"][f])
            good = good and numpy.array_equal(of_nodes["velocity"], run["frames/velocities"][f])
            good = good and numpy.array_equal(of_cells["region"][0], mesh["region"][:])
    ok(good, f"{os.path.basename(path)}: meshio reads elements and every frame")


def plan():
    print(f"1..{tests}")


if __name__ == "__main__":
    folder = sys.argv[1]
    with h5py.File(os.path.join(folder, "r.h5"), "r") as file:
        ok(file.attrs["format"] == b"elastobench result" and file.attrs["schema_version"] == 3, "the root says what it is")
        ok({"cpu", "cores", "compiler", "flags", "commit", "dirty", "blas", "command_line"} <= set(file["environment"].attrs),
           "the environment is there")
        ok(units(file) == [], "every dataset has a unit")
        ok(file[f"runs/{list(file['runs'])[0]}/steps/residual"].attrs["unit"] == b"N", "and it is the right one")
        ok(len(file["runs"]) == 2, "two runs")
        for name, run in file["runs"].items():
            check_run(run, file["scenes"], name)
            mesh = file["scenes"][run.attrs["scene_hash"]]["mesh"]
            check_movie(os.path.join(folder, f"r.{name}.xdmf"), run, mesh)
        fibres = [s["mesh"]["fibre"][:] for s in file["scenes"].values() if "fibre" in s["mesh"]]
        ok(len(fibres) == 1 and numpy.allclose(numpy.linalg.norm(fibres[0], axis=1), 1), "fibres are unit vectors")
    with h5py.File(os.path.join(folder, "c.h5"), "r") as file:
        for name, run in file["runs"].items():
            check_run(run, file["scenes"], name)
            mesh = file["scenes"][run.attrs["scene_hash"]]["mesh"]
            check_movie(os.path.join(folder, f"c.{name}.xdmf"), run, mesh)
            if "bones" in run["frames"]:
                check_bones(os.path.join(folder, f"c.{name}.bones.xdmf"), run)
            else:
                check_cut(run, mesh, name)
    with h5py.File(os.path.join(folder, "h.h5"), "r") as file:
        for name, run in file["runs"].items():
            check_movie(os.path.join(folder, f"h.{name}.xdmf"), run, file["scenes"][run.attrs["scene_hash"]]["mesh"])
    ok(len(glob.glob(os.path.join(folder, "*.xdmf"))) == 6, "an XDMF file a run, and one of bones")
    plan()
