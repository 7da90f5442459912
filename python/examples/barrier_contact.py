"""Implicit Euler with contact and friction: a barrier keeps bodies apart, Newton's method minimizes.

    elastobench run two-blocks.ini -s contact-al -s "external:python3 barrier_contact.py" -o r.h5

(problems/scenes/examples/two-blocks.ini).

Each pair of features of two bodies that are a distance d < D apart, D the largest that the audit
lets contacts ask for, adds b(d) to the potential (after Li et al., "Incremental Potential Contact",
2020),

    b(d) = -k (d - D)^2 ln(d / D),   k of the mass of a node over h^2,

and pushes with -b'(d) along the shortest way between them. Friction is the gradient of
mu f |u|, f the push and u the slip of the step, rounded off below the slip that the audit calls
none; pushes and ways in it are those of the solution before, until they change no more. The
distance that a contact asks for is the one where its barrier holds it, so that its force is
that of a contact.

Bodies are not kept from crossing themselves. Every two bodies are compared as a whole: for a few.
"""
import time

import numpy as np

import elastobench as eb
from implicit_euler import Blocks, conjugate_gradients

SAFE = 0.9      # of the way to the first touch that a step may go
ROUNDED = 0.1   # of the slip that sticking contacts may have


def dot(a, b):
    return np.einsum("...d,...d->...", a, b)


def from_segment(x, point, a, b):
    """Weights of the shortest way from the segment (a, b) to the point."""
    u = x[:, b] - x[:, a]
    t = np.clip(dot(x[:, point] - x[:, a], u) / dot(u, u), 0, 1)
    w = np.zeros(x.shape[:2])
    w[:, point], w[:, a], w[:, b] = 1, t - 1, -t
    return w


def across(x, face):
    """The same between the insides of both features, and where it is there."""
    u, v = (x[:, 2] - x[:, 1], x[:, 3] - x[:, 1]) if face else (x[:, 1] - x[:, 0], x[:, 3] - x[:, 2])
    off = x[:, 0] - x[:, 1 if face else 2]
    n = np.cross(u, v)
    size = dot(n, n)
    size = np.where(size > 1e-12 * dot(u, u) * dot(v, v), size, np.inf)
    if face:
        s, t = dot(np.cross(off, v), n) / size, dot(np.cross(u, off), n) / size
        w = np.stack([np.ones_like(s), s + t - 1, -s, -t], 1)
        return w, (s >= 0) & (t >= 0) & (s + t <= 1) & (size < np.inf)
    s, t = dot(np.cross(v, off), n) / size, dot(np.cross(u, off), n) / size
    w = np.stack([1 - s, s, t - 1, -t], 1)
    return w, (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1) & (size < np.inf)


def shortest(x, face):
    """Weights of the shortest way from the second feature to the first, and that way."""
    if face:
        tries = [from_segment(x, 0, a, b) for a, b in ((1, 2), (2, 3), (3, 1))]
    else:
        tries = [from_segment(x, p, 2, 3) for p in (0, 1)] + [-from_segment(x, p, 0, 1) for p in (2, 3)]
    ways = [np.einsum("ki,kid->kd", w, x) for w in tries]
    best = np.argmin([dot(way, way) for way in ways], 0)
    w = np.choose(best[:, None], tries)
    between, there = across(x, face)
    w[there] = between[there]
    return w, np.einsum("ki,kid->kd", w, x)


class Pairs:
    """Pairs of features: kind (0: vertex and face, 1: two edges) and their vertices, weights,
    distance and normal at the places that measure() was shown last, and the share of the barrier:
    edges that are all but parallel leave it to their ends."""

    def __init__(self, vertex=np.zeros((0, 4), int), faces=0):
        self.vertex, self.faces = vertex, faces
        self.kind = (np.arange(len(vertex)) >= faces).astype(int)

    def measure(self, x):
        at = x[self.vertex]
        parts = [shortest(at[:self.faces], True), shortest(at[self.faces:], False)]
        self.weight, way = (np.concatenate(p) for p in zip(*parts))
        self.distance = np.sqrt(dot(way, way))
        self.normal = way / np.maximum(self.distance, 1e-300)[:, None]
        return self

    def share_by(self, x):
        at = x[self.vertex[self.faces:]]
        u, v = at[:, 1] - at[:, 0], at[:, 3] - at[:, 2]
        n = np.cross(u, v)
        sine2 = dot(n, n) / (dot(u, u) * dot(v, v))
        self.share = np.concatenate([np.ones(self.faces), np.minimum(1, sine2 / 1e-3)])
        return self

    def of(self, chosen):
        out = Pairs(self.vertex[chosen], int(np.count_nonzero(chosen[:self.faces])))
        for name in ("weight", "distance", "normal", "share"):
            setattr(out, name, getattr(self, name)[chosen])
        return out

    def scatter(self, forces, count):
        """The sum of weight times force of every pair on `count` vertices."""
        out = np.zeros((count, 3))
        np.add.at(out, self.vertex, self.weight[:, :, None] * forces[:, None, :])
        return out


