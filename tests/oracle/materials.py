"""Energy densities and first Piola-Kirchhoff stresses, from the publications, for many deformation gradients at once.

psi, P = evaluate(kind, mu, lame, F): F is n x 3 x 3, mu and lame (Lame's parameters) numbers."""
import numpy as np


def cofactor(F):
    """dJ/dF: columns are the cross products of the other two."""
    a, b, c = F[..., 0], F[..., 1], F[..., 2]
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-1)


def determinant(F):
    """a . (b x c) of the columns; LAPACK is slow on many small matrices."""
    return np.einsum("...i,...i->...", F[..., 0], np.cross(F[..., 1], F[..., 2]))


def rotation(F):
    """The rotation nearest to F (Higham 1986); the smallest singular value takes the sign of det F."""
    U, _, Vt = np.linalg.svd(F)
    U[:, :, 2] *= np.sign(determinant(U @ Vt))[:, None]
    return U @ Vt


def norm2(A):
    return np.einsum("nij,nij->n", A, A)


def trace(A):
    return np.einsum("nii->n", A)


def column(a):
    return np.asarray(a)[:, None, None]


def linear(mu, lame, F):
    strain = (F + F.transpose(0, 2, 1)) / 2 - np.eye(3)
    tr = trace(strain)
    return mu * norm2(strain) + lame / 2 * tr ** 2, 2 * mu * strain + lame * column(tr) * np.eye(3)


def corotated(mu, lame, F):
    """Etzmuss et al. 2003, Mueller and Gross 2004: Cauchy strain in the rotated frame."""
    R = rotation(F)
    tr = np.einsum("nij,nij->n", R, F) - 3
    return mu * norm2(F - R) + lame / 2 * tr ** 2, 2 * mu * (F - R) + lame * column(tr) * R


def fixed_corotational(mu, lame, F):
    """Stomakhin et al. 2012."""
    R, J = rotation(F), determinant(F)
    return mu * norm2(F - R) + lame / 2 * (J - 1) ** 2, 2 * mu * (F - R) + lame * column(J - 1) * cofactor(F)


def stvk(mu, lame, F):
    E = (F.transpose(0, 2, 1) @ F - np.eye(3)) / 2
    tr = trace(E)
    return mu * norm2(E) + lame / 2 * tr ** 2, F @ (2 * mu * E + lame * column(tr) * np.eye(3))


def neo_hookean(mu, lame, F):
    """Bonet and Wood; what depends on J goes on as its Taylor polynomial of second order below 0.7 (Stomakhin et al. 2012)."""
    J = determinant(F)
    at = np.maximum(J, 0.7)
    log, d = np.log(at), J - at
    value, slope = -mu * log + lame / 2 * log ** 2, (lame * log - mu) / at
    bend = (mu + lame - lame * log) / at ** 2
    psi = mu / 2 * (norm2(F) - 3) + value + slope * d + bend * d ** 2 / 2
    return psi, mu * F + column(slope + bend * d) * cofactor(F)


def stable_neo_hookean(mu, lame, F):
    """Smith et al. 2018, Equation 14, with the parameters of their Section 3.4; 0 at rest."""
    m, l = 4 * mu / 3, lame + 5 * mu / 6
    alpha = 1 + m / l - m / (4 * l)
    J, Ic = determinant(F), norm2(F)
    psi = m / 2 * (Ic - 3) - m / 2 * np.log((Ic + 1) / 4) + l / 2 * ((J - alpha) ** 2 - (1 - alpha) ** 2)
    return psi, m * column(1 - 1 / (Ic + 1)) * F + l * column(J - alpha) * cofactor(F)


