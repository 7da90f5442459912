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


def from_segment(p, a, b):
    """Ways from segments to points."""
    d = b - a
    t = np.clip(dot(p - a, d) / np.maximum(dot(d, d), 1e-300), 0, 1)
    return p - a - t[:, None] * d


def shortest(ways):
    """Of several ways a row, those without direction being none, the shortest."""
    ways = np.stack(ways)
    return ways[np.argmin(np.linalg.norm(ways, axis=2), axis=0), np.arange(ways.shape[1])]


def across(inside, p, n):
    """The ways of p along n where they are inside, and far ones elsewhere."""
    size2 = dot(n, n)
    return np.where((inside & (size2 > 0))[:, None], (dot(p, n) / np.maximum(size2, 1e-300))[:, None] * n, 1e150)


def vertex_face(x):
    """The shortest ways from faces to vertices."""
    p, a, b, c = (x[:, k] for k in range(4))
    n = np.cross(b - a, c - a)
    s, t = dot(np.cross(b - a, p - a), n), dot(np.cross(p - a, c - a), n)
    inside = (s >= 0) & (t >= 0) & (s + t <= dot(n, n))
    return shortest([from_segment(p, a, b), from_segment(p, b, c), from_segment(p, c, a), across(inside, p - a, n)])


def edge_edge(x):
    """The shortest ways from second edges to first ones."""
    a, b, c, d = (x[:, k] for k in range(4))
    n = np.cross(b - a, d - c)
    size2 = dot(n, n)
    s, t = dot(np.cross(c - a, d - c), n), dot(np.cross(c - a, b - a), n)
    inside = (s >= 0) & (s <= size2) & (t >= 0) & (t <= size2)
    return shortest([from_segment(a, c, d), from_segment(b, c, d), -from_segment(c, a, b), -from_segment(d, a, b), across(inside, a - c, n)])


def angle_between(a, b):
    """In degrees; 180 where b has no direction."""
    angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), dot(a, b)))
    return np.where(dot(b, b) > 0, angle, 180)


def normal_off(face, w, n, x0, x1):
    """The least angle between normals and geometry on the way: to the shortest way between the features and to the normal across them, on the side
    of the start, at nine places and, where the shortest way turns by two degrees or more between two, halfway between them, again and again."""
    start, least = np.einsum("ki,kid->kd", w, x0), np.full(len(w), 180.0)

    def look(k, t):
        x = x0[k] + t[:, None, None] * (x1[k] - x0[k])
        of_face = face[k, None]
        a = np.where(of_face, x[:, 2] - x[:, 1], x[:, 1] - x[:, 0])
        b = np.where(of_face, x[:, 3] - x[:, 1], x[:, 3] - x[:, 2])
        plane = np.cross(a, b)
        plane *= np.where(dot(plane, start[k]) < 0, -1, 1)[:, None]
        plane[dot(plane, plane) <= 1e-18 * dot(a, a) * dot(b, b)] = 0
        along = np.where(of_face, vertex_face(x), edge_edge(x))
        np.minimum.at(least, k, np.minimum(angle_between(n[k], along), angle_between(n[k], plane)))
        return along

    every = np.arange(len(w))
    ways = [look(every, np.full(len(w), p / 8)) for p in range(9)]
    k, from_t, to_t = np.tile(every, 8), np.repeat(np.arange(8), len(w)) / 8, np.repeat(np.arange(1, 9), len(w)) / 8
    from_way, to_way = np.concatenate(ways[:-1]), np.concatenate(ways[1:])
    while True:
        on = (to_t - from_t >= 1 / 65536) & ~(angle_between(from_way, to_way) < 2)
        if not on.any():
            return least
        k, from_t, to_t, from_way, to_way = k[on], from_t[on], to_t[on], from_way[on], to_way[on]
        middle_t = (from_t + to_t) / 2
        middle = look(k, middle_t)
        k, from_t, to_t = np.tile(k, 2), np.concatenate([from_t, middle_t]), np.concatenate([middle_t, to_t])
        from_way, to_way = np.concatenate([from_way, middle]), np.concatenate([middle, to_way])


def bent_paths(scene, bodies, before, after, x0, x1, dt):
    """How far the path of every vertex is from the straight one of its body's end velocity, which solvers linearize to."""
    bent = np.zeros(len(x0))
    if bodies is not None:
        on, nodes = bodies.of_node[bodies.riders], bodies.riders
        twist, arm = after["body_twist"][on], x0[nodes] - before["body_pose"][on, :3]
        straight = dt * (twist[:, :3] + np.cross(twist[:, 3:], arm))
        bent[nodes] = np.linalg.norm(x1[nodes] - x0[nodes] - straight, axis=1)
    return bent


def law(contacts, x0, x1, bent, mu, slipping, turning):
    """The columns contact_*, largest over the sound contacts, and the norm of what forces are off the law: pulls, friction beyond the cone and,
    where a contact slips inside it or off the direction by more than `turning` degrees, what it is off mu r_n against the slip."""
    w, R, r = contacts["weight"], contacts["frame"], contacts["force"]
    vertex, face = contacts["vertices"], contacts["kind"] == 0
    out = dict.fromkeys(("active", "violation", "open", "apart", "true_gap", "normal", "sliding", "cone", "angle"), 0.0) | {"count": len(w)}
    if not len(w):
        return out, 0.0
    way = np.einsum("ki,kid->kd", w, x1[vertex] - x0[vertex])
    u = np.einsum("kij,kj->ki", R, way)
    u[:, 0] -= contacts["demand"][:, 0]
    slack = np.einsum("ki,ki->k", np.abs(w), bent[vertex])
    push, friction, slip = r[:, 0], np.hypot(r[:, 1], r[:, 2]), np.hypot(u[:, 1], u[:, 2]) - slack
    on = push > 0
    apart = np.linalg.norm(np.where(face[:, None], vertex_face(x1[vertex]), edge_edge(x1[vertex])), axis=1)
    turned = normal_off(face, w, R[:, 0], x0[vertex], x1[vertex])
    demand = contacts["demand"][:, 0] + np.einsum("kj,ki,kij->k", R[:, 0], w, x0[vertex])
    limit = mu * np.maximum(push, 0)
    sticks = friction < (1 - 1e-6) * limit
    slides = ~sticks & (limit > 0) & (slip > slipping)
    angle = np.degrees(np.arctan2(np.abs(r[:, 1] * u[:, 2] - r[:, 2] * u[:, 1]), -(r[:, 1] * u[:, 1] + r[:, 2] * u[:, 2])))
    largest = lambda values, where=slice(None): max(0.0, values[where].max(initial=0))
    excess = np.maximum(np.maximum(-push, friction - limit), 0)
    against = limit[:, None] * u[:, 1:] / np.maximum(np.hypot(u[:, 1], u[:, 2]), 1e-300)[:, None]
    lost = (slip > slipping) & sticks | slides & (angle > turning)
    off = np.where(lost, np.maximum(excess, np.linalg.norm(r[:, 1:] + against, axis=1)), excess)
    least = 0.2 * (largest(push) or largest(np.linalg.norm(r, axis=1)))
    return out | {"active": int(on.sum()), "violation": largest(-u[:, 0] - slack), "open": largest(np.abs(u[:, 0]) - slack, on),
                  "apart": largest(apart, on), "true_gap": largest(np.abs(apart - demand) - slack - np.hypot(u[:, 1], u[:, 2]), on), "sliding": largest(slip, sticks), "angle": largest(angle, slides), "normal": largest(turned, on),
                  "cone": largest(excess / np.maximum(np.maximum(limit, least), 1e-300))}, float(np.linalg.norm(off))


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
