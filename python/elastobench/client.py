"""A solver of yours in Python, run by elastobench -s "external:python3 my_solver.py".

This file stands alone, too: `elastobench new-solver NAME --external python` puts it beside a solver as elastobench_client.py, where
nothing but numpy is needed. Subclass Solver, give it a name and what it serves, write step(), and call serve():

    import elastobench as eb                     # or elastobench_client

    class Drift(eb.Solver):
        name = "drift 1.0"
        serves = "tetrahedra hyperelastic"
        def step(self, s):                       # s.x, s.v, s.dt, s.force, s.fixed, s.target
            x = s.x + s.dt * s.v
            return eb.Done(x, s.v, "CONVERGED_ITS", iterations=1)

    eb.serve(Drift)

Positions and velocities are arrays of nodes x 3, in SI units. In elastobench's sources solvers/external/README.md has the
protocol, solvers/TUTORIAL.md a solver from nothing.
"""
import os
import socket
import struct
import sys
import time
import traceback

try:
    import numpy as np
except ImportError:
    missing = "the client needs numpy, which %s does not have (Debian: python3-numpy)" % sys.executable
    if __package__:
        raise ImportError(missing) from None
    sys.exit(missing)

PROTOCOL = 1
_SOCKET, _SCENE = 3, 4
_HEAD = struct.Struct("<4sIQ")
_CONTACT_NUMBERS = 16
_TYPES = {"f8": "<f8", "i4": "<i4", "u1": "u1"}


class Scene:
    """What is solved: arrays by name (rest, x, v, mass, elements, region, fibre, fixed, target,
    surface, spring_node, pattern_start, pattern_column) as attributes, and name, element, dt,
    gravity, needs, parameters (of texts), materials (a dictionary a region).

    With contact as constraints vertices are the nodes and behind them those of the obstacles:
    contact_triangle (of vertices), contact_body (a triangle each: below bodies, or bodies + an
    obstacle's number), obstacle (places of its vertices at t = 0), bodies (how many), obstacles
    ("stands" or "moves" each), friction, and bounds, a dictionary of what the audit allows.
    friction is Coulomb's mu but for friction_pairs, (name, name, mu) each; bit k of friction_names,
    one a vertex, says that the vertex has name k. friction_of tells the mu of contacts."""

    def __init__(self, path):
        data = np.memmap(path, np.uint8, "r")
        self.parameters, self.materials = {}, []
        self.bodies, self.obstacles, self.friction, self.bounds = 0, [], 0.0, {}
        self.contact_triangle, self.contact_body = np.zeros((0, 3), int), np.zeros(0, int)
        self.obstacle, self.friction_pairs = np.zeros((0, 3)), []
        at = 0
        for line in _lines(data):
            key, _, value = line.partition(" ")
            if key == "array":
                name, kind, rows, columns, offset = value.split()
                rows, columns = int(rows), int(columns)
                array = np.frombuffer(data, _TYPES[kind], rows * columns, int(offset))
                setattr(self, name, array.reshape(rows, columns) if columns > 1 else array)
            elif key == "parameter":
                name, _, self.parameters[name] = value.partition(" ")
                self.parameters[name] = value[len(name) + 1:]
            elif key == "material":
                self.materials.append(_material(value.split()))
            elif key == "gravity":
                self.gravity = np.array(value.split(), float)
            elif key in ("dt", "friction"):
                setattr(self, key, float(value))
            elif key == "friction_pair":
                a, b, mu = value.split()
                self.friction_pairs.append((int(a), int(b), float(mu)))
            elif key == "bodies":
                self.bodies = int(value)
            elif key == "bounds":
                words = value.split()
                self.bounds = dict(zip(words[::2], map(float, words[1::2])))
            elif key in ("name", "element"):
                setattr(self, key, value)
            elif key in ("needs", "obstacles"):
                setattr(self, key, value.split())
            at += 1
        self.nodes = len(self.mass)

    def friction_of(self, face, vertex):
        """Coulomb's mu of contacts: whether each is of a vertex and a face, and its four vertices. A
        feature has the names that all its vertices have; the last pair that fits counts."""
        mu = np.full(len(vertex), self.friction)
        if not self.friction_pairs:
            return mu
        n = self.friction_names[vertex]
        one = np.where(face, n[:, 0], n[:, 0] & n[:, 1])
        other = np.where(face, n[:, 1], -1) & n[:, 2] & n[:, 3]
        for a, b, value in self.friction_pairs:
            fits = (one >> a & other >> b | one >> b & other >> a) & 1 == 1
            mu[fits] = value
        return mu


