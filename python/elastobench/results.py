"""Result files. Their layout is harness/results/schema.md in elastobench's sources, version 3."""
import os
import re

import numpy as np

from . import tables
from .errors import Error

SCHEMA_VERSION = 3
# What a run leaves out since it is 0 throughout.
PHASES = ("rotations", "node-rotations", "gradient", "assemble", "order", "analyze", "factor", "update", "solve", "rhs",
          "estimate", "linesearch", "detect", "resolve", "local", "project", "io", "precondition")
COUNTERS = ("factorizations", "solves", "matvecs", "element_evaluations", "linear_iterations", "line_searches", "flops",
            "updated_elements", "updated_supernodes", "damped_elements", "reduced_unknowns", "rebuilds", "constraints",
            "active_constraints", "collision_rounds", "relinearizations", "collision_candidates", "state_changes",
            "contact_visits")


def _h5py():
    try:
        import h5py
    except ImportError:
        raise Error("result files are read with h5py, which is not installed (Debian: python3-h5py)") from None
    return h5py


def _plain(value):
    """An attribute as Python has it: texts are bytes in the file."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.generic):
        return value.item()
    return value


def _attributes(item):
    return {name: _plain(value) for name, value in item.attrs.items()}


def _unit(dataset):
    return _plain(dataset.attrs.get("unit", b"1"))


def assignments(text):
    """"rtol=1e-8,linear=cg" as a dictionary, numbers and truth values as such. Behind a command's name all is the command."""
    out = {}
    name = None
    for piece in text.split(",") if text else ():
        begins = name != "command" and re.match(r"([A-Za-z_][\w-]*)=", piece)
        if begins:
            name = begins.group(1)
            out[name] = piece[begins.end():]
        elif name is not None:
            out[name] += "," + piece
    return {name: _value(text) for name, text in out.items()}


