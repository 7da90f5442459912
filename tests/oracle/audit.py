"""Every audit of a step, recomputed from a result file: each figure with the error that rounding may leave in it.

A figure agrees when it is within 1e-9 of the larger of both, which is what sums of some 1e5 terms in another order keep of sixteen digits with
room to spare, plus its `noise`: where terms cancel, 1e-9 of what is left is less than rounding of the terms allows, eps times their size."""
import numpy as np

import colliders
import contact
import elements
import materials
import rigid

EPS = np.finfo(float).eps
RESOLUTION = 1e-8  # of positions, in the floor of the force scale
# m: friction of a shorter slip may have any direction; degrees: and that of others is off it by so much; twice both in steps that end for the reason STAGNATED
SLIPPING, TURNING = 5e-6, 2.4
STAGNATED = 5


class Figure:
    def __init__(self, value, noise=0.0):
        self.value, self.noise = float(value), float(noise)


def vector(name, value, noise):
    return {f"{name}_{axis}": Figure(value[d], noise) for d, axis in enumerate("xyz")}


# how much of v0 and v1 there is in the velocity of the step
LATE = "x1 = x0 + h v1 - h^2 f_ext / m"
UPDATES = {"x1 = x0 + h v1": (0, 1), "x1 = x0 + h (v0 + v1) / 2": (0.5, 0.5), LATE: (0, 1)}


def scales(equation):
    """Of mass and stiffness in an attribute `equation` such as "linearized, mass x 1.05, stiffness x 3"."""
    found = {"mass": 1.0, "stiffness": 1.0}
    for part in equation.split(", ")[1:]:
        name, times, value = part.partition(" x ")
        if times:
            found[name] = float(value)
    return found["mass"], found["stiffness"]


def norm(a):
    return float(np.sqrt(np.sum(np.square(a))))


