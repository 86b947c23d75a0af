#!/usr/bin/python3
"""Derives the coefficients of runtime/kernels/simd/math.h, and measures each function in float as it is executed.

SPDX-License-Identifier: Apache-2.0

Each polynomial is a weighted minimax fit in double: least squares whose weights grow where the error is largest
(Lawson), in Chebyshev basis; the coefficients are rounded to float at the end. Prints them constant term first.
"""
import math
import re

import numpy as np

f32 = np.float32


def minimax(low, high, degree, residual, slope, start, factor=None, steps=400):
    """Coefficients of P, degree and all, such that |residual(x, P(x))| is smallest on [low, high].

    slope is the derivative of the residual by P, start a first guess of P(x), factor (points, values) of a known
    factor that P contains.
    """
    x = (1 - np.cos(np.linspace(0, np.pi, 3001))) / 2 * (high - low) + low
    basis = np.polynomial.chebyshev.chebvander((2 * x - low - high) / (high - low), degree)
    if factor is not None:
        basis = basis * factor(x)[:, None]
    weight = np.abs(slope(x, start(x))) + 1e-9
    coefs = np.linalg.lstsq(basis * weight[:, None], start(x) * weight, rcond=None)[0]
    lawson = np.full(len(x), 1.0 / len(x))
    best = (np.inf, coefs)
    for _ in range(steps):
        value = basis @ coefs
        error = residual(x, value)
        best = min(best, (np.abs(error).max(), coefs), key=lambda pair: pair[0])
        root = np.sqrt(lawson)
        step = np.linalg.lstsq(basis * (slope(x, value) * root)[:, None], -error * root, rcond=1e-13)[0]
        size = 1.0
        loss = (lawson * error**2).sum()
        while size > 1e-4 and (lawson * residual(x, basis @ (coefs + size * step)) ** 2).sum() >= loss:
            size /= 2
        if size > 1e-4:
            coefs = coefs + size * step
        error = np.abs(residual(x, basis @ coefs))
        lawson = lawson * (error / error.max() + 1e-3)
        lawson /= lawson.sum()
    chebyshev = np.polynomial.chebyshev.Chebyshev(best[1], domain=[low, high])
    return best[0], chebyshev.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef


def horner(coefs, x):
    value = np.full_like(x, f32(coefs[-1]))
    for c in coefs[-2::-1]:
        value = value * x + f32(c)
    return value


def show(name, coefs, fit_error, float_error):
    print(f"// {name}: error of the fit {fit_error:.1e}, in float {float_error:.1e}")
    print(", ".join(re.sub(r"\.?0*p", "p", float(f32(c)).hex()) + "f" for c in coefs))


def exp2():
    """2^(f + 1) on [-1/2, 1/2], relative, exactly 2 at 0."""
    fit_error, q = minimax(-0.5, 0.5, 4, lambda x, q: (2 + x * q) / 2 ** (x + 1) - 1,
                           lambda x, q: x / 2 ** (x + 1),
                           lambda x: np.where(x == 0, 2 * math.log(2), (2 ** (x + 1) - 2) / np.where(x == 0, 1, x)))
    coefs = np.concatenate([[2.0], q])
    x = np.linspace(-50, 0, 4000001).astype(f32)
    n = (x + f32(1.5 * 2**23)) - f32(1.5 * 2**23)
    value = horner(coefs, x - n) * (f32(2.0) ** (n - 1)).astype(f32)
    exact = np.exp2(x.astype(np.float64))
    show("exp2", coefs, fit_error, np.abs(value / exact - 1).max())


def weight_exp2():
    """254 * 2^f on [-1/2, 1/2], relative, exactly 254 at 0."""
    fit_error, q = minimax(-0.5, 0.5, 3, lambda x, q: (2 + x * q) / 2 ** (x + 1) - 1,
                           lambda x, q: x / 2 ** (x + 1),
                           lambda x: np.where(x == 0, 2 * math.log(2), (2 ** (x + 1) - 2) / np.where(x == 0, 1, x)))
    coefs = np.concatenate([[2.0], q]) * 127
    x = np.linspace(-50, 0, 4000001).astype(f32)
    n = (x + f32(1.5 * 2**23)) - f32(1.5 * 2**23)
    value = horner(coefs, x - n) * (f32(2.0) ** (n - 1)).astype(f32)
    show("weight_exp2", coefs, fit_error, np.abs(value / (127 * np.exp2(x.astype(np.float64))) - 1).max())


def log2():
    """log2(1 + m) / m on [sqrt(1/2) - 1, sqrt(2) - 1], the error weighed with m."""
    low, high = math.sqrt(0.5) - 1, math.sqrt(2) - 1
    truth = lambda m: np.where(m == 0, 1 / math.log(2), np.log2(1 + m) / np.where(m == 0, 1, m))
    fit_error, q = minimax(low, high, 8, lambda m, q: m * (q - truth(m)), lambda m, q: m + 1e-3, truth)
    m = np.linspace(low, high, 2000001).astype(f32)
    value = m * horner(q, m)
    show("log2", q, fit_error, np.abs(value - np.log2(1 + m.astype(np.float64))).max())


def gelu(name, end, degree, scale):
    """P(a)^4 = Phi(-a) on [0, end], P(end) = 0, such that scale(a) * P^4 errs least."""
    power = 4
    phi = np.vectorize(lambda a: 0.5 * math.erfc(a / math.sqrt(2)))
    fit_error, q = minimax(0, end, degree - 1, lambda a, p: scale(a) * (p**power - phi(a)),
                           lambda a, p: scale(a) * power * p ** (power - 1),
                           lambda a: phi(a) ** (1 / power), factor=lambda a: 1 - a / end)
    p = (np.polynomial.Polynomial([1, -1 / end]) * np.polynomial.Polynomial(q)).coef
    x = np.concatenate([np.linspace(-9, 9, 2000001), np.geomspace(1e-6, 9, 100000)]).astype(f32)
    a = np.minimum(np.abs(x), f32(end))
    value = horner(p, a)
    value = np.maximum(x, 0) - a * ((value * value) * (value * value))
    exact = x * 0.5 * np.vectorize(math.erfc)(-x.astype(np.float64) / math.sqrt(2))
    error = np.abs(value - exact)
    show(name, p, fit_error, (error / np.maximum(1, np.abs(x))).max())
    print(f"// and relative to |x| {(error / np.maximum(np.abs(x), 1e-6)).max():.1e}")


def tanh():
    """(tanh(sqrt t) / sqrt t - 1) / t on [0, 0.55^2], relative to tanh."""
    end = 0.55**2
    def truth(t):
        x = np.sqrt(np.maximum(t, 1e-3))
        return np.where(t > 1e-3, (np.tanh(x) / x - 1) / (x * x), -1 / 3 + t * 2 / 15 - t * t * 17 / 315)
    fit_error, q = minimax(0, end, 4, lambda t, q: t * (q - truth(t)), lambda t, q: t + 1e-4, truth)
    x = np.linspace(1e-6, 0.55, 1000001).astype(f32)
    t = x * x
    value = x + x * t * horner(q, t)
    show("tanh", q, fit_error, np.abs(value / np.tanh(x.astype(np.float64)) - 1).max())


if __name__ == "__main__":
    exp2()
    weight_exp2()
    log2()
    gelu("gelu", 5.6, 8, lambda a: a / np.maximum(1, a))
    gelu("gelu_for_int8", 4.6, 5, lambda a: a)
    tanh()
