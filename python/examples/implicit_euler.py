"""Implicit Euler by Newton's method with line search, its linear systems by conjugate gradients.

    elastobench run bench/beam:resolution=0.25 -s newton -s "external:python3 implicit_euler.py" -o r.h5

The elements are elastobench's: it is asked for their energy, gradient and Hessian. What is here is
the method: minimize over x1 of the free nodes

    W(x) = |x - xt|_M^2 / (2 h^2) + E(x) - f_ext.x,   xt = x0 + h v0.
"""
import sys
import time

import numpy as np

import elastobench as eb


class Blocks:
    """A matrix of 3 x 3 blocks on a fixed pattern, of which the rows and columns of fixed nodes are
    those of the identity."""

    def __init__(self, start, column):
        self.start, self.column = start[:-1], column
        self.row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        self.diagonal = np.flatnonzero(self.row == column)

    def take(self, values, fixed):
        self.values = values.copy()
        self.values[fixed[self.row] | fixed[self.column]] = 0
        self.values[self.diagonal[fixed]] = np.eye(3)
        self.inverse = np.linalg.inv(self.values[self.diagonal])

    def times(self, p):
        return np.add.reduceat(np.einsum("kij,kj->ki", self.values, p[self.column]), self.start)


def conjugate_gradients(matrix, b, tolerance, most):
    """Preconditioned by the blocks of the diagonal: (solution, iterations)."""
    x, r = np.zeros_like(b), b.copy()
    z = np.einsum("kij,kj->ki", matrix.inverse, r)
    p, rz, stop = z.copy(), np.vdot(r, z), tolerance * np.linalg.norm(b)
    for k in range(most):
        if np.linalg.norm(r) <= stop:
            return x, k
        q = matrix.times(p)
        alpha = rz / np.vdot(p, q)
        x += alpha * p
        r -= alpha * q
        z = np.einsum("kij,kj->ki", matrix.inverse, r)
        rz, old = np.vdot(r, z), rz
        p = z + rz / old * p
    return x, most


class ImplicitEuler(eb.Solver):
    name = "implicit-euler.py 1.0"
    serves = "tetrahedra hexahedra triangles hyperelastic corotational fibres scripted colliders"
    hessian = True

    def setup(self):
        self.matrix = Blocks(self.scene.pattern_start, self.scene.pattern_column)
        self.mass = self.scene.mass[:, None]
        self.rtol = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-6

    def value(self, x, predicted, s):
        d = x - predicted
        return (np.sum(self.mass * d * d) / (2 * s.dt**2) + self.energy(x) - np.vdot(s.force, x))

    def step(self, s):
        began = time.perf_counter()
        predicted = s.x + s.dt * s.v
        # Scripted nodes go to their places first; free ones start where inertia takes them.
        x = np.where(s.fixed[:, None], s.target, predicted)
        residuals, linear, reason, first = [], 0, "DIVERGED_MAX_IT", None
        for iteration in range(50):
            g, h = self.gradient_hessian(x, 1 / s.dt**2, 1)
            terms = np.linalg.norm(g) + np.linalg.norm(s.force)
            g = g + self.mass * (x - predicted) / s.dt**2 - s.force
            g[s.fixed] = 0
            norm = np.linalg.norm(g)
            first = max(norm, terms) if first is None else first
            residuals.append((norm, time.perf_counter() - began))
            if norm <= self.rtol * first:
                reason = "CONVERGED_RTOL"
                break
            self.matrix.take(h, s.fixed)
            d, steps = conjugate_gradients(self.matrix, -g, min(0.1, norm / first), 1000)
            linear += steps
            slope, length, start = np.vdot(g, d), 1.0, self.value(x, predicted, s)
            while length > 1e-6 and self.value(x + length * d, predicted, s) > start + 1e-4 * length * slope:
                length /= 2
            x = x + length * d
        return eb.Done(x, (x - s.x) / s.dt, reason, iterations=len(residuals), residuals=residuals,
                       norm="|grad W|_2 (N)", counters={"linear_iterations": linear},
                       phases={"solve": time.perf_counter() - began})


if __name__ == "__main__":
    eb.serve(ImplicitEuler)
