"""The equations of the paper as they are printed, in long doubles and with loops over centres."""

import numpy as np


def squares(X, V):
    X, V = np.asarray(X, dtype=np.longdouble), np.asarray(V, dtype=np.longdouble)
    return np.stack([((X - v) ** 2).sum(axis=1) for v in V], axis=1)


def fcm_memberships(X, V, m):
    """Proposition 1; no record may lie on a centre."""
    D = squares(X, V)
    return np.stack([1 / ((D[:, [i]] / D) ** (1 / (m - 1))).sum(axis=1) for i in range(len(V))], 1)


def efcm_memberships(X, V, rate):
    """Equation 3."""
    E = np.exp(-rate * squares(X, V))
    return E / E.sum(axis=1, keepdims=True)


def means(X, weights, alpha=None, b=None):
    """Equations 1 and 4, and with one constraint alpha . v = b equations 5 and 11."""
    V = []
    for w in weights.T:
        total = (w[:, None] * X).sum(axis=0)
        if alpha is not None:
            alpha = np.asarray(alpha, dtype=float)
            total = total - alpha * (w * (X @ alpha - b)).sum() / (alpha @ alpha)
        V.append(total / w.sum())
    return np.array(V, dtype=float)


def fcm(X, V, m, iterations, alpha=None, b=None):
    for _ in range(iterations):
        V = means(X, fcm_memberships(X, V, m) ** m, alpha, b)
    return V


def efcm(X, V, rate, iterations, alpha=None, b=None):
    for _ in range(iterations):
        V = means(X, efcm_memberships(X, V, rate), alpha, b)
    return V


def fcm_objective(X, V, m):
    return float((fcm_memberships(X, V, m) ** m * squares(X, V)).sum())


def efcm_objective(X, V, rate):
    U = efcm_memberships(X, V, rate)
    return float((U * squares(X, V) + U * np.log(U) / rate).sum())