def _lines(data):
    """The lines of text before "end"."""
    start = 0
    while True:
        length = int(np.argmax(data[start:start + 65536] == 10))
        line = bytes(data[start:start + length]).decode()
        if line == "end":
            return
        yield line
        start += length + 1


def _material(words):
    """Region and kind, then names and values."""
    out = {"kind": words[1]}
    for name, value in zip(words[2::2], words[3::2]):
        out[name] = value if name in ("fibre", "integration") else float(value)
    return out


class Step:
    """The inputs of a step: number, time, dt, activation (a region each); x and v at its start,
    force (f_ext there), target and fixed (which nodes are held, and where they are at its end),
    place and stiffness of the springs at its end; obstacle and obstacle_end, where the vertices of
    the obstacles are at both."""


def contact_rows(kind, vertex, weight, normal, distance, force):
    """Contacts for Done, a row each: kind 0 (a vertex and the corners of a face) or 1 (the ends of
    two edges), their 4 vertices, the weights of the two points (those of the first feature sum to
    1, those of the second to -1), the unit normal from the second to the first, the distance that
    is asked for along it at the end of the step, and the force of the second on the first."""
    return np.column_stack([np.asarray(a, float) for a in (kind, vertex, weight, normal, distance,
                                                           force)])


class Done:
    """What a step gives back. reason is a name of eb_reason without EB_ ("CONVERGED_RTOL"), phases
    and counters are dictionaries by the names of problems/step.h, residuals pairs of a value and
    the seconds since the step began, norm what they are, with the unit in brackets, contacts what
    contact_rows makes of them."""

    def __init__(self, x, v, reason, iterations=0, residuals=(), norm="", phases=None, counters=None,
                 equation=None, linearization=None, contacts=()):
        self.x, self.v, self.reason, self.iterations = x, v, reason, iterations
        self.residuals, self.norm = residuals, norm
        self.phases, self.counters = phases or {}, counters or {}
        self.equation, self.linearization = equation, linearization
        self.contacts = np.asarray(contacts, float).reshape(-1, _CONTACT_NUMBERS)


class Solver:
    """The class that yours derives from."""
    name = "unnamed"
    serves = "tetrahedra hyperelastic"  # what scenes may ask for; README.md lists the words
    update = "end-velocity"             # how positions follow from velocities
    equation = "implicit Euler"         # what a step solves
    hessian = False                     # whether hessian() below is called

    def setup(self):
        """Before the first step; timed as set-up. self.scene is there, and threads and seed."""

    def step(self, s):
        raise NotImplementedError

    def energy(self, x):
        """Elastic energy at x, J."""
        return self._evaluate(x, "energy\n")[0]

    def gradient(self, x):
        """Its gradient, N: the internal force is -gradient."""
        return self._evaluate(x, "gradient\n").reshape(-1, 3)

    def energy_gradient(self, x):
        values = self._evaluate(x, "energy\ngradient\n")
        return values[0], values[1:].reshape(-1, 3)

    def gradient_hessian(self, x, mass_scale=0.0, hessian_scale=1.0, projected=True):
        """The gradient, and mass_scale M + hessian_scale d2W/dx2 in blocks of 3 x 3: row i has
        blocks scene.pattern_start[i] to pattern_start[i + 1], of columns scene.pattern_column."""
        text = "gradient\nhessian %.17g %.17g%s\n" % (mass_scale, hessian_scale,
                                                     " projected" if projected else "")
        values = self._evaluate(x, text)
        n = 3 * self.scene.nodes
        return values[:n].reshape(-1, 3), values[n:].reshape(-1, 3, 3)

    def _evaluate(self, x, text):
        self._link.send(b"EVAL", text, np.ascontiguousarray(x, "<f8"))
        kind, _, body = self._link.receive()
        if kind != b"VALS":
            raise RuntimeError("elastobench has sent %r where VALS is due" % kind)
        return np.frombuffer(body, "<f8")