def _value(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def open(path):
    """The results of a file; also usable as `with eb.open(path) as results:`."""
    return Results(path)


class Results:
    """A result file. It is a sequence of runs in the order of their plan: results[0], results["706b"], for run in results.

    environment has what is known of the machine and the build, summary what `eb.run` was told (None of a file)."""

    def __init__(self, path):
        self.path, self.summary = os.fspath(path), None
        self._file = _open_file(self.path)
        try:
            self._runs = sorted((Run(self, group) for group in self._file.get("runs", {}).values()),
                                key=lambda run: (run.attributes.get("order", 0), run.id))
            self.environment = _attributes(self._file["environment"]) if "environment" in self._file else {}
        except Exception:
            self._file.close()
            raise
        _shorten(self._runs)

    def __len__(self):
        return len(self._runs)

    def __iter__(self):
        return iter(self._runs)

    def __getitem__(self, key):
        """A run by its place, or by so much of its id, or of the digits at its end, as no other has."""
        return self._find(key) if isinstance(key, str) else self._runs[key]

    def _find(self, name):
        for near in (lambda run: run.id == name, lambda run: run.id.startswith(name) or run.hash.startswith(name),
                     lambda run: name in run.id):
            found = [run for run in self._runs if near(run)]
            if len(found) == 1:
                return found[0]
            if found:
                raise Error("'%s' has %d runs with '%s' in their ids: %s; give more of one's id" %
                            (self.path, len(found), name, _few(found)))
        raise Error("'%s' has no run '%s'; there are: %s" % (self.path, name, _few(self._runs) or "none"))

    def select(self, **wanted):
        """The runs whose attributes, options or parameters have these values: select(solver="newton", rtol=1e-6)."""
        return [run for run in self._runs if all(run.has(name, value) for name, value in wanted.items())]

    @property
    def runs(self):
        """A row a run: its attributes, then its options and parameters as options.NAME and parameters.NAME."""
        return tables.of_records([run.row() for run in self._runs])

    @property
    def scenes(self):
        """A row a scene: its hash, how many runs there are of it, and its attributes."""
        hashes = [run.attributes.get("scene_hash") for run in self]
        return tables.of_records([{"hash": name, "runs": hashes.count(name), **_attributes(group)}
                                  for name, group in self._file.get("scenes", {}).items()])

    @property
    def sweeps(self):
        """A row a search for the least stable value of an option."""
        return tables.of_records([_attributes(group) for group in self._file.get("sweeps", {}).values()])

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "<%s: %d runs>" % (self.path, len(self))


def _few(runs, most=8):
    return ", ".join([run.id for run in runs[:most]] + ["..."] * (len(runs) > most))


def _open_file(path):
    h5py = _h5py()
    if not os.path.exists(path):
        raise Error("cannot open '%s': there is no such file" % path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise Error("'%s' is not a result file: %s" % (path, error)) from None
    version = _plain(file.attrs.get("schema_version", 0))
    if _plain(file.attrs.get("format", b"")) != "elastobench result":
        reason = "it is HDF5 of something else"
    elif version != SCHEMA_VERSION:
        reason = "it is of schema version %s, and this package reads version %d: run its cases again, or read it with the " \
                 "package of the elastobench that wrote it" % (version, SCHEMA_VERSION)
    else:
        return file
    file.close()
    raise Error("'%s' cannot be read: %s" % (path, reason))


def _shorten(runs):
    """Gives every run the first digits of its hash that no other has, four at least: what `elastobench list F.h5` shows."""
    ordered = sorted(runs, key=lambda run: run.hash)
    for at, run in enumerate(ordered):
        near = [other.hash for other in ordered[max(at - 1, 0):at + 2] if other is not run]
        shared = max((len(os.path.commonprefix([run.hash, other])) for other in near), default=0)
        run.short = run.hash[:max(4, shared + 1)]


class Run:
    """What became of a case. Its attributes (schema.md lists them) are attributes of this object too: run.outcome."""

    def __init__(self, results, group):
        self.results, self._group = results, group
        self.id = group.name.rsplit("/", 1)[-1]
        self.hash = self.id.rsplit(".", 1)[-1]
        self.short = self.id
        self.attributes = _attributes(group)
        self.options = assignments(self.attributes.get("options", ""))
        self.parameters = assignments(self.attributes.get("parameters", ""))

    def __getattr__(self, name):
        try:
            return self.__dict__["attributes"][name]
        except KeyError:
            raise AttributeError("a run has no attribute '%s'" % name) from None

    def has(self, name, value):
        for where in (self.attributes, self.options, self.parameters):
            if name in where and where[name] == value:
                return True
        return False

    def row(self):
        out = {"id": self.id, "short": self.short, **self.attributes}
        out.update(("options." + name, value) for name, value in self.options.items())
        out.update(("parameters." + name, value) for name, value in self.parameters.items())
        return out

    @property
    def units(self):
        """Those of the attributes that are numbers."""
        return _attributes(self._group["units"]) if "units" in self._group else {}

    @property
    def environment(self):
        """The machine and the build that made the run: in a file joined from several, its own."""
        other = self.attributes.get("environment")
        return _attributes(self._group.file["environments"][other]) if other else self.results.environment

    @property
    def broken(self):
        """The worst that the run did to each rule of the audit that it broke, by rule: words, step, value, bound, place, body, x, y, z, .."""
        group = self._group["broken"] if "broken" in self._group else {}
        return {rule: _attributes(group[rule]) for rule in group}

    # ---- numbers a step -------------------------------------------------------------------------

    def array(self, path):
        """A dataset of the run by its path: "steps/wall", "phases/factor", "residuals/values". What is left out of the file
        since it is 0 is zeros; a run that ended before its first step has no rows."""
        if path in self._group and not hasattr(self._group[path], "keys"):
            return self._group[path][()]
        kind, _, name = path.partition("/")
        if name in {"phases": PHASES, "counters": COUNTERS}.get(kind, ()):
            return np.zeros(self._rows())
        raise Error("run %s of '%s' has no dataset '%s'" % (self.id, self.results.path, path))

    def unit(self, path):
        """The unit of a dataset by its path, "1" where it has none."""
        if path in self._group:
            return _unit(self._group[path])
        return "s" if path.startswith("phases/") else "1"

    def _rows(self):
        return len(self._group["steps/step"]) if "steps/step" in self._group else 0

    def _table(self, kind, names=()):
        there = dict(self._group[kind].items()) if kind in self._group else {}
        names = list(dict.fromkeys([*names, *there]))
        columns = {name: there[name][()] if name in there else self.array("%s/%s" % (kind, name)) for name in names}
        units = {name: _unit(there[name]) if name in there else self.unit("%s/%s" % (kind, name)) for name in names}
        return tables.make(columns, units)

    @property
    def steps(self):
        """A row a step: the audit's figures, times, iterations. Row 0 is the first step, whose caches are cold."""
        return self._table("steps")

    @property
    def phases(self):
        """A row a step: seconds by the named parts of a step."""
        return self._table("phases", PHASES)

    @property
    def counters(self):
        """A row a step: factorizations, products and the like."""
        return self._table("counters", COUNTERS)

    @property
    def rotation(self):
        """A row a step, of runs whose solver records rotations of elements; else no columns."""
        return self._table("rotation")

    @property
    def parts(self):
        """How parts of the mesh move: a table by name."""
        return {name: self._table("parts/" + name) for name in self._group.get("parts", {})}

    @property
    def setup(self):
        """The numbers of the set-up by name, those of memory and trees by path; what is left out is 0."""
        return self._numbers("setup")

    @property
    def subspace(self):
        """What was examined of a declared subspace, by path."""
        return self._numbers("subspace")

    def _numbers(self, kind):
        out = {}
        if kind in self._group:
            self._group[kind].visititems(
                lambda name, item: out.__setitem__(name, _plain(item[()])) if not hasattr(item, "keys") else None)
        return out

    # ---- more of a step -------------------------------------------------------------------------

    @property
    def residuals(self):
        """The solver's own residuals, a history a step."""
        return Residuals(self)

    @property
    def frames(self):
        """The stored states."""
        return Frames(self)

    @property
    def mesh(self):
        """The mesh at rest, with all scripted cuts made; None of a run that ended before its scene was built."""
        scene = self._group.file["scenes"].get(self.scene_hash) if "scenes" in self._group.file else None
        return Mesh(scene["mesh"]) if scene is not None and "mesh" in scene else None

    @property
    def median_step(self):
        """Median wall time of a step without the first one, s; NaN of runs without steps."""
        wall = self.array("steps/wall") if self._rows() else np.array([])
        return float(np.median(wall[1:] if len(wall) > 1 else wall)) if len(wall) else float("nan")

    def __repr__(self):
        return "<run %s: %s %s, %s>" % (self.short, self.scene, self.solver, self.outcome)


class Residuals:
    """residuals[s] are the values of row s, residuals.seconds(s) when they were there since the step began, residuals.rounds(s)
    how many there were each time the problem was made anew; norm says what they are."""

    def __init__(self, run):
        self._run, self.norm, self.offsets = run, "", np.zeros(1, int)
        if "residuals" in run._group:
            self.norm = _plain(run._group["residuals"].attrs.get("norm", b""))
            self.offsets = run.array("residuals/offsets")
            self._values, self._seconds = run.array("residuals/values"), run.array("residuals/seconds")

    def _slice(self, step, offsets):
        rows = len(offsets) - 1
        if not -rows <= step < rows:
            raise IndexError("row %d of %d steps" % (step, rows))
        step %= rows
        return slice(offsets[step], offsets[step + 1])

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, step):
        return self._values[self._slice(step, self.offsets)]

    def seconds(self, step):
        return self._seconds[self._slice(step, self.offsets)]

    def rounds(self, step):
        return self._run.array("residuals/rounds")[self._slice(step, self._run.array("residuals/round_offsets"))]


class Frames:
    """Stored states: frames.positions is an array frames x nodes x 3, and so for all names in frames.names; frames[i] has the
    arrays of one frame by name, read alone; frames.contacts(i) those of its contacts."""

    def __init__(self, run):
        self._run = run
        self._group = run._group.get("frames", {})
        self.names = [name for name, item in self._group.items() if not hasattr(item, "keys")]

    def __len__(self):
        return len(self._group["time"]) if "time" in self.names else 0

    def __getattr__(self, name):
        if name in self.__dict__.get("names", ()):
            return self._group[name][()]
        raise AttributeError("frames of this run have no '%s'" % name)

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError("frame %d of %d" % (index, len(self)))
        return {name: self._group[name][index % len(self)] for name in self.names}

    def unit(self, name):
        return _unit(self._group[name])

    def contacts(self, index):
        """The contacts of a frame as arrays by name, and what is a number a frame; {} where a scene has none."""
        if "contacts" not in self._group:
            return {}
        group, index = self._group["contacts"], range(len(self))[index]
        first, last = group["offsets"][index:index + 2]
        by_frame = ("gap", "eps1", "eps2", "cone", "angle")
        return {name: _plain(item[index]) if name in by_frame else item[first:last]
                for name, item in group.items() if name != "offsets"}


class Mesh:
    """positions (nodes x 3, m), elements (rows of nodes, counted from 0), kind ("tetrahedra", "hexahedra", "triangles"), and,
    where the file has them, region, fibre, surface, surface_region, parent."""

    def __init__(self, group):
        self._group = group
        self.kind = next(kind for kind in ("tetrahedra", "hexahedra", "triangles") if kind in group)
        self.elements = group[self.kind][()]

    def __getattr__(self, name):
        if name in self.__dict__["_group"]:
            return self._group[name][()]
        raise AttributeError("the mesh has no '%s'" % name)
