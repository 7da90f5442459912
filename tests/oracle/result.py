"""A run of a result file, read with h5py alone: what the scene is, and the state and the mesh at every stored frame.

The layout is that of harness/results/schema.md. Only runs with frames of every step (`--frames all`) can be recomputed."""
import h5py
import numpy as np

CELLS = ("tetrahedra", "hexahedra", "triangles")


def named(dataset):
    """The values of an enumeration by their names."""
    names = {value: name for name, value in h5py.check_enum_dtype(dataset.dtype).items()}
    return [names[int(value)] for value in dataset[...]]


def attributes(item):
    """All attributes by name; texts of fixed length, which h5py reads as bytes, as text."""
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in item.attrs.items()}


def table(group):
    """All datasets of a group; enumerations as lists of names."""
    return {name: named(item) if h5py.check_enum_dtype(item.dtype) else item[...]
            for name, item in group.items() if isinstance(item, h5py.Dataset)}


class Scene:
    def __init__(self, group):
        mesh = group["mesh"]
        self.name = attributes(group)["name"]
        self.kind = next(kind for kind in CELLS if kind in mesh)
        self.rest = mesh["positions"][...]
        self.cells = mesh[self.kind][...]
        self.region = mesh["region"][...]
        self.fibre = mesh["fibre"][...] if "fibre" in mesh else None
        self.surface = mesh["surface"][...]
        self.parent = mesh["parent"][...] if "parent" in mesh else None
        self.materials = table(group["materials"])
        self.rigid = self.materials["rigid"].astype(bool)[self.region]
        # of hexahedra, the same in all regions
        self.integration = self.materials["integration"][0] if "integration" in self.materials else "gauss"
        self.gravity = group["gravity"][...]
        self.dt = float(group["dt"][()])
        self.mu = float(group["contact_friction"][()])
        self.pairs = table(group["friction"]) if "friction" in group else None
        self.bodies_collide = bool(group.attrs["bodies_collide"])
        self.scripted_force = bool(group.attrs["scripted_force"])
        self.initial = table(group["initial"])
        self.colliders = table(group["colliders"]) if "colliders" in group else None
        if self.pairs and self.colliders:  # by nodes
            self.colliders["friction"] = [self.collider_friction(c, len(self.rest)) for c in range(len(self.colliders["kind"]))]
        self.springs = group["springs/node"][...] if "springs" in group else None
        self.clusters = table(group["clusters"]) if "clusters" in group else None
        self.obstacles = table(group["obstacles"]) if "obstacles" in group else None
        self.bodies = table(group["free_bodies"]) if "free_bodies" in group else None
        self.joints = table(group["articulation"]) if "articulation" in group else None


    def friction_of(self, mu, one, other):
        """Coulomb's mu of what has these names: mu, or that of the last pair that fits."""
        mu = np.array(np.broadcast_to(mu, np.broadcast_shapes(np.shape(one), np.shape(other))), float)
        for a, b, own in zip(self.pairs["a"], self.pairs["b"], self.pairs["mu"]) if self.pairs else ():
            mu[((one >> a & other >> b) | (one >> b & other >> a)) & 1 == 1] = own
        return mu

    def contact_friction(self, contacts):
        """That of contacts: a feature has the names that all its vertices have."""
        if not self.pairs:
            return self.mu
        names, face = self.pairs["names"][contacts["vertices"]], contacts["kind"] == 0
        return self.friction_of(self.mu, np.where(face, names[:, 0], names[:, 0] & names[:, 1]), np.where(face, names[:, 1], -1) & names[:, 2] & names[:, 3])

    def collider_friction(self, c, nodes):
        """Of every node."""
        return self.friction_of(self.colliders["friction"][c], self.pairs["names"][:nodes], self.pairs["collider_names"][c])


def skipped(file, name):
    """Why a run has no steps to recompute, "" where it has: it was skipped, since its solver does not serve the scene."""
    attrs = attributes(file["runs"][name])
    return attrs["detail"] or attrs["outcome"] if attrs["outcome"] == "skipped" else ""


class Run:
    def __init__(self, file, name):
        group = file["runs"][name]
        self.name, self.attrs = name, attributes(group)
        self.scene = Scene(file["scenes"][self.attrs["scene_hash"]])
        self.steps = table(group["steps"])
        self.frames = table(group["frames"])
        self.contacts = table(group["frames/contacts"]) if "contacts" in group["frames"] else None
        self.basis = table(group["basis"]) if "basis" in group else None  # of the subspace that the steps are solved in
        self.checkpoints = table(group["checkpoints"]) if "checkpoints" in group else None
        self.donor = self.attrs.get("from", "")  # the run that this one starts from, "" for the scene's initial state
        self.samples = ".." in self.attrs.get("from_steps", "")  # frames are pairs: what a sample starts from and what it leads to
        self.row = {int(step): row for row, step in enumerate(self.steps["step"])}

    def at(self, frame):
        """Everything that the file says of one frame, by name."""
        return {name: values[frame] for name, values in self.frames.items()}

    def reason_of(self, frame):
        """Why the step that ends at this frame has ended."""
        return int(self.steps["reason"][self.row[int(self.frames["step"][frame])]])

    def nodes(self, frame):
        """How many nodes the mesh of the step that ends at this frame has."""
        return int(self.frames["node_count"][frame]) if "node_count" in self.frames else len(self.scene.rest)

    def cells(self, nodes):
        """The elements of the mesh that has so many nodes: copies that a later cut makes are still their parents."""
        cells = self.scene.cells
        while self.scene.parent is not None and cells.max() >= nodes:
            cells = np.where(cells >= nodes, self.scene.parent[cells], cells)
        return cells

    def checkpoint(self, step):
        """Positions and velocities that the run has kept after a step, on the nodes that the mesh has there."""
        row = int(np.flatnonzero(self.checkpoints["step"] == step)[0])
        nodes = int(self.checkpoints["node_count"][row])
        return {name: self.checkpoints[name][row][:nodes] for name in ("positions", "velocities")}

    def contacts_of(self, frame):
        """The lists of one frame, or None without contact as constraints."""
        if self.contacts is None:
            return None
        first, last = self.contacts["offsets"][frame:frame + 2]
        per_frame = ("gap", "eps1", "eps2", "cone", "angle")
        lists = {name: np.asarray(values)[first:last] for name, values in self.contacts.items()
                 if name not in per_frame and name != "offsets"}
        return lists | {name: float(self.contacts[name][frame]) for name in per_frame}