class Auditor:
    def __init__(self, run):
        self.run, self.scene = run, run.scene
        self.bodies = rigid.FreeBodies(run.scene) if run.scene.bodies else None
        self.joints = rigid.Articulation(run.scene) if run.scene.joints else None
        self.mesh = None

    def follow(self, frame):
        """The mesh of the step that ends here; scenes with cuts change it."""
        nodes = self.run.nodes(frame)
        if self.mesh is None or self.mesh.nodes != nodes:
            self.mesh = elements.Mesh(self.scene, self.run.cells(nodes), nodes)
            self.part = self.mesh.components()

    def elastic(self, x, activation):
        """Energy, its force on every node of every point, det F, what rounding may do to energy and force, and the floor of the force scale
        that every node of a point has from roundings of 1e-8: 1e-8 w |dN_a/dX| (lambda + 2 mu) sum_b |x_b| |dN_b/dX|. The control of hourglass modes counts
        as one more point, with the floor 2e-8 sum_k s_k |gamma_ka| sum_b |gamma_kb| |x_b|."""
        scene, mesh = self.scene, self.mesh
        F = mesh.deformation(x)
        points = mesh.weights.shape[1]
        soft = np.repeat(~scene.rigid, points)
        region, flat = np.repeat(scene.region, points), F.reshape(-1, 3, 3)
        fibres = None if scene.fibre is None else np.repeat(scene.fibre, points, axis=0)
        psi, P = np.zeros(len(flat)), np.zeros_like(flat)
        psi[soft], P[soft] = materials.evaluate(scene.materials, region[soft], flat[soft],
                                                None if fibres is None else fibres[soft], activation)
        if mesh.planar:
            P[:, 2] = 0
        P = P.reshape(F.shape)
        forces = np.einsum("ep,epij,epaj->epai", mesh.weights, P, mesh.gradients)
        # F is a sum of x times dN/dX: rounding leaves eps |x| |dN/dX| in it, the modulus makes that a stress
        mu, lame = materials.lame(scene.materials["young"], scene.materials["poisson"])
        modulus = (2 * mu + 3 * np.abs(lame) + scene.materials["fibre_stiffness"])[scene.region] * ~scene.rigid
        slope = np.linalg.norm(mesh.gradients, axis=3)
        reach = (np.linalg.norm(x, axis=1)[mesh.cells][:, None, :] * slope).sum(axis=2)
        confined = (2 * mu + lame)[scene.region] * ~scene.rigid
        floor = RESOLUTION * (mesh.weights * confined[:, None] * reach)[:, :, None] * slope
        strain = EPS * (1 + reach)
        growth = np.maximum(1, np.linalg.norm(F, axis=(2, 3))) ** 4
        stress = modulus[:, None] * strain * growth
        force_noise = norm((mesh.weights * stress)[:, :, None] * slope)
        size = np.linalg.norm(P, axis=(2, 3)) * strain + stress * strain + EPS * modulus[:, None] * growth
        energy, noise = float((mesh.weights.ravel() * psi).sum()), float((mesh.weights * size).sum())
        if mesh.kind == "hexahedra" and mesh.stiffness.any():
            stiffness, slopes, c = mesh.stiffness * ~scene.rigid[:, None], np.abs(mesh.gamma), np.linalg.norm(mesh.amplitudes(x), axis=2)
            known = EPS * np.einsum("eka,ea->ek", slopes, np.linalg.norm(x, axis=1)[mesh.cells])
            unknown = 2 * np.einsum("ek,eka,ek->ea", stiffness, slopes, known)
            forces = np.concatenate([forces, (mesh.control_forces(x) * ~scene.rigid[:, None, None])[:, None]], axis=1)
            floor = np.concatenate([floor, (RESOLUTION / EPS * unknown)[:, None]], axis=1)
            energy, noise = energy + float((stiffness * c ** 2).sum()), noise + float((stiffness * known * (2 * c + known)).sum())
            force_noise = norm([force_noise, norm(unknown)])
        return energy, forces, materials.determinant(F), noise, force_noise, strain.max(), floor

    def hourglass(self, x):
        """sqrt(sum of V^(1/3) |gamma x|^2 over the volume) of hexahedra, and what rounding may leave in it."""
        mesh = self.mesh
        if mesh.kind != "hexahedra":
            return Figure(0)
        size, V = np.linalg.norm(mesh.amplitudes(x), axis=2), mesh.volume
        known = EPS * np.einsum("eka,ea->ek", np.abs(mesh.gamma), np.linalg.norm(x, axis=1)[mesh.cells])
        mean = lambda of: float(np.sqrt((np.cbrt(V)[:, None] * of ** 2).sum() / V.sum()))
        return Figure(mean(size), 16 * mean(known))

    def kinds(self, at):
        """Which nodes are what: 0 free, 1 scripted, 2 and 3 carried."""
        return at["fixed"] if "fixed" in at else np.zeros(len(at["positions"]), np.uint8)

    def external(self, at):
        """f_ext of the step that ends here."""
        weight = self.mesh.mass[:, None] * self.scene.gravity
        return weight + at["force"] if "force" in at else weight

    def state(self, frame):
        """A frame with only the nodes that there are."""
        nodes, at = self.mesh.nodes, self.run.at(frame)
        for name in ("positions", "velocities", "fixed", "target", "force"):
            if name in at:
                at[name] = at[name][:nodes]
        return at

    # ---- single figures --------------------------------------------------------------------------

    def motion(self, at):
        """Kinetic and gravitational energy, momentum and angular momentum of nodes and bodies."""
        g, on = self.scene.gravity, np.ones(self.mesh.nodes, bool)
        if self.bodies is not None:
            on[self.bodies.riders] = False
        m, x, v = self.mesh.mass[on], at["positions"][on], at["velocities"][on]
        kinetic, height = (m * contact.dot(v, v)).sum() / 2, -(m * (x @ g)).sum()
        P, L = m @ v, m @ np.cross(x, v)
        sizes = [(m * np.abs(x @ g)).sum(), (m * np.linalg.norm(v, axis=1)).sum(),
                 (m * np.linalg.norm(x, axis=1) * np.linalg.norm(v, axis=1)).sum()]
        if self.bodies is not None:
            M, p, V, w = self.bodies.mass, at["body_pose"][:, :3], at["body_twist"][:, :3], at["body_twist"][:, 3:]
            spin = np.einsum("bij,bj->bi", self.bodies.world_inertia(at["body_pose"]), w)
            kinetic += (M * contact.dot(V, V)).sum() / 2 + contact.dot(w, spin).sum() / 2
            height -= (M * (p @ g)).sum()
            P, L = P + M @ V, L + M @ np.cross(p, V) + spin.sum(axis=0)
            sizes[0] += (M * np.abs(p @ g)).sum()
            sizes[1] += (M * np.linalg.norm(V, axis=1)).sum()
            sizes[2] += (M * np.linalg.norm(p, axis=1) * np.linalg.norm(V, axis=1)).sum() + np.linalg.norm(spin)
        return kinetic, height, P, L, sizes

    def penetration(self, at):
        deepest = np.zeros(self.mesh.nodes)
        if self.scene.colliders is not None:
            for one in colliders.each(self.scene.colliders, at):
                deepest = np.maximum(deepest, -colliders.distance(one, at["positions"])[0])
        return deepest

    def implicit_push(self, at):
        push = np.zeros((self.mesh.nodes, 3))
        if self.scene.colliders is not None:
            for one in colliders.each(self.scene.colliders, at):
                if one["implicit"]:
                    push += colliders.implicit_force(one, self.mesh.area, at["positions"])
        return push

    def implicit_noise(self, at):
        if self.scene.colliders is None:
            return 0.0
        stiffest = max(k for k in self.scene.colliders["stiffness"])
        return EPS * stiffest * norm(self.mesh.area * np.linalg.norm(at["positions"], axis=1))

    def springs(self, at, x):
        """Of the springs as they are at the end of the step, with nodes at x: forces on all nodes, |forces| and |those of roundings of 1e-8| on free
        ones, spring by spring, what rounding of places may do to the forces, and the energy with its noise."""
        total = np.zeros_like(x)
        if self.scene.springs is None:
            return total, 0.0, 0.0, 0.0, 0.0, 0.0
        node, k, p = self.scene.springs, at["spring_stiffness"], at["spring_place"]
        way, free = p - x[node], self.kinds(at)[node] == 0
        np.add.at(total, node, k[:, None] * way)
        place = EPS * (np.linalg.norm(x[node], axis=1) + np.linalg.norm(p, axis=1))
        length = np.linalg.norm(way, axis=1)
        floor = RESOLUTION * norm((k * np.linalg.norm(x[node], axis=1))[free])
        return total, norm((k * length)[free]), floor, norm(k * place), (k * length ** 2).sum() / 2, (k * place * (length + place)).sum()

    def clusters(self, at, x):
        """Of the clusters with nodes at x: their part of g on all nodes, |parts| and |those of roundings of 1e-8| on free nodes, cluster by cluster, what
        rounding may do to the forces, and the energy with its noise. Rotations are those nearest to sum p q^T, of what is off the means."""
        total, sizes, floors, noises, energy, energy_noise = np.zeros_like(x), [], [], [], 0.0, 0.0
        if self.scene.clusters is None:
            return total, 0.0, 0.0, 0.0, 0.0, 0.0
        first, free = self.scene.clusters["offsets"], self.kinds(at) == 0
        counts = np.diff(first)
        for count in np.unique(counts):
            which = np.flatnonzero(counts == count)
            node, k = self.scene.clusters["node"][first[which][:, None] + np.arange(count)], self.scene.clusters["stiffness"][which][:, None]
            p, q = (y[node] - y[node].mean(axis=1, keepdims=True) for y in (x, self.scene.rest))
            A = np.einsum("cai,caj->cij", p, q)
            off = p - np.einsum("cij,caj->cai", materials.rotation(A), q)
            s, length = np.linalg.svd(A, compute_uv=False), np.linalg.norm(off, axis=2)
            reach = np.linalg.norm(x, axis=1)[node]
            reach = reach + reach.mean(axis=1, keepdims=True)
            # what a rounding of places does to the rotation grows where singular values are small; a line turns by the larger one
            turns = s[:, 0] / (s[:, 0] if count == 2 else s[:, 1] + s[:, 2]) * np.sqrt((q ** 2).sum(axis=(1, 2)) / (p ** 2).sum(axis=(1, 2)))
            place = 16 * EPS * reach * (1 + turns)[:, None]
            np.add.at(total, node, k[..., None] * off)
            sizes.append(norm((k * length)[free[node]]))
            floors.append(norm((RESOLUTION * k * reach)[free[node]]))
            noises.append(norm(k * place))
            energy += (k * length ** 2).sum() / 2
            energy_noise += (k * place * (length + place)).sum()
        return total, norm(sizes), norm(floors), norm(noises), float(energy), float(energy_noise)

    def explicit_push(self, before):
        """The force of explicit colliders, or None where more than their law is in frames/force."""
        scene = self.scene
        if scene.scripted_force or scene.bodies_collide or scene.colliders is None:
            return None
        push = np.zeros((self.mesh.nodes, 3))
        for one in colliders.each(scene.colliders, before):
            if one["implicit"]:
                continue
            if one["stiffness"] == 0:
                return None
            push += colliders.explicit_force(one, self.mesh.area, before["positions"], before["velocities"])
        return push

    # ---- equations -------------------------------------------------------------------------------

    def friction(self, before, at, r):
        """What is left of r, r - P(r - a u), when Coulomb's friction of implicit colliders is taken out of it: P the projection onto the tangential
        forces within the cone, u the slip along the collider in the step, a = m / h + h k. Sticking nodes keep nothing, those that slip what is
        missing of mu r_n."""
        dt, mass = self.scene.dt, self.mesh.mass
        for one in colliders.each(self.scene.colliders, at) if self.scene.colliders is not None else ():
            if one["implicit"]:
                push = np.linalg.norm(colliders.implicit_force(one, self.mesh.area, at["positions"]), axis=1)
                normal = colliders.distance(one, at["positions"])[1]
                slip = (at["positions"] - before["positions"]) / dt - colliders.velocity(one, at["positions"])
                wanted = r - (mass / dt + dt * one["stiffness"] * self.mesh.area)[:, None] * slip
                tangential = wanted - contact.dot(wanted, normal)[:, None] * normal
                size = np.linalg.norm(tangential, axis=1)
                share = np.minimum(1, one["friction"] * push / np.maximum(size, 1e-300))
                r = r - np.where(push > 0, share, 0)[:, None] * tangential
        return r

    def residual(self, before, at, forces, floor, static, force_noise, rubs=True):
        """grad W = M (x1 - x0 - h v0) / h^2 + g - f_c - f_s - f_ext over the free nodes, less friction, and the scale that it is measured by:
        sqrt(sum over free nodes of |inertia|^2 + |f_ext|^2 + |f_c|^2 + sum over springs of |f_s|^2 + sum over the points of elements of
        |their part of g|^2 + the squares of the forces that roundings of 1e-8 make)."""
        dt, mass, kind = self.scene.dt, self.mesh.mass[:, None], self.kinds(at)
        free, x0, x1, v0 = kind == 0, before["positions"], at["positions"], before["velocities"]
        inertia = np.zeros_like(x1) if static else mass * (x1 - x0 - dt * v0) / dt ** 2
        inertia[kind > 1] = 0
        push, external = self.implicit_push(at), self.external(at)
        g = contact.scatter(self.mesh.cells, forces.sum(axis=1), len(x1))
        pull, pulls, spring_floor, spring_noise, *_ = self.springs(at, x1)
        kept, keeps, keep_floor, keep_noise, *_ = self.clusters(at, x1)
        r = inertia + g + kept - push - pull - external
        if not static and rubs:
            r = self.friction(before, at, r)
        of_elements = forces * free[self.mesh.cells][:, None, :, None]
        unknown = 0 if static else RESOLUTION * mass * np.linalg.norm(x1, axis=1)[:, None] / dt ** 2 * free[:, None]
        scale = norm([norm(inertia[free]), norm(of_elements), norm(push[free]), norm(external[free]), norm(floor * free[self.mesh.cells][:, None, :]), norm(unknown), pulls, spring_floor, keeps, keep_floor])
        place = np.abs(x1) + np.abs(x0) + dt * np.abs(v0)
        noise = force_noise + self.implicit_noise(at) + spring_noise + keep_noise + EPS * scale + (0 if static else EPS * norm(mass * place) / dt ** 2)
        return r, scale, noise

    def unfiltered(self, at, v, pushes):
        """The force that velocities v1 are off those that friction leaves of v, of free nodes: implicit colliders take at most h mu f / m of a node's slip
        off it, where they push it by f along the normal; `pushes`: (collider, normal, its velocity, force) in turn."""
        dt, m = self.scene.dt, self.mesh.mass
        for one, normal, w, push in pushes:
            slip = v - w
            slip -= contact.dot(slip, normal)[:, None] * normal
            speed = np.linalg.norm(slip, axis=1)
            v = v - np.minimum(1, dt * one["friction"] * np.maximum(contact.dot(push, normal), 0) / m / np.maximum(speed, 1e-300))[:, None] * slip
        return ((m[:, None] * (at["velocities"] - v)) / dt)[self.kinds(at) == 0]

    def declared(self, frame, static, rubbed):
        """The residual of implicit Euler over its scale with the friction that the run declares; `rubbed`: with Coulomb's."""
        says = [what for what in ("without friction", "friction filtered") if what in self.run.attrs["equation"]]
        if static or not says:
            return rubbed
        before, at = self.state(frame - 1), self.state(frame)
        free, end, off = self.kinds(at) == 0, at, 0.0
        _, forces, _, _, force_noise, _, floor = self.elastic(at["positions"], at.get("activation"))
        r, scale, noise = self.residual(before, at, forces, floor, static, force_noise, rubs=False)
        if says == ["friction filtered"]:
            x = np.where(free[:, None], before["positions"] + self.scene.dt * at["unfiltered"], at["positions"])
            end = at | {"positions": x}
            _, forces, _, _, force_noise, _, floor = self.elastic(x, at.get("activation"))
            r, _, noise = self.residual(before, end, forces, floor, static, force_noise, rubs=False)
            pushes = [(one, colliders.distance(one, x)[1], colliders.velocity(one, x), colliders.implicit_force(one, self.mesh.area, x))
                      for one in colliders.each(self.scene.colliders, at) if one["implicit"]]
            off = norm(self.unfiltered(at, at["unfiltered"], pushes))
            noise += self.implicit_noise(end)
        return Figure(norm([norm(r[free]), off]) / scale, noise / scale)

    def touches(self, before, v, stiffness):
        """What implicit colliders push nodes by that go by v, one by one as `unfiltered` wants it: k (depth n - s h P (v - w)) on nodes inside at the start, and, unless
        those alone are declared, on those that would be at x0 + h v0, from where they are."""
        dt, area, pushes = self.scene.dt, self.mesh.area, []
        for one in colliders.each(self.scene.colliders, before) if self.scene.colliders is not None else ():
            if not one["implicit"]:
                continue
            distance, normal = colliders.distance(one, before["positions"])
            depth, w = one["margin"] - distance, colliders.velocity(one, before["positions"])
            ahead = depth - dt * contact.dot(before["velocities"] - w, normal)
            on = (area > 0) & ((depth > 0) | (ahead > 0) & ("contacts of its start" not in self.run.attrs["equation"]))
            w = w + (np.minimum(depth, 0) / dt)[:, None] * normal
            slip, alpha = v - w, one["isotropy"]
            bent = (1 - alpha) * contact.dot(slip, normal)[:, None] * normal + alpha * slip
            push = (one["stiffness"] * area * on)[:, None] * (np.maximum(depth, 0)[:, None] * normal - stiffness * dt * bent)
            pushes.append((one, normal, w, push))
        return pushes

    def linearized(self, before, at, push, off, forces_of_contact):
        """The residual of (a M + s h^2 K) v1 = M v0 + h (f_ext + f_s(x0 + h v1) - g(x0)) with what contacts are off their law, over its
        scale, where the tangent is that of rotated elements whatever a solver takes: materials of that kind, no fibres, no joints, no clusters, and no implicit colliders but those whose friction is filtered, if any. None
        elsewhere."""
        scene, mesh, dt = self.scene, self.mesh, self.scene.dt
        implicit = scene.colliders is not None and any(scene.colliders["implicit"]) and "friction filtered" not in self.run.attrs["equation"]
        kinds = set(scene.materials["kind"])
        if not kinds <= {"linear", "corotational"} or scene.fibre is not None or implicit or self.joints is not None or scene.clusters is not None:
            return None
        mass_scale, stiffness = scales(self.run.attrs["equation"])
        x0, v0, v1, m = before["positions"], before["velocities"], at.get("unfiltered", at["velocities"]), mesh.mass[:, None]
        _, forces, _, _, force_noise, _, floor = self.elastic(x0, at.get("activation"))
        mu, lame = materials.lame(scene.materials["young"], scene.materials["poisson"])
        F = mesh.deformation(x0).reshape(-1, 3, 3)
        dF = (mesh.deformation(x0 + v1) - mesh.deformation(x0)).reshape(-1, 3, 3)
        region = np.repeat(scene.region, mesh.weights.shape[1])
        still = np.array([kind == "linear" for kind in scene.materials["kind"]])[region][:, None, None]
        R = np.where(still, np.eye(3), materials.rotation(F))
        turned = R.transpose(0, 2, 1) @ dF
        strain = mu[region][:, None, None] * (turned + turned.transpose(0, 2, 1))
        strain += (lame[region] * np.einsum("nii->n", turned))[:, None, None] * np.eye(3)
        dP = (R @ strain * np.repeat(~scene.rigid, mesh.weights.shape[1])[:, None, None]).reshape(*mesh.weights.shape, 3, 3)
        if mesh.planar:
            dP[..., 2, :] = 0
        stretch = stiffness * dt * np.einsum("ep,epij,epaj->epai", mesh.weights, dP, mesh.gradients)
        if forces.shape[1] > stretch.shape[1]:
            stretch = np.concatenate([stretch, stiffness * dt * (mesh.control_forces(v1) * ~scene.rigid[:, None, None])[:, None]], axis=1)
        inertia, external, kind = m * (mass_scale * v1 - v0) / dt, self.external(at), self.kinds(at)
        inertia[kind > 1] = 0
        pull, pulls, _, spring_noise, *_ = self.springs(at, x0 + dt * v1)
        spring_floor = self.springs(at, x0)[2]
        touches = self.touches(before, v1, stiffness)
        if touches:
            off = norm([off, norm(self.unfiltered(at, v1, touches))])
        pushed = [force for *_, force in touches]
        r = inertia - external - push - pull - sum(pushed) + contact.scatter(mesh.cells, (forces + stretch).sum(axis=1), mesh.nodes)
        free = kind == 0
        on = free[mesh.cells][:, None, :, None]
        scale = norm([norm(inertia[free]), norm(external[free]), norm(forces * on), norm(stretch * on), norm(floor * on[..., 0]), pulls, spring_floor,
                      norm([norm(force[free]) for force in pushed])]) or forces_of_contact
        # sums of some hundred terms; dF is the difference of two F
        noise = (self.implicit_noise(before) if touches else 0) + 64 * EPS * (scale + norm(push)) + 2 * force_noise * (1 + stiffness * dt) + 2 * spring_noise + EPS * norm(m * (np.abs(v1) + np.abs(v0))) / dt
        return Figure(norm([norm(r[free]), off]) / scale if scale > 0 else 0, noise / scale if scale > 0 else 0)

    def joint_figures(self, before, at, r, static, noise):
        """The equation of the joints: what acts on the riding nodes acts on the joints (d'Alembert), implicit Euler in angles."""
        art, dt = self.joints, self.scene.dt
        (q0, u0), (q1, u1) = before["joints"].T, at["joints"].T
        J0, J1 = art.places(q0)[1], art.places(q1)[1]
        acceleration = np.zeros(len(q1)) if static else art.mass(q1) @ (u1 - u0) / dt
        torque = art.torque(q1, u1 * (not static))
        m = self.mesh.mass[art.nodes, None]
        inertia = np.zeros_like(m * J1[:, :, 0]) if static else m * (J1 @ u1 - J0 @ u0) / dt
        terms = np.einsum("kdj,kd->kj", J1, inertia + r[art.nodes])
        left = acceleration - torque + terms.sum(axis=0)
        scale = norm([norm(acceleration), norm(torque), norm(terms)])
        kinetic, potential = art.energies(q1, u1)
        arm = np.abs(J1).max(initial=0)
        # the parts of a rate's change cancel in u1 - u0
        noise = 64 * (arm * noise + EPS * scale + EPS * norm(art.mass(q1)) * norm([norm(u1), norm(u0)]) / dt)
        height = norm(self.scene.gravity) * np.abs(art.t["mass"][:, None] * art.pose(q1)[3]).sum()
        return {"joint_residual": Figure(norm(left), noise),
                "joint_residual_relative": Figure(norm(left) / scale if scale > 0 else 0, noise / scale if scale > 0 else 0),
                "joint_kinetic": Figure(kinetic), "joint_potential": Figure(potential, 16 * EPS * height)}

    def held_error(self, at):
        """Most that a node which is not free is off the place that script, joints or body give it."""
        x, kind = at["positions"], self.kinds(at)
        errors = [np.linalg.norm((x - at["target"])[kind > 0], axis=1)] if "target" in at else []
        if self.joints is not None:
            errors.append(np.linalg.norm(x[self.joints.nodes] - self.joints.places(at["joints"][:, 0])[0], axis=1))
        if self.bodies is not None:
            errors.append(np.linalg.norm(x[self.bodies.riders] - self.bodies.places(at["body_pose"]), axis=1))
        return max((error.max(initial=0) for error in errors), default=0.0)

    def update_error(self, before, at, static):
        """Most that a node which no body carries, a body's pose or a joint is off the run's update of positions; None for updates that are no formula."""
        x0, x1, v0, v1, dt = before["positions"], at["positions"], before["velocities"], at["velocities"], self.scene.dt
        if static:
            return dt * np.linalg.norm(v1, axis=1).max()
        if self.run.attrs["update"] not in UPDATES:
            return None
        a, b = UPDATES[self.run.attrs["update"]]
        kind, lag = self.kinds(at), 0
        if self.run.attrs["update"] == LATE:
            lag = dt ** 2 * self.external(at) / self.mesh.mass[:, None] * (kind == 0)[:, None]
        off = np.linalg.norm(x1 - x0 - dt * (a * v0 + b * v1) + lag, axis=1)[kind < 2].max(initial=0)
        if self.bodies is not None:
            off = max(off, self.bodies.off(before["body_pose"], at["body_pose"], at["body_twist"], dt))
        if self.joints is not None:
            off = max(off, np.abs(at["joints"][:, 0] - before["joints"][:, 0] - dt * at["joints"][:, 1]).max())
        return off

    def contact_figures(self, frame, before, at, r, scale, noise, energies):
        """What the judge of contact says, whose residual has the forces of contact in it, and what these are off the law, N."""
        scene, contacts, dt, nodes = self.scene, self.run.contacts_of(frame), self.scene.dt, self.mesh.nodes
        x0 = np.vstack([before["positions"], contact.obstacle_vertices(scene, before)])
        x1 = np.vstack([at["positions"], contact.obstacle_vertices(scene, at)])
        slack = 2 if self.run.reason_of(frame) == STAGNATED else 1
        slipping = SLIPPING * slack
        law, off = contact.law(contacts, x0, x1, contact.bent_paths(scene, self.bodies, before, at, x0, x1, dt), scene.contact_friction(contacts), slipping, TURNING * slack)
        push, external, kind = contact.forces(contacts, len(x0)), self.external(at), self.kinds(at)
        rider = self.bodies.of_node if self.bodies is not None else np.full(nodes, -1)
        left, size = contact.balance(self.part, kind == 1, self.mesh.mass, rider, self.bodies, before, at, external + push[:nodes], dt)
        rest, way = r - push[:nodes], x1 - x0
        weight = self.mesh.mass[:, None] * scene.gravity
        works = [((external - weight) * way[:nodes]).sum(), -(push[nodes:] * way[nodes:]).sum(), (rest * way[:nodes])[kind == 1].sum()]
        (before_terms, before_noise), (after_terms, after_noise) = energies
        place = 16 * EPS * np.abs(x1).max()
        noises = {"violation": place, "open": place, "apart": place, "true_gap": place, "sliding": place, "cone": 16 * EPS,
                  # an angle near 0 is known to half the digits
                  "normal": 1e-5,
                  # of a slip above that rounding of places turns the direction by place / slipping, and reading an angle near 0 or 180 degrees costs half the digits
                  "angle": 1e-6 + np.degrees(place / slipping)}
        out = {f"contact_{name}": Figure(value, noises.get(name, 0)) for name, value in law.items()}
        size_of_force = norm(push) * np.sqrt(nodes)
        moved = norm(rest[kind == 1]) * norm(way[:nodes][kind == 1])
        return out | {
            "residual": Figure(norm(rest[kind == 0]), noise + 16 * EPS * norm(push)),
            "residual_relative": Figure(norm(rest[kind == 0]) / scale if scale > 0 else 0, (noise + 16 * EPS * norm(push)) / scale if scale > 0 else 0),
            "contact_balance": Figure(left, 64 * EPS * (size + dt * size_of_force)),
            "energy_excess": Figure(sum(after_terms) - sum(before_terms) - sum(works),
                                    before_noise + after_noise + 64 * EPS * (np.abs(after_terms).sum() + np.abs(before_terms).sum() + np.abs(works).sum() + moved)
                                    + noise * norm(way))}, off, norm(contacts["force"])

    def in_subspace(self, before, at, forces, floor, static, force_noise):
        """|B^T (M (x1 - x0 - h v0) / h^2 + g - f_s - f_ext)| over the norm of its terms and of what roundings of 1e-8 make of the points' forces; g is the
        sum over the points that the run says, each with the stress of its element and a volume of its own."""
        basis, dt, mass = self.run.basis, self.scene.dt, self.mesh.mass[:, None]
        element, share = basis["element"], basis["weight"] / self.mesh.weights[basis["element"], 0]
        x0, x1, v0 = before["positions"], at["positions"], before["velocities"]
        inertia = np.zeros_like(x1) if static else mass * (x1 - x0 - dt * v0) / dt ** 2
        g = contact.scatter(self.mesh.cells[element], forces[element, 0] * share[:, None, None], len(x1))
        kept, _, keep_floor, keep_noise, *_ = self.clusters(at, x1)
        pull, _, spring_floor, spring_noise, *_ = self.springs(at, x1)
        phi, size = basis["phi"], basis["phi"].shape[1]
        restrict = (lambda f: (phi.T @ f).ravel()) if len(phi) == len(x1) else (lambda f: phi.T @ f.ravel())
        terms = [restrict(f) for f in (inertia, -self.external(at), g + kept, -pull)]
        unit2 = mass.mean()
        unknown = norm([norm(floor[element, 0] * share[:, None]), keep_floor, spring_floor])
        scale = np.sqrt(unit2 * sum(norm(term) ** 2 for term in terms) + unknown ** 2)
        # B^T f is at most |f / sqrt(m)|
        place = np.abs(x1) + np.abs(x0) + dt * np.abs(v0)
        noise = share.max() * force_noise + keep_noise + spring_noise + (0 if static else EPS * norm(mass * place) / dt ** 2)
        noise = noise * np.sqrt(unit2 / mass.min()) + size * EPS * scale
        return Figure(np.sqrt(unit2) * norm(sum(terms)) / scale if scale > 0 else 0, noise / scale if scale > 0 else 0)

    # ---- a step ----------------------------------------------------------------------------------

    def energies(self, at, activation):
        """Kinetic, elastic and gravitational energy, and the noise of their sum."""
        energy, _, _, noise, *_ = self.elastic(at["positions"], activation)
        kinetic, height, _, _, sizes = self.motion(at)
        return np.array([kinetic, energy, height]), noise + 64 * EPS * sizes[0]

    def audit(self, frame, static, linearized):
        """All figures of the step that ends at this frame, by the names of their columns."""
        self.follow(frame)
        before, at = self.state(frame - 1), self.state(frame)
        activation = at.get("activation")
        energy, forces, J, energy_noise, force_noise, strain, floor = self.elastic(at["positions"], activation)
        kinetic, height, P, L, sizes = self.motion(at)
        r, scale, noise = self.residual(before, at, forces, floor, static, force_noise)
        rest = norm(r[self.kinds(at) == 0])
        deepest, size = self.penetration(at), np.abs(at["positions"]).max()
        least = J.min(axis=1)
        *_, bent, bent_noise = self.clusters(at, at["positions"])
        *_, stretched, stretch_noise = self.springs(at, at["positions"])
        out = {"finite": Figure(1), "components": Figure(self.part.max() + 1), "activation": Figure(activation or 0),
               "kinetic": Figure(kinetic), "elastic": Figure(energy + bent, energy_noise + bent_noise), "gravitational": Figure(height, 64 * EPS * sizes[0]),
               "springs": Figure(stretched, stretch_noise), "min_volume_ratio": Figure(least.min(), 16 * strain * max(1, np.abs(J).max())), "inverted": Figure((~(least > 0)).sum()), "hourglass": self.hourglass(at["positions"]),
               "max_penetration": Figure(deepest.max(), 16 * EPS * size), "contacts": Figure((deepest > 0).sum()),
               "residual": Figure(rest, noise), "residual_relative": Figure(rest / scale if scale > 0 else 0, noise / scale if scale > 0 else 0),
               "held_error": Figure(self.held_error(at), 64 * EPS * size)}
        off = self.update_error(before, at, static)
        if off is not None:
            out["update_error"] = Figure(off, 64 * EPS * (size + 1))
        if self.joints is not None:
            p, l, more = self.joints.momenta(*at["joints"].T)
            P, L, sizes = P + p, L + l, [sizes[0], sizes[1] + more[0], sizes[2] + more[1]]
            out |= self.joint_figures(before, at, r, static, noise)
        out |= vector("momentum", P, 64 * EPS * sizes[1]) | vector("angular_momentum", L, 64 * EPS * sizes[2])
        off_law = size_of_law = 0.0
        if self.run.contacts is not None:
            now = (np.array([kinetic, energy, height]), energy_noise + 64 * EPS * sizes[0])
            of_contact, off_law, size_of_law = self.contact_figures(frame, before, at, r, scale, noise, (self.energies(before, before.get("activation")), now))
            out |= of_contact
        if linearized:
            contacts = self.run.contacts_of(frame)
            pushed = 0 if contacts is None else contact.forces(contacts, len(at["positions"]) + len(contact.obstacle_vertices(self.scene, at)))[:self.mesh.nodes]
            figure = self.linearized(before, at, pushed, off_law, size_of_law)
            if figure is not None:
                out["equation_residual"] = figure
        if self.run.basis is not None:
            out["equation_residual"] = self.in_subspace(before, at, forces, floor, static, force_noise)
        push = self.explicit_push(before)
        if push is not None and "force" in at:
            out["(explicit colliders)"] = Figure(norm(push - at["force"]), 1e-9 * norm(push) + 64 * EPS * (norm(self.external(at)) + self.implicit_noise(before)))
        return out
