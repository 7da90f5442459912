"""Contact as constraints: what the recorded contacts of a step say against the positions (Verschoor and Jalba 2019, Equations 7 and 14:
0 <= u_n perp r_n >= 0, |r_t| <= mu r_n, friction against the slip), and whether their forces explain the motion."""
import numpy as np


def dot(a, b):
    return np.einsum("...i,...i->...", a, b)


def scatter(index, vectors, count):
    """The sum of the vectors of every index, count x 3."""
    index, vectors = index.ravel(), vectors.reshape(-1, 3)
    return np.stack([np.bincount(index, vectors[:, d], minlength=count) for d in range(3)], axis=1)


def obstacle_vertices(scene, at):
    if scene.obstacles is None:
        return np.zeros((0, 3))
    pose = at["obstacle_pose"][scene.obstacles["obstacle"]]
    return np.einsum("nij,nj->ni", pose[:, :9].reshape(-1, 3, 3), scene.obstacles["vertices"]) + pose[:, 9:]


def segment(p, a, b):
    """Distances of points from segments."""
    d = b - a
    t = np.clip(dot(p - a, d) / np.maximum(dot(d, d), 1e-300), 0, 1)
    return np.linalg.norm(p - a - t[:, None] * d, axis=1)


def vertex_face(x):
    p, a, b, c = (x[:, k] for k in range(4))
    edges = np.minimum(np.minimum(segment(p, a, b), segment(p, b, c)), segment(p, c, a))
    n = np.cross(b - a, c - a)
    size2 = dot(n, n)
    s, t = dot(np.cross(b - a, p - a), n), dot(np.cross(p - a, c - a), n)
    above = (size2 > 0) & (s >= 0) & (t >= 0) & (s + t <= size2)
    height = np.abs(dot(p - a, n)) / np.sqrt(np.maximum(size2, 1e-300))
    return np.where(above, np.minimum(edges, height), edges)


def edge_edge(x):
    a, b, c, d = (x[:, k] for k in range(4))
    ends = np.minimum(np.minimum(segment(a, c, d), segment(b, c, d)), np.minimum(segment(c, a, b), segment(d, a, b)))
    n = np.cross(b - a, d - c)
    size2 = dot(n, n)
    s, t = dot(np.cross(c - a, d - c), n), dot(np.cross(c - a, b - a), n)
    inside = (size2 > 0) & (s >= 0) & (s <= size2) & (t >= 0) & (t <= size2)
    height = np.abs(dot(c - a, n)) / np.sqrt(np.maximum(size2, 1e-300))
    return np.where(inside, np.minimum(ends, height), ends)


def bent_paths(scene, bodies, before, after, x0, x1, dt):
    """How far the path of every vertex is from the straight one of its body's end velocity, which solvers linearize to."""
    bent = np.zeros(len(x0))
    if bodies is not None:
        on, nodes = bodies.of_node[bodies.riders], bodies.riders
        twist, arm = after["body_twist"][on], x0[nodes] - before["body_pose"][on, :3]
        straight = dt * (twist[:, :3] + np.cross(twist[:, 3:], arm))
        bent[nodes] = np.linalg.norm(x1[nodes] - x0[nodes] - straight, axis=1)
    return bent


def law(contacts, x0, x1, bent, mu):
    """The columns contact_*: largest over the sound contacts."""
    w, R, r = contacts["weight"], contacts["frame"], contacts["force"]
    vertex, face = contacts["vertices"], contacts["kind"] == 0
    out = dict.fromkeys(("active", "violation", "open", "apart", "true_gap", "sliding", "cone", "angle"), 0.0) | {"count": len(w)}
    if not len(w):
        return out
    way = np.einsum("ki,kid->kd", w, x1[vertex] - x0[vertex])
    u = np.einsum("kij,kj->ki", R, way)
    u[:, 0] -= contacts["demand"][:, 0]
    slack = np.einsum("ki,ki->k", np.abs(w), bent[vertex])
    push, friction, slip = r[:, 0], np.hypot(r[:, 1], r[:, 2]), np.hypot(u[:, 1], u[:, 2]) - slack
    on = push > 0
    apart = np.where(face, vertex_face(x1[vertex]), edge_edge(x1[vertex]))
    demand = contacts["demand"][:, 0] + np.einsum("kj,ki,kij->k", R[:, 0], w, x0[vertex])
    limit = mu * np.maximum(push, 0)
    sticks = friction < (1 - 1e-6) * limit
    slides = ~sticks & (limit > 0) & (slip > contacts["eps2"])
    angle = np.degrees(np.arctan2(np.abs(r[:, 1] * u[:, 2] - r[:, 2] * u[:, 1]), -(r[:, 1] * u[:, 1] + r[:, 2] * u[:, 2])))
    largest = lambda values, where=slice(None): max(0.0, values[where].max(initial=0))
    cone = max(largest(-push), largest(friction - limit))
    size = largest(push) or largest(np.linalg.norm(r, axis=1))
    return out | {"active": int(on.sum()), "violation": largest(-u[:, 0] - slack), "open": largest(np.abs(u[:, 0]) - slack, on),
                  "apart": largest(apart, on), "true_gap": largest(np.abs(apart - demand) - slack - np.hypot(u[:, 1], u[:, 2]), on), "sliding": largest(slip, sticks), "angle": largest(angle, slides),
                  "cone": cone / size if cone > 0 else 0.0}


def forces(contacts, vertices):
    """Forces of contact on every vertex, vertices x 3, N."""
    world = np.einsum("kij,ki->kj", contacts["frame"], contacts["force"])
    each = contacts["weight"][:, :, None] * world[:, None, :]
    return scatter(contacts["vertices"], each, vertices)


def balance(part, held, mass, rider, bodies, before, after, force, dt):
    """The largest momentum of a body without scripted nodes that no force explains, kg m/s, and the size of its terms."""
    count = part.max() + 1
    left, size = np.zeros((count, 3)), np.zeros(count)

    def add(parts, terms):
        left[:] += scatter(parts, terms, count)
        size[:] += np.bincount(parts, np.linalg.norm(terms, axis=1), minlength=count)

    soft = rider < 0
    add(part[soft], mass[soft, None] * after["velocities"][soft])
    add(part[soft], -mass[soft, None] * before["velocities"][soft])
    add(part, -dt * force)
    for b in range(0 if bodies is None else len(bodies.mass)):
        of = part[np.flatnonzero(rider == b)[:1]]
        add(of, bodies.mass[b] * after["body_twist"][b:b + 1, :3])
        add(of, -bodies.mass[b] * before["body_twist"][b:b + 1, :3])
    free = np.ones(count, bool)
    free[part[held]] = False
    size = size[free].max(initial=0)
    return np.linalg.norm(left[free], axis=1).max(initial=0), size
