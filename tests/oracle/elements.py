"""The mesh of a step: quadrature, lumped masses, surface areas, connected components (Hughes, The Finite Element Method, chapter 3)."""
import numpy as np

from materials import cofactor, determinant

CUBE = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float)
FACES = {"tetrahedra": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]}


def shape_gradients(kind):
    """dN/dxi at every quadrature point (points x nodes x 3) and the points' weights in the reference element."""
    if kind == "triangles":
        return np.array([[[-1, -1, 0], [1, 0, 0], [0, 1, 0]]], float), np.array([0.5])
    if kind == "tetrahedra":
        return np.array([[[-1, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]], float), np.array([1 / 6])
    points = CUBE / np.sqrt(3)
    factor = 1 + CUBE[None] * points[:, None]  # points x nodes x 3
    turned = np.roll(factor, -1, axis=2) * np.roll(factor, -2, axis=2)
    return CUBE[None] * turned / 8, np.ones(8)


def shape_values(kind):
    """N at every quadrature point, points x nodes: row sums of the mass matrix lump it."""
    if kind != "hexahedra":
        nodes = 3 if kind == "triangles" else 4
        return np.full((1, nodes), 1 / nodes)
    return np.prod(1 + CUBE[None] * (CUBE / np.sqrt(3))[:, None], axis=2) / 8


# Products of two and of three of the corners' signs: what linear fields do not make (Lewin 2016, Equation 4.32).
PATTERNS = np.array([CUBE[:, 1] * CUBE[:, 2], CUBE[:, 2] * CUBE[:, 0], CUBE[:, 0] * CUBE[:, 1], CUBE.prod(axis=1)])
# Corners of the four edges along each axis, the lower end first.
EDGES = [[(a, b) for a in range(8) for b in range(8) if (CUBE[b] - CUBE[a] == 2 * np.eye(3)[d]).all()] for d in range(3)]


class Mesh:
    """gradients: elements x points x nodes x 3, dN/dX; weights: elements x points, m^3; mass: nodes, kg. Of hexahedra gamma, elements x 4 x nodes: amplitudes of
    the hourglass patterns, and stiffness, elements x 4, N/m: energy of their squares. Those of one point have the means over the element for gradients."""

    def __init__(self, scene, cells, nodes):
        self.kind, self.cells, self.nodes = scene.kind, cells, nodes
        self.planar = scene.kind == "triangles"
        local, weights = shape_gradients(scene.kind)
        corners = scene.rest[cells]
        jacobian = np.einsum("eai,paj->epij", corners, local)
        if self.planar:
            jacobian[..., 2, 2] = 1
        volume = determinant(jacobian)
        self.gradients = np.einsum("paj,epij->epai", local, cofactor(jacobian) / volume[..., None, None])
        if self.planar:
            self.gradients[..., 2] = 0
        self.weights = volume * weights
        if self.planar:
            thickness = scene.materials["thickness"][scene.region]
            self.weights *= np.where(thickness > 0, thickness, 1)[:, None]
        share = scene.materials["density"][scene.region, None] * (self.weights @ shape_values(scene.kind))
        self.mass = np.bincount(cells.ravel(), share.ravel(), minlength=nodes)
        self.area = self.surface_area(scene)
        if scene.kind == "hexahedra":
            self.volume = self.weights.sum(axis=1)
            mean = np.einsum("ep,epai->eai", self.weights, self.gradients) / self.volume[:, None, None]
            self.gamma = (PATTERNS[None] - np.einsum("ka,eai,ebi->ekb", PATTERNS, corners, mean)) / 8
            self.stiffness = self.control(scene, corners)
            if scene.integration != "gauss":
                self.gradients, self.weights = mean[:, None], self.volume[:, None]

    def control(self, scene, corners):
        """Energy of each pattern of unit amplitude: of perturbation hourglass mu V^(1/3), of staggering mu V sum_d |grad xi_d|^2 times the variance of half the edges
        along d, with which the pattern itself, as a displacement along one axis, is measured."""
        young, poisson = scene.materials["young"][scene.region], scene.materials["poisson"][scene.region]
        mu = young / (2 * (1 + poisson))
        if scene.integration == "gauss":
            return np.zeros((len(corners), 4))
        if scene.integration == "one-point":
            return np.repeat((scene.materials["hourglass"][scene.region] * mu * np.cbrt(self.volume))[:, None], 4, axis=1)
        slopes = np.linalg.inv(np.einsum("eai,aj->eij", corners, CUBE / 8))  # row d is grad xi_d
        variance = np.array([[np.var([(pattern[b] - pattern[a]) / 2 for a, b in edges]) for edges in EDGES] for pattern in PATTERNS])
        return (mu * self.volume)[:, None] * np.einsum("edi,kd->ek", slopes ** 2, variance)

    def amplitudes(self, x):
        """gamma x, elements x 4 x 3."""
        return np.einsum("eka,eai->eki", self.gamma, x[self.cells])

    def control_forces(self, x):
        """What the control gives to the nodes, elements x nodes x 3."""
        return 2 * np.einsum("ek,eka,eki->eai", self.stiffness, self.gamma, self.amplitudes(x))

    def surface_area(self, scene):
        """The surface that the file has is that of the mesh with all cuts made; before a cut, faces that one element alone has are found here."""
        triangles = scene.surface
        if scene.parent is not None:
            faces = self.cells[:, FACES[self.kind]].reshape(-1, 3)
            _, where, count = np.unique(np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True)
            triangles = faces[count[where] == 1]
        a, b, c = (scene.rest[triangles[:, k]] for k in range(3))
        third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
        return np.bincount(triangles.ravel(), np.repeat(third, 3), minlength=self.nodes)

    def deformation(self, x):
        """F of every quadrature point, elements x points x 3 x 3; planar elements keep their thickness."""
        F = np.einsum("eai,epaj->epij", x[self.cells], self.gradients)
        if self.planar:
            F[..., 2, :] = [0, 0, 1]
        return F

    def components(self):
        """The connected component of every node, from 0 in the order of their lowest nodes (labels sink to the least of an element's)."""
        label = np.arange(self.nodes)
        while True:
            least = label.copy()
            np.minimum.at(least, self.cells.ravel(), np.repeat(label[self.cells].min(axis=1), self.cells.shape[1]))
            least = least[least]
            if np.array_equal(least, label):
                return np.unique(label, return_inverse=True)[1]
            label = least