class Surfaces:
    """Features of every body, and which of them may meet on a motion."""

    def __init__(self, scene):
        self.bodies, count = scene.bodies, scene.bodies + len(scene.obstacles)
        self.faces = [scene.contact_triangle[scene.contact_body == b] for b in range(count)]
        self.points = [np.unique(f)[:, None] for f in self.faces]
        self.edges = [np.unique(np.sort(f[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), 1), axis=0)
                      for f in self.faces]

    @staticmethod
    def boxes(features, lo, hi):
        return lo[features].min(1), hi[features].max(1)

    def meet(self, one, other, lo, hi):
        """Pairs of rows of two lists whose boxes overlap."""
        (lo1, hi1), (lo2, hi2) = self.boxes(one, lo, hi), self.boxes(other, lo, hi)
        # Of the first only what is in the box around the second, and the other way round.
        near1 = np.flatnonzero(np.all((lo1 <= hi2.max(0)) & (hi1 >= lo2.min(0)), 1))
        near2 = np.flatnonzero(np.all((lo2 <= hi1.max(0)) & (hi2 >= lo1.min(0)), 1))
        i, j = np.nonzero(np.all((lo1[near1, None] <= hi2[near2]) & (hi1[near1, None] >= lo2[near2]), 2))
        return np.column_stack([one[near1[i]], other[near2[j]]])

    def pairs(self, x, way, grow):
        """All that may be nearer than `grow` on the way from x to x + way."""
        lo, hi = np.minimum(x, x + way) - grow / 2, np.maximum(x, x + way) + grow / 2
        faces, edges = [np.zeros((0, 4), int)], [np.zeros((0, 4), int)]
        for a in range(self.bodies):
            for b in range(a + 1, len(self.faces)):
                faces.append(self.meet(self.points[a], self.faces[b], lo, hi))
                faces.append(self.meet(self.points[b], self.faces[a], lo, hi))
                edges.append(self.meet(self.edges[a], self.edges[b], lo, hi))
        faces = np.concatenate(faces)
        return Pairs(np.concatenate([faces] + edges), len(faces))


def free_part(pairs, x, way):
    """How much of the way may be gone so that no pair loses more than SAFE of its distance: on and
    on by what the speeds of the features allow."""
    if not len(pairs.vertex):
        return 1.0
    speed = np.sqrt(dot(way, way))[pairs.vertex]
    split = np.where(pairs.kind == 0, 1, 2)[:, None]
    first = np.arange(4) < split
    speed = np.where(first, speed, 0).max(1) + np.where(first, 0, speed).max(1)
    least = (1 - SAFE) * pairs.measure(x).distance
    part = 0.0
    while True:
        more = np.min((pairs.distance - least) / np.maximum(speed, 1e-300))
        if part + more >= 1 or more < 1e-3:
            return min(part + max(more, 0), 1.0)
        part += more
        pairs.measure(x + part * way)


