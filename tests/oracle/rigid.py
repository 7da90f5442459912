"""Rigid bodies: free ones, and trees of revolute joints by the recursive Newton-Euler algorithm (Featherstone, Rigid Body Dynamics
Algorithms, 2008, chapter 5; in world axes)."""
import numpy as np


def turn(quaternion):
    """Rotation matrices of unit quaternions (w, x, y, z), n x 4."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion), -1, 0)
    return np.stack([np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
                     np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
                     np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1)], -2)


class FreeBodies:
    def __init__(self, scene):
        self.mass, self.centre = scene.bodies["mass"], scene.bodies["centre"]
        self.inertia = scene.bodies["inertia"].reshape(-1, 3, 3)
        self.of_node = scene.bodies["of_node"]
        self.riders = np.flatnonzero(self.of_node >= 0)
        self.arm = scene.rest[self.riders] - self.centre[self.of_node[self.riders]]

    def places(self, pose):
        body = self.of_node[self.riders]
        return pose[body, :3] + np.einsum("nij,nj->ni", turn(pose[:, 3:])[body], self.arm)

    def off(self, before, pose, twist, dt):
        """Largest entry by which poses differ from those that the twists lead to: the centre by h V, the turn by h W (exponential map)."""
        angle = dt * np.linalg.norm(twist[:, 3:], axis=1)
        half = (np.sinc(angle / (2 * np.pi)) * dt / 2)[:, None] * twist[:, 3:]
        a, u, b, v = np.cos(angle / 2), half, before[:, 3], before[:, 4:]
        q = np.column_stack([a * b - (u * v).sum(axis=1), a[:, None] * v + b[:, None] * u + np.cross(u, v)])
        sign = np.copysign(1, (q * pose[:, 3:]).sum(axis=1))[:, None]
        centre = before[:, :3] + dt * twist[:, :3]
        return max(np.abs(pose[:, :3] - centre).max(), np.abs(pose[:, 3:] - sign * q / np.linalg.norm(q, axis=1)[:, None]).max())

    def world_inertia(self, pose):
        R = turn(pose[:, 3:])
        return R @ self.inertia @ R.transpose(0, 2, 1)


def rodrigues(axis, angle):
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Articulation:
    def __init__(self, scene):
        self.t, self.gravity = scene.joints, scene.gravity
        self.parent = self.t["parent"]
        xx, yy, zz, xy, xz, yz = self.t["inertia"].T
        self.inertia = np.stack([np.stack([xx, xy, xz], -1), np.stack([xy, yy, yz], -1), np.stack([xz, yz, zz], -1)], -2)
        self.nodes, self.on, self.place = self.t["rider_node"], self.t["rider_body"], self.t["rider_place"]

    def pose(self, q):
        """Of every body: rotation, place of its pivot, axis of its joint, centre of mass."""
        R, pivot, axis = [], [], []
        for b, p in enumerate(self.parent):
            own = rodrigues(self.t["axis"][b], q[b])
            R.append(own if p < 0 else R[p] @ own)
            pivot.append(self.t["pivot"][b] if p < 0 else pivot[p] + R[p] @ (self.t["pivot"][b] - self.t["pivot"][p]))
            axis.append(self.t["axis"][b] if p < 0 else R[p] @ self.t["axis"][b])
        centre = [pivot[b] + R[b] @ (self.t["centre"][b] - self.t["pivot"][b]) for b in range(len(R))]
        return np.array(R), np.array(pivot), np.array(axis), np.array(centre)

    def motion(self, q, u, a):
        """Of every body: angular velocity and acceleration, velocity and acceleration of the centre, at joint accelerations a."""
        R, pivot, axis, centre = self.pose(q)
        w, dw, v, dv, out = [], [], [], [], []
        for b, p in enumerate(self.parent):
            z = np.zeros(3)
            w0, dw0, v0, dv0 = (z, z, z, z) if p < 0 else (w[p], dw[p], v[p], dv[p])
            arm = pivot[b] - pivot[p] if p >= 0 else z
            v.append(v0 + np.cross(w0, arm))
            dv.append(dv0 + np.cross(dw0, arm) + np.cross(w0, np.cross(w0, arm)))
            w.append(w0 + u[b] * axis[b])
            dw.append(dw0 + a[b] * axis[b] + u[b] * np.cross(w0, axis[b]))
            r = centre[b] - pivot[b]
            out.append((w[b], dw[b], v[b] + np.cross(w[b], r), dv[b] + np.cross(dw[b], r) + np.cross(w[b], np.cross(w[b], r))))
        return out

    def inverse_dynamics(self, q, u, a, gravity):
        """Torques of the joints that make the bodies accelerate so."""
        R, pivot, axis, centre = self.pose(q)
        moving, tau = self.motion(q, u, a), np.zeros(len(q))
        force, moment = np.zeros((len(q), 3)), np.zeros((len(q), 3))  # through each joint, the moment about its pivot
        for b in reversed(range(len(q))):
            w, dw, _, dv = moving[b]
            inertia = R[b] @ self.inertia[b] @ R[b].T
            f = self.t["mass"][b] * (dv - gravity)
            force[b] += f
            moment[b] += inertia @ dw + np.cross(w, inertia @ w) + np.cross(centre[b] - pivot[b], f)
            tau[b] = axis[b] @ moment[b]
            p = self.parent[b]
            if p >= 0:
                force[p] += force[b]
                moment[p] += moment[b] + np.cross(pivot[b] - pivot[p], force[b])
        return tau

    def mass(self, q):
        none = np.zeros(len(q))
        return np.array([self.inverse_dynamics(q, none, column, np.zeros(3)) for column in np.eye(len(q))]).T

    def excess(self, q):
        return np.maximum(q - self.t["upper"], 0) + np.minimum(q - self.t["lower"], 0)

    def torque(self, q, u):
        """tau of M u' = tau: gravity, Coriolis, damping, limits."""
        limits = np.where(self.excess(q) != 0, self.t["limit_stiffness"] * self.excess(q), 0)
        return -self.inverse_dynamics(q, u, np.zeros(len(q)), self.gravity) - self.t["damping"] * u - limits

    def energies(self, q, u):
        kinetic = u @ self.mass(q) @ u / 2
        centre = self.pose(q)[3]
        excess = self.excess(q)
        limits = np.where(excess != 0, self.t["limit_stiffness"] * excess ** 2 / 2, 0).sum()
        return kinetic, -(self.t["mass"][:, None] * centre @ self.gravity[:, None]).sum() + limits

    def momenta(self, q, u):
        """Momentum and angular momentum about the origin, and the sizes of their terms."""
        R, _, _, centre = self.pose(q)
        P, L, sizes = np.zeros(3), np.zeros(3), np.zeros(2)
        for b, (w, _, v, _) in enumerate(self.motion(q, u, np.zeros(len(q)))):
            p, spin = self.t["mass"][b] * v, R[b] @ self.inertia[b] @ R[b].T @ w
            P += p
            L += np.cross(centre[b], p) + spin
            sizes += np.linalg.norm(p), np.linalg.norm(centre[b]) * np.linalg.norm(p) + np.linalg.norm(spin)
        return P, L, sizes

    def places(self, q):
        """Places of the riding nodes and their Jacobians, riders x 3 x joints."""
        R, pivot, axis, _ = self.pose(q)
        x, J = self.place.copy(), np.zeros((len(self.nodes), 3, len(q)))
        for b in range(len(q)):
            on = self.on == b
            x[on] = pivot[b] + (self.place[on] - self.t["pivot"][b]) @ R[b].T
            j = b
            while j >= 0:
                J[on, :, j] = np.cross(axis[j], x[on] - pivot[j])
                j = self.parent[j]
        return x, J
