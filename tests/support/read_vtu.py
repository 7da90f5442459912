# Reads what `export --to vtu` wrote beside result files, twice: by a parser of its own, which needs nothing but Python and numpy, and
# by VTK where it is installed. Both must find what h5py finds in the result file. Prints TAP.
import glob, os, struct, sys, xml.etree.ElementTree as tree, zlib

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../oracle"))
import colliders
import result

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkStringOutputWindow, vtkOutputWindow
    from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError:
    vtkXMLUnstructuredGridReader = None

tests = 0


def ok(good, name):
    global tests
    tests += 1
    print("ok" if good else "not ok", tests, "-", name)


# ---- a parser of our own

KINDS = {"UInt8": "u1", "Int32": "i4", "Int64": "i8", "Float32": "f4", "Float64": "f8"}


def unpack(data, offset, kind):
    """An array of the appended data: count of blocks, bytes of one and of a shorter last one, packed bytes of each, blocks."""
    blocks, size, last = struct.unpack_from("<3Q", data, offset)
    packed = struct.unpack_from(f"<{blocks}Q", data, offset + 24)
    at, out = offset + 24 + 8 * blocks, b""
    for block, length in enumerate(packed):
        plain = zlib.decompress(data[at:at + length])
        assert len(plain) == (last if last and block == blocks - 1 else size)
        out, at = out + plain, at + length
    return numpy.frombuffer(out, "<" + KINDS[kind])


def parse(path):
    """A .vtu file: what its XML says, and its arrays by section and name."""
    with open(path, "rb") as file:
        head, data = file.read().split(b'<AppendedData encoding="raw">\n_', 1)
    root = tree.fromstring(head + b"</VTKFile>")
    assert root.get("compressor") == "vtkZLibDataCompressor" and root.get("byte_order") == "LittleEndian"
    piece = root.find("UnstructuredGrid/Piece")
    out = {"time": float(root.find("UnstructuredGrid/FieldData/DataArray").text), "points": int(piece.get("NumberOfPoints")),
           "cells": int(piece.get("NumberOfCells"))}
    for section in piece:
        out[section.tag] = {}
        for array in section:
            values = unpack(data, int(array.get("offset")), array.get("type"))
            width = int(array.get("NumberOfComponents"))
            out[section.tag][array.get("Name")] = values.reshape(-1, width) if width > 1 else values
    return out


# ---- VTK

