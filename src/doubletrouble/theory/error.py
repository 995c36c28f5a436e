r"""The test error by cause.

With the split of unit powers (`split`) and K models averaged, [dascoli2020] Sec. 5 reads

    noise = τ² (R_s + R_o/K)                  initialization = (F² (V_P + V_PX) + F⋆² R_o)/K
    sampling = F² V_X + F⋆² R_s               bias = F² ρ + F⋆²

for an ensemble on one data set. Dividing the data into K parts puts N/K in place of N and makes
the learners independent, so that every variance is divided by K ([dascoli2020] App. A.2).

**Differs from the paper.** The paper has a linear teacher only. A nonlinear part of power F⋆² is
responded to as noise, but it is a function of the inputs: by the paper's definitions of the four
parts its fluctuation is sampling and initialization variance, and its power bias.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from dataclasses import fields

from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.results import AnovaTerms, ErrorTerms, ResampledErrorTerms
from doubletrouble.sharing import RESAMPLED
from doubletrouble.theory.evaluate import Product, Weights, evaluate
from doubletrouble.theory.points import AnyProblem, Drawing
from doubletrouble.theory.resampling import resampled_causes, resampled_there
from doubletrouble.theory.split import Split

_ERRORTERMS = tuple(f.name for f in fields(ErrorTerms))
_ANOVATERMS = tuple(f.name for f in fields(AnovaTerms))


def exact_error(
    problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble", *,
    fraction: Numeric | None = None, bank_per_dim: Numeric | None = None,
    n_bank: Numeric | None = None,
) -> ErrorTerms:  # fmt: skip
    """Return the exact test error of K averaged models, split by cause.

    `n_members` may be `math.inf`. What members have in common depends on the scheme:

    - "ensemble": all see all samples, with features of their own.
    - "divide": each of the K members sees its own N/K of the samples.
    - "subbag": each draws `fraction` of the samples, without replacement.
    - "bootstrap": each draws N of the N samples, with replacement.
    - "feature_bank": all see all samples, and each draws its features from a bank of
      `bank_per_dim` features per dimension (`n_bank` features, for a `SpectralProblem`).

    λ is relative to the mean loss of the samples a member has (and δ of a `SpectralProblem` to all
    samples: a member with fewer has δ in proportion). The last three schemes have a further part,
    `resampling` (`ResampledErrorTerms`).

    >>> from doubletrouble import Problem
    >>> problem = Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
    >>> print(exact_error(problem, n_members=10))
    noise                  0.538322   61.8%
    initialization        0.0447761    5.1%
    sampling              0.0879596   10.1%
    bias                   0.200651   23.0%
    bayes                         0    0.0%
    total                   0.87171
    """
    draw = Drawing(fraction, bank_per_dim, n_bank)
    if scheme in RESAMPLED:
        *parts, resampling, bayes = evaluate(
            problem, n_members, scheme, resampled_causes, draw=draw, parts_at=resampled_there
        )
        named = dict(zip(_ERRORTERMS, (*parts, bayes), strict=True))
        return ResampledErrorTerms(**named, resampling=resampling)
    parts = evaluate(problem, n_members, scheme, causes, draw=draw)
    return ErrorTerms(**dict(zip(_ERRORTERMS, parts, strict=True)))


def anova(problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble") -> AnovaTerms:
    """Return the symmetric split of the test error: main effects and interactions.

    It is that of one model, or of K averaged as in `exact_error`.

    >>> from doubletrouble import Problem
    >>> at_peak = anova(Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0))
    >>> round(at_peak.initialization, 4), at_peak.initialization_sampling
    (0.2473, inf)
    """
    parts = evaluate(problem, n_members, scheme, _effects)
    return AnovaTerms(**dict(zip(_ANOVATERMS, parts, strict=True)))


def causes(p: Split, w: Weights, times: Product) -> tuple[FloatArray, ...]:
    """Noise, initialization, sampling and bias, as above (also on complex numbers)."""
    return (
        times(w.noise, times(w.data, p.noise_shared) + times(w.member, p.noise_own)),
        times(
            w.member,
            times(w.signal, p.features + p.features_data) + times(w.nonlinear, p.noise_own),
        ),
        times(w.data, times(w.signal, p.data) + times(w.nonlinear, p.noise_shared)),
        w.signal * p.missed + w.nonlinear,
    )


def _effects(p: Split, w: Weights, times: Product) -> tuple[FloatArray, ...]:
    """Bias, V_P, V_X, V_PX, V_Xε and V_PXε."""
    return (
        w.signal * p.missed + w.nonlinear,
        times(w.member, w.signal * p.features),
        times(w.data, times(w.signal, p.data) + times(w.nonlinear, p.noise_shared)),
        times(w.member, times(w.signal, p.features_data) + times(w.nonlinear, p.noise_own)),
        times(w.noise, times(w.data, p.noise_shared)),
        times(w.noise, times(w.member, p.noise_own)),
    )