class _Link:
    def __init__(self):
        try:
            self.socket = socket.socket(fileno=_SOCKET)
        except OSError:
            sys.exit("this program is a solver: elastobench run SCENE -s \"external:%s\" starts it"
                     % " ".join(sys.argv))

    def send(self, kind, text, *arrays):
        views = [memoryview(a).cast("B") for a in arrays if a.size]
        text = text.encode()
        self.socket.sendall(_HEAD.pack(kind, len(text), sum(len(v) for v in views)) + text)
        for view in views:
            self.socket.sendall(view)

    def _read(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            got = self.socket.recv_into(view)
            if got == 0:
                raise EOFError
            view = view[got:]
        return data

    def receive(self):
        kind, text, body = _HEAD.unpack(self._read(_HEAD.size))
        return kind, self._read(text).decode(), self._read(body)


def _pairs(text):
    return dict(line.split(" ", 1) for line in text.splitlines())


def _read_step(scene, text, body):
    s, words, n = Step(), _pairs(text), 3 * scene.nodes
    s.number, s.time, s.dt = int(words["step"]), float(words["time"]), float(words["dt"])
    s.activation = np.array(words["activation"].split(), float)
    springs = len(getattr(scene, "spring_node", ()))
    obstacles = 3 * len(scene.obstacle)
    numbers = np.frombuffer(body, "<f8", 4 * n + 4 * springs + 2 * obstacles)
    s.x, s.v, s.force, s.target = (numbers[k * n:(k + 1) * n].reshape(-1, 3) for k in range(4))
    s.place = numbers[4 * n:4 * n + 3 * springs].reshape(-1, 3)
    s.stiffness = numbers[4 * n + 3 * springs:4 * n + 4 * springs]
    s.obstacle, s.obstacle_end = numbers[4 * n + 4 * springs:].reshape(2, -1, 3)
    s.fixed = np.frombuffer(body, "u1", scene.nodes, numbers.nbytes).astype(bool)
    return s


def _send_done(link, solver, done, seconds):
    lines = ["reason " + done.reason, "iterations %d" % done.iterations, "seconds %.9g" % seconds,
             "equation " + (done.equation or solver.equation), "residuals %d" % len(done.residuals),
             "contacts %d" % len(done.contacts)]
    if done.norm:
        lines.append("norm " + done.norm)
    if done.linearization:
        lines.append("linearization %.17g %.17g %s" % tuple(done.linearization))
    lines += ["phase %s %.9g" % pair for pair in done.phases.items()]
    lines += ["counter %s %.17g" % pair for pair in done.counters.items()]
    residuals = np.array(done.residuals, "<f8").reshape(-1, 2).T
    link.send(b"DONE", "\n".join(lines) + "\n", np.ascontiguousarray(done.x, "<f8"),
              np.ascontiguousarray(done.v, "<f8"), np.ascontiguousarray(residuals),
              np.ascontiguousarray(done.contacts, "<f8"))


def _serve(link, solver):
    link.send(b"HELO", "protocol %d\nname %s\nserves %s\nupdate %s\nhessian %s\n" % (
        PROTOCOL, solver.name, solver.serves, solver.update, "yes" if solver.hessian else "no"))
    _, text, _ = link.receive()
    words = _pairs(text)
    solver.threads, solver.seed = int(words["threads"]), int(words["seed"])
    solver.scene = Scene("/proc/self/fd/%d" % _SCENE)
    solver.setup()
    link.send(b"REDY", "")
    while True:
        _, text, body = link.receive()
        began = time.perf_counter()
        done = solver.step(_read_step(solver.scene, text, body))
        _send_done(link, solver, done, time.perf_counter() - began)


def serve(solver_class):
    """Answers elastobench until it has no more steps."""
    link, solver = _Link(), solver_class()
    solver._link = link
    try:
        _serve(link, solver)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except Exception as error:
        traceback.print_exc()
        link.send(b"FAIL", "%s: %s" % (type(error).__name__, error))
        sys.exit(1)