class Friction:
    """Of pairs with their pushes, which stay as they are; x0: where slips begin."""

    def __init__(self, pairs, mu, x0, rounded):
        self.pairs, self.limit, self.x0, self.rounded = pairs, mu * pairs.push, x0, rounded

    def slip(self, x):
        p = self.pairs
        u = np.einsum("ki,kid->kd", p.weight, (x - self.x0)[p.vertex])
        return u - dot(u, p.normal)[:, None] * p.normal

    def energy(self, x):
        u = self.slip(x)
        size = np.sqrt(dot(u, u))
        return np.sum(self.limit * np.where(size < self.rounded, size**2 / (2 * self.rounded),
                                            size - self.rounded / 2))

    def forces(self, x):
        """Of the second features on the first."""
        u = self.slip(x)
        return -(self.limit / np.maximum(np.sqrt(dot(u, u)), self.rounded))[:, None] * u

    def hessian(self, x):
        """Blocks of 3 x 3 in the space of the slip."""
        u, n = self.slip(x), self.pairs.normal
        size = np.sqrt(dot(u, u))
        along = u / np.maximum(size, 1e-300)[:, None] * (size > self.rounded)[:, None]
        blocks = np.eye(3) - n[:, :, None] * n[:, None] - along[:, :, None] * along[:, None]
        return (self.limit / np.maximum(size, self.rounded))[:, None, None] * blocks


class System:
    """The matrix of a Newton step: that of the elements, and blocks of 3 x 3 between the points of
    pairs."""

    def __init__(self, elements, hessian, fixed, terms):
        self.elements, self.free, self.terms = elements, ~fixed, terms
        self.whole = hessian
        elements.take(hessian, fixed)
        diagonal = elements.values[elements.diagonal]
        for pairs, blocks in terms:
            for i in range(4):
                on = pairs.vertex[:, i] < len(fixed)
                np.add.at(diagonal, pairs.vertex[on, i],
                          (pairs.weight[on, i]**2)[:, None, None] * blocks[on])
        diagonal[fixed] = np.eye(3)
        self.inverse = np.linalg.inv(diagonal)

    def pull(self, way):
        """What the pairs make of displacements of all vertices."""
        out = np.zeros_like(way)
        for pairs, blocks in self.terms:
            u = np.einsum("ki,kid->kd", pairs.weight, way[pairs.vertex])
            out += pairs.scatter(np.einsum("kij,kj->ki", blocks, u), len(way))
        return out

    def times(self, p):
        way = np.zeros((self.count, 3))
        way[:len(p)] = p
        return self.elements.times(p) + self.pull(way)[:len(p)] * self.free[:, None]

    def known(self, way):
        """The part of displacements that are prescribed."""
        e, n = self.elements, len(self.free)
        p = np.where(self.free[:, None], 0, way[:n])
        way = np.concatenate([p, way[n:]])
        self.count = len(way)
        return np.add.reduceat(np.einsum("kij,kj->ki", self.whole, p[e.column]), e.start) + self.pull(way)[:n]


class Progress:
    def __init__(self):
        self.residuals, self.iterations, self.linear, self.began = [], 0, 0, time.perf_counter()