def read_by_vtk(path):
    """The same by VTK; whatever it complains about is an error."""
    window = vtkStringOutputWindow()
    vtkOutputWindow.SetInstance(window)
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    if window.GetOutput():
        raise ValueError(window.GetOutput())
    grid.GetCellTypesArray()
    arrays = lambda data: {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    measures = sizes.GetOutput().GetCellData()
    kind = {10: "Volume", 12: "Volume", 5: "Area", 3: "Length", 1: "VertexCount"}[grid.GetCellType(0)]
    return {"time": grid.GetFieldData().GetArray("TimeValue").GetValue(0), "points": grid.GetNumberOfPoints(),
            "cells": grid.GetNumberOfCells(), "PointData": arrays(grid.GetPointData()), "CellData": arrays(grid.GetCellData()),
            "Points": {"Points": vtk_to_numpy(grid.GetPoints().GetData())},
            "Cells": {"connectivity": vtk_to_numpy(grid.GetCells().GetConnectivityArray()),
                      "offsets": vtk_to_numpy(grid.GetCells().GetOffsetsArray())[1:],
                      "types": vtk_to_numpy(grid.GetCellTypesArray())},
            "size": vtk_to_numpy(measures.GetArray(kind)).sum()}


def agree(ours, theirs):
    same = all(ours[key] == theirs[key] for key in ("time", "points", "cells"))
    for section in ("PointData", "CellData", "Points", "Cells"):
        same = same and ours[section].keys() == theirs[section].keys()
        same = same and all(numpy.array_equal(ours[section][name], theirs[section][name]) for name in ours[section])
    return same


# ---- what the result file has

def elements_of(mesh):
    for name, number in (("tetrahedra", 10), ("hexahedra", 12), ("triangles", 5)):
        if name in mesh:
            return mesh[name][:], number


def bodies_are(grid, run, mesh, frame):
    frames, (elements, number) = run["frames"], elements_of(mesh)
    data, cells = grid["PointData"], grid["Cells"]
    good = numpy.array_equal(grid["Points"]["Points"], frames["positions"][frame])
    good = good and grid["Points"]["Points"].dtype == frames["positions"].dtype
    good = good and numpy.array_equal(data["velocity"], frames["velocities"][frame])
    rest = mesh["positions"][:]
    # one rounding in single precision of the difference
    good = good and numpy.allclose(data["displacement"], frames["positions"][frame] - rest, rtol=1e-6, atol=1e-12)
    for name in ("fixed", "force"):
        good = good and (name in data) == (name in frames)
        good = good and (name not in data or numpy.array_equal(data[name], frames[name][frame]))
    good = good and numpy.array_equal(cells["connectivity"].reshape(elements.shape), elements)
    good = good and (cells["types"] == number).all() and numpy.array_equal(cells["offsets"], elements.shape[1] * numpy.arange(1, len(elements) + 1))
    good = good and numpy.array_equal(grid["CellData"]["region"], mesh["region"][:])
    if "updates" in frames:
        good = good and numpy.array_equal(grid["CellData"]["updates"], frames["updates"][frame])
    return good


def obstacle_points(run, scene, frame):
    if "obstacles" not in scene:
        return numpy.zeros((0, 3))
    surfaces, pose = scene["obstacles"], run["frames/obstacle_pose"][frame]
    points = [pose[o, :9].reshape(3, 3) @ x + pose[o, 9:] for x, o in zip(surfaces["vertices"][:], surfaces["obstacle"][:])]
    return numpy.array(points).reshape(-1, 3)


def obstacles_are(grid, run, scene, frame):
    good = numpy.allclose(grid["Points"]["Points"], obstacle_points(run, scene, frame), rtol=1e-12, atol=1e-14)
    good = good and numpy.array_equal(grid["Cells"]["connectivity"].reshape(-1, 3), scene["obstacles/triangles"][:])
    return good and numpy.array_equal(grid["PointData"]["obstacle"], scene["obstacles/obstacle"][:])


def contacts_are(grid, run, scene, frame):
    contacts = run["frames/contacts"]
    mine = slice(contacts["offsets"][frame], contacts["offsets"][frame + 1])
    places = numpy.vstack([run["frames/positions"][frame], obstacle_points(run, scene, frame)])
    weight = numpy.maximum(contacts["weight"][mine], 0)
    points = numpy.einsum("cv,cvk->ck", weight, places[contacts["vertices"][mine]]) / weight.sum(axis=1)[:, None]
    forces = numpy.einsum("ckd,ck->cd", contacts["frame"][mine].astype(float), contacts["force"][mine].astype(float))
    good = numpy.allclose(grid["Points"]["Points"], points, rtol=1e-12, atol=1e-14)
    return good and numpy.allclose(grid["PointData"]["force"], forces, rtol=1e-12, atol=1e-14) and (grid["Cells"]["types"] == 1).all()


def colliders_are(grid, run, scene, frame):
    """Every point is on the surface of its collider, and there are points of all."""
    frames, points, of = run["frames"], grid["Points"]["Points"], grid["PointData"]["collider"]
    at = {name: frames[name][frame] for name in ("collider_offset", "collider_velocity", "collider_turn") if name in frames}
    good = (grid["Cells"]["types"] == 5).all()
    for c, one in enumerate(colliders.each(result.table(scene["colliders"]), at)):
        good = good and (of == c).any() and numpy.abs(colliders.distance(one, points[of == c])[0]).max() < 1e-12
    return good


def bones_are(grid, run, frame):
    return numpy.array_equal(grid["Points"]["Points"], run["frames/bones"][frame].reshape(-1, 3)) and (grid["Cells"]["types"] == 3).all()


def check_run(folder, stem, name, run, scene):
    found, good, same, sizes = {}, True, True, []
    collection = tree.parse(os.path.join(folder, f"{stem}.{name}.pvd")).getroot().findall("Collection/DataSet")
    times = list(run["frames/time"])
    for row in collection:
        path, part = os.path.join(folder, row.get("file")), row.get("name")
        frame = times.index(float(row.get("timestep")))
        grid = parse(path)
        good = good and grid["time"] == times[frame]
        found.setdefault(part, []).append(frame)
        good = good and {"bodies": lambda: bodies_are(grid, run, scene["mesh"], frame), "bones": lambda: bones_are(grid, run, frame),
                         "obstacles": lambda: obstacles_are(grid, run, scene, frame),
                         "colliders": lambda: colliders_are(grid, run, scene, frame),
                         "contacts": lambda: contacts_are(grid, run, scene, frame)}[part]()
        if not good:
            print(f"# {row.get('file')}")
            break
        if vtkXMLUnstructuredGridReader:
            theirs = read_by_vtk(path)
            same = same and agree(grid, theirs)
            sizes.append(theirs["size"])
    ok(good, f"{name}: a parser of our own finds the frames that h5py finds")
    every = list(range(len(times)))
    ok(found.get("bodies") == every, f"{name}: bodies in every frame")
    ok(found.get("obstacles", []) == (every if "obstacles" in scene else []), f"{name}: obstacles where there are any")
    ok(found.get("colliders", []) == (every if "colliders" in scene else []), f"{name}: colliders where there are any")
    ok(found.get("bones", []) == (every if "bones" in run["frames"] else []), f"{name}: bones where there are any")
    offsets = run["frames/contacts/offsets"][:] if "contacts" in run["frames"] else numpy.zeros(len(times) + 1)
    ok(found.get("contacts", []) == [f for f in every if offsets[f] < offsets[f + 1]], f"{name}: contacts where there are any")
    if vtkXMLUnstructuredGridReader:
        ok(same and sizes and min(sizes) > 0, f"{name}: VTK reads the same, and its cells have volumes, areas, lengths")
    else:
        ok(True, f"{name}: VTK # SKIP no python3-vtk9")
    return set(found)


if __name__ == "__main__":
    kinds = set()
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.h5"))):
        with h5py.File(path, "r") as file:
            for name, run in file["runs"].items():
                scene = file["scenes"][run.attrs["scene_hash"].decode()]
                kinds |= check_run(sys.argv[1], os.path.basename(path)[:-3], name, run, scene)
                kinds.add(elements_of(scene["mesh"])[1])
    ok(kinds == {"bodies", "bones", "obstacles", "colliders", "contacts", 5, 10, 12}, "all parts and kinds of elements were looked at")
    print(f"1..{tests}")
