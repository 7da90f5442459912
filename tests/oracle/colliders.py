"""Analytic solids: signed distance and outward normal of many points, and the penalty of explicit colliders."""
import numpy as np


def unit(v, otherwise):
    """|v| and the direction of v, or another one where v vanishes."""
    length = np.linalg.norm(v, axis=1)
    safe = np.where(length > 0, length, 1)[:, None]
    return length, np.where(length[:, None] > 0, v / safe, otherwise)


def across(axis):
    """Some unit vector orthogonal to the axis."""
    v = np.eye(3)[np.argmin(np.abs(axis))]
    v = v - axis * (v @ axis)
    return v / np.linalg.norm(v)


def plane(one, r):
    return r @ one["axis"], np.broadcast_to(one["axis"], r.shape)


def sphere(one, r):
    length, normal = unit(r, np.array([0, 0, 1.0]))
    return length - one["radius"], normal


def split(one, r):
    along = r @ one["axis"]
    away, radial = unit(r - along[:, None] * one["axis"], across(one["axis"]))
    return along, away, radial


def cylinder(one, r):
    _, away, radial = split(one, r)
    return away - one["radius"], radial


def capped_cylinder(one, r):
    along, away, radial = split(one, r)
    side, end = away - one["radius"], np.abs(along) - one["half_length"]
    cap = np.where(along < 0, -1.0, 1.0)[:, None] * one["axis"]
    corner = np.hypot(side, end)
    safe = np.where(corner > 0, corner, 1)[:, None]
    edge = (side > 0) & (end > 0)
    normal = np.where(edge[:, None], (side[:, None] * radial + end[:, None] * cap) / safe,
                      np.where((side > end)[:, None], radial, cap))
    return np.where(edge, corner, np.maximum(side, end)), normal


def bowl(one, r):
    """A half space below its rim's plane without the ball above: the nearest of plane, sphere and, over the opening, rim."""
    along, away, radial = split(one, r)
    length, inward = unit(-r, one["axis"])
    hollow = one["radius"] - length
    inside = (along <= 0) & (hollow >= along)
    to_rim = (away - one["radius"])[:, None] * radial + along[:, None] * one["axis"]
    rim_distance, rim_normal = unit(to_rim, one["axis"])
    flat = (along <= 0) | (away >= one["radius"])
    distance = np.where(inside, hollow, np.where(flat, along, rim_distance))
    normal = np.where(inside[:, None], inward, np.where(flat[:, None], one["axis"], rim_normal))
    return distance, normal


def capsule(one, r):
    along = np.clip(r @ one["axis"], -one["half_length"], one["half_length"])
    length, normal = unit(r - along[:, None] * one["axis"], np.array([0, 0, 1.0]))
    return length - one["radius"], normal


def nearest_on(corners, p):
    """The points of a triangle that are nearest to points p."""
    a, b, c = corners
    normal = np.cross(b - a, c - a)
    best = p - ((p - a) @ normal / (normal @ normal))[:, None] * normal
    inside = np.ones(len(p), bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.cross(v - u, best - u) @ normal >= 0
    least = np.where(inside, np.linalg.norm(p - best, axis=1), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        on = u + np.clip((p - u) @ (v - u) / ((v - u) @ (v - u)), 0, 1)[:, None] * (v - u)
        away = np.linalg.norm(p - on, axis=1)
        best, least = np.where((away < least)[:, None], on, best), np.minimum(away, least)
    return best, least


def mesh(one, r):
    """By every triangle; inside where the solid angles of all sum to 4 pi."""
    best, least, winding, facing = np.zeros_like(r), np.full(len(r), np.inf), np.zeros(len(r)), np.zeros_like(r)
    for corners in one["corners"]:
        at, away = nearest_on(corners, r)
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        facing = np.where((away < least)[:, None], normal / np.linalg.norm(normal), facing)
        best, least = np.where((away < least)[:, None], at, best), np.minimum(away, least)
        a, b, c = corners[:, None] - r
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        dot = lambda u, v: np.einsum("ni,ni->n", u, v)
        winding += 2 * np.arctan2(dot(np.cross(a, b), c), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    sign = np.where(np.abs(winding) > 2 * np.pi, -1, 1)
    out = sign[:, None] * unit(r - best, np.array([0, 0, 1.0]))[1]
    touching = least < 1e-10 * np.ptp(one["corners"].reshape(-1, 3), axis=0).max()  # no way from the surface has a direction
    return sign * least, np.where(touching[:, None], facing, out)


KINDS = {"plane": plane, "sphere": sphere, "cylinder": cylinder, "capped-cylinder": capped_cylinder, "bowl": bowl, "capsule": capsule, "mesh": mesh}


def each(colliders, at):
    """The colliders where they are in a frame, one dictionary each."""
    for c, kind in enumerate(colliders["kind"]):
        one = {name: values[c] for name, values in colliders.items() if not name.startswith("surface_")}
        turn = at["collider_turn"][c] if "collider_turn" in at else np.append(np.eye(3).ravel(), np.zeros(3))
        one |= {"kind": kind, "offset": at["collider_offset"][c], "rotation": turn[:9].reshape(3, 3), "spin": turn[9:], "velocity": at["collider_velocity"][c]}
        if kind == "mesh":
            triangles = colliders["surface_triangles"]
            one["corners"] = colliders["surface_vertices"][triangles[colliders["surface_collider"][triangles[:, 0]] == c]]
        yield one


def velocity(one, x):
    """Of the collider at points x."""
    return one["velocity"] + np.cross(one["spin"], x - one["offset"])


def distance(one, x):
    s, n = KINDS[one["kind"]](one, (x - one["offset"]) @ one["rotation"] - one["origin"])
    return s, n @ one["rotation"].T


def explicit_force(one, area, x, v):
    """f_n = max(0, k d - c v.n) along n, drag min(mu f_n, c_t |v_t|) against v_t (problems/collision/collider.h has the law)."""
    s, n = distance(one, x)
    depth = one["margin"] - s
    relative = v - velocity(one, x)
    normal = np.einsum("ni,ni->n", relative, n)
    slip = relative - normal[:, None] * n
    speed = np.linalg.norm(slip, axis=1)
    push = np.maximum(0, area * (one["stiffness"] * depth - one["damping"] * normal))
    grip = one["grip"] if one["grip"] > 0 else one["damping"]
    drag = np.minimum(one["friction"] * push, grip * area * speed) / np.where(speed > 0, speed, 1)
    return np.where((depth > 0)[:, None], push[:, None] * n - drag[:, None] * slip, 0)


def implicit_force(one, area, x):
    s, n = distance(one, x)
    return (one["stiffness"] * area * np.maximum(0, one["margin"] - s))[:, None] * n