class BarrierContact(eb.Solver):
    name = "barrier-contact.py 1.0"
    serves = "tetrahedra hexahedra hyperelastic corotational fibres scripted colliders contact"
    hessian = True

    def setup(self):
        scene = self.scene
        self.elements = Blocks(scene.pattern_start, scene.pattern_column)
        self.mass = scene.mass[:, None]
        self.surfaces = Surfaces(scene)
        # Scenes without contact have no bounds, nor pairs.
        self.reach, self.slack = scene.bounds.get("gap", 1e-4), scene.bounds.get("momentum", np.inf)
        self.rounded = ROUNDED * scene.bounds.get("distance", np.inf)
        self.stiffness = scene.mass.mean() / scene.dt**2

    # ---- the barrier, in parts of its stiffness

    def barrier(self, d):
        D = self.reach
        d = np.minimum(d, D)
        return self.stiffness * -(d - D)**2 * np.log(d / D)

    def push(self, d):
        D = self.reach
        d = np.minimum(d, D)
        return self.stiffness * (2 * (d - D) * np.log(d / D) + (d - D)**2 / d)

    def curvature(self, d):
        D = self.reach
        d = np.minimum(d, D)
        return self.stiffness * (-2 * np.log(d / D) - 4 * (d - D) / d + (d - D)**2 / d**2)

    # ---- a step

    def touching(self, x):
        """Pairs within reach at x, where the barrier acts."""
        pairs = self.surfaces.pairs(x, np.zeros_like(x), self.reach).measure(x)
        pairs = pairs.share_by(self.start).of(pairs.distance < self.reach)
        pairs.push = pairs.share * self.push(pairs.distance)
        return pairs

    def rub(self, x):
        """They, and the friction of what they push there."""
        pairs = self.touching(x)
        mu = self.scene.friction_of(pairs.kind == 0, pairs.vertex)
        return pairs, Friction(pairs, mu, self.start, self.rounded)

    def value(self, x, s, pairs, friction):
        n = self.scene.nodes
        d = x[:n] - self.predicted
        barrier = np.sum(pairs.share * self.barrier(pairs.measure(x).distance))
        return (np.sum(self.mass * d * d) / (2 * s.dt**2) + self.energy(x[:n]) - np.vdot(s.force, x[:n])
                + barrier + friction.energy(x))

    def gradient_at(self, x, s, pairs, friction, elastic):
        """Of the potential by the free nodes; `elastic` that of the elements."""
        n = self.scene.nodes
        forces = pairs.scatter(pairs.push[:, None] * pairs.normal, len(x))
        forces += friction.pairs.scatter(friction.forces(x), len(x))
        g = elastic + self.mass * (x[:n] - self.predicted) / s.dt**2 - s.force - forces[:n]
        g[s.fixed] = 0
        return g

    def newton(self, x, s, friction, progress):
        """Minimizes from x on, which is changed."""
        n = self.scene.nodes
        for _ in range(100):
            elastic, hessian = self.gradient_hessian(x[:n], 1 / s.dt**2, 1)
            pairs = self.touching(x)
            g = self.gradient_at(x, s, pairs, friction, elastic)
            way = np.zeros_like(x)  # of what is prescribed, as far as it has not come yet
            way[:n] = np.where(s.fixed[:, None], s.target - x[:n], 0)
            way[n:] = s.obstacle_end - x[n:]
            arrived, norm = not way.any(), np.linalg.norm(g)
            tolerance = 0.1 * self.tolerance(s, elastic)
            if arrived and norm <= tolerance:
                return
            stiff = (pairs.share * self.curvature(pairs.distance))[:, None, None]
            system = System(self.elements, hessian, s.fixed,
                            [(pairs, stiff * pairs.normal[:, :, None] * pairs.normal[:, None]),
                             (friction.pairs, friction.hessian(x))])
            right = np.where(s.fixed[:, None], 0, -g - system.known(way))
            d, steps = conjugate_gradients(system, right, min(1e-2, tolerance / norm), 2000)
            way[:n] += d
            progress.linear += steps
            progress.iterations += 1
            ahead = self.surfaces.pairs(x, way, self.reach)
            length = free_part(ahead, x, way)
            ahead.share_by(self.start)
            if arrived:
                first, slope = self.value(x, s, ahead, friction), np.vdot(g, d)
                while length > 1e-9 and (self.value(x + length * way, s, ahead, friction)
                                         > first + 1e-4 * length * slope):
                    length /= 2
            x += length * way
            if length == 1:  # to the last digit
                x[:n][s.fixed], x[n:] = s.target[s.fixed], s.obstacle_end

    def tolerance(self, s, elastic):
        return min(1e-4 * (np.linalg.norm(elastic) + np.linalg.norm(s.force)),
                   0.2 * self.slack / s.dt)

    def step(self, s):
        n, progress = self.scene.nodes, Progress()
        self.start = np.concatenate([s.x, s.obstacle])
        self.predicted = s.x + s.dt * s.v
        x, reason = self.start.copy(), "DIVERGED_MAX_IT"
        pairs, friction = self.rub(x)
        for _ in range(50):
            self.newton(x, s, friction, progress)
            # What is left with the friction of the contacts that there are now.
            pairs, friction = self.rub(x)
            elastic = self.gradient(x[:n])
            norm = np.linalg.norm(self.gradient_at(x, s, pairs, friction, elastic))
            progress.residuals.append((norm, time.perf_counter() - progress.began))
            if norm <= self.tolerance(s, elastic):
                reason = "CONVERGED_RTOL"
                break
        forces = pairs.push[:, None] * pairs.normal + friction.forces(x)
        return eb.Done(x[:n], (x[:n] - s.x) / s.dt, reason, iterations=progress.iterations,
                       residuals=progress.residuals, norm="|grad W|_2 (N)",
                       counters={"linear_iterations": progress.linear},
                       contacts=eb.contact_rows(pairs.kind, pairs.vertex, pairs.weight, pairs.normal,
                                                pairs.distance, forces))


if __name__ == "__main__":
    eb.serve(BarrierContact)