def mooney_rivlin(mu, lame, F):
    """Rivlin's C10 (Ic - 3) + C01 (IIc - 3), C10 = 3 C01, and the quadratic in J - 1 that leaves no stress at rest and Lame's moduli."""
    C10, C01 = 3 * mu / 8, mu / 8
    C, J = F.transpose(0, 2, 1) @ F, determinant(F)
    Ic = trace(C)
    IIc = (Ic ** 2 - norm2(C)) / 2
    bulk, push = lame + 2 * C10, 2 * C10 + 4 * C01
    psi = C10 * (Ic - 3) + C01 * (IIc - 3) + bulk / 2 * (J - 1) ** 2 - push * (J - 1)
    return psi, 2 * C10 * F + 2 * C01 * (column(Ic) * F - F @ C) + column(bulk * (J - 1) - push) * cofactor(F)


def nearest_volume(s):
    """d > 0 of product 1 nearest to the rows of s. d_k^2 - s_k d_k + m = 0, the larger root but for the smallest of s, whose d is
    halved for; one small and two large ones are tried where all s are large."""
    rest, least, best = s[:, :2], s[:, 2], None
    for lo, hi in ((0 * least, 0 * least + 1), (0 * least, np.abs(least) / 3), (np.minimum(np.abs(least) / 2, 1), 0 * least + 1)):
        for _ in range(100):
            t = (lo + hi) / 2
            m = t * (least - t)
            d = (rest + np.sqrt(np.maximum(rest ** 2 - 4 * m[:, None], 0))) / 2
            above = t * d.prod(axis=1) > 1
            lo, hi = np.where(above, lo, t), np.where(above, t, hi)
        d = np.column_stack([d, t])
        d[np.abs(d.prod(axis=1) - 1) > 1e-6] = np.inf
        nearer = best is not None and (((s - d) ** 2).sum(axis=1) < ((s - best) ** 2).sum(axis=1))
        best = d if best is None else np.where(nearer[:, None], d, best)
    return best


def projective(mu, lame, F):
    """Bouaziz et al. 2014: distances to the nearest rotation and, three times as stiff as lambda/2, to the nearest matrix of volume 1."""
    U, s, Vt = np.linalg.svd(F)
    sign = np.sign(determinant(U @ Vt))
    U[:, :, 2] *= sign[:, None]
    s[:, 2] *= sign
    R, D = U @ Vt, U @ (nearest_volume(s)[:, :, None] * Vt)
    return mu * norm2(F - R) + 1.5 * lame * norm2(F - D), 2 * mu * (F - R) + 3 * lame * (F - D)


KINDS = {"linear": linear, "corotational": corotated, "corotated": corotated, "fixed-corotational": fixed_corotational,
         "stvk": stvk, "neo-hookean": neo_hookean, "stable-neo-hookean": stable_neo_hookean, "mooney-rivlin": mooney_rivlin,
         "projective": projective}


def fibre(kind, stiffness, exponent, activation, F, a):
    """psi(I5), I5 = |F a|^2, and its stress 2 psi' F a a^T: quadratic (aStVK) or Fung's exponential, scaled by the activation."""
    Fa = np.einsum("nij,nj->ni", F, a)
    d = np.einsum("ni,ni->n", Fa, Fa) - 1
    if kind == "astvk":
        psi, slope = stiffness / 2 * d ** 2, stiffness * d
    else:
        grown = np.exp(exponent * d ** 2)
        psi, slope = activation * stiffness / (2 * exponent) * (grown - 1), activation * stiffness * d * grown
    return psi, 2 * column(slope) * Fa[:, :, None] * a[:, None, :]


def lame(young, poisson):
    return young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))


def evaluate(materials, region, F, fibres, activation):
    """psi and P for deformation gradients of elements of these regions; `activation` replaces the materials' own when it is not None."""
    psi, P = np.zeros(len(F)), np.zeros_like(F)
    for r in np.unique(region):
        of = region == r
        one = {name: values[r] for name, values in materials.items()}
        psi[of], P[of] = KINDS[one["kind"]](*lame(one["young"], one["poisson"]), F[of])
        if one["fibre"] == "none" or fibres is None:
            continue
        more = fibre(one["fibre"], one["fibre_stiffness"], one["fibre_exponent"],
                     one["activation"] if activation is None else activation, F[of], fibres[of])
        psi[of] += more[0]
        P[of] += more[1]
    return psi, P
