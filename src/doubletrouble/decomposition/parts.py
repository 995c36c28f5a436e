"""Which products of predictions make up which part of the error.

With E over everything not said to be shared, a part is a difference of mean products (`products`).
The paper averages over noise, then initializations, then data sets [dascoli2020]; every average
leaves a product with one factor more that differs, and the differences add up:

    noise                            same - other_noise
    initialization                   other_noise - other_noise_init
    sampling                         other_noise_init - other_data_init
    bias                             other_data_init, against the truth
    total                            same, against the target

Where an axis has length one its step is skipped, and the next part absorbs it. The analysis of
variance [adlam2020] splits the first two once more, by what is left of noise when initializations
differ, and of initialization when data sets differ:

    noise_sampling                   other_init - other_noise_init
    noise_initialization_sampling    noise - noise_sampling
    initialization                   other_data - other_data_init
    initialization_sampling          the paper's initialization - this one

Labels of a finite pool come with one draw of noise, of known variance σ² say, which all training on
them shares. Further noise of variance s², added n times, shows how the learner responds: a learner
that is linear in its labels turns the labels' own noise into c = σ²/s² times what the added noise
does (`injected`; to first order for others). What the paper calls noise is then known, and what of
it is in the other products can be taken off:

    noise                            c (same - other_noise)
    initialization, sampling         as above, less noise - noise_sampling, less noise_sampling
    total                            other_noise, against the target: without what was added
"""

from collections.abc import Mapping
from typing import TypeAlias

from doubletrouble.decomposition.design import Design

Weights: TypeAlias = dict[str, float]
"""Of mean products, in a sum."""

SEQUENTIAL = {  # and what the draws must have for it
    "noise": ("noise",),
    "initialization": ("init",),
    "sampling": ("data",),
    "bias": ("target",),
    "bayes": ("both",),
}
ANOVA = {
    "bias": ("target",),
    "initialization": ("init", "data", "crossed"),
    "sampling": ("data",),
    "initialization_sampling": ("init", "data", "crossed"),
    "noise_sampling": ("noise", "init"),
    "noise_initialization_sampling": ("noise", "init"),
    "bayes": ("both",),
}


def sequential(design: Design) -> dict[str, Weights]:
    """The paper's parts, as far as they can be told."""
    steps = {"noise": "other_noise"}
    steps["initialization"] = "other_noise_init" if design.n_noise > 1 else "other_init"
    shared = design.crossed and design.n_init == 1
    steps["sampling"] = "other_data" if shared else "other_data_init"
    parts: dict[str, Weights] = {}
    last = "same"
    for name, product in steps.items():
        if (name, True) in (("noise", design.noiseless), ("initialization", design.deterministic)):
            parts[name] = {}
        elif design.lacks(name, SEQUENTIAL[name]) is None:
            parts[name] = {last: 1.0, product: -1.0}
            last = product
    if design.targets:
        parts["bias"] = {last: 1.0, design.targets[0]: 1.0}
    if len(design.targets) > 1:
        parts["bayes"] = {design.targets[1]: 1.0, design.targets[0]: -1.0}
    return parts if design.injected is None else _with_own_noise(parts, design)


def _with_own_noise(parts: dict[str, Weights], design: Design) -> dict[str, Weights]:
    """Noise as much as the labels' own, taken off the parts that contain it."""
    noise = times(design.injected or 0.0, parts["noise"])
    own = noise_sampling(design, noise)
    last = "sampling" if "sampling" in parts else "bias"  # with one data set
    parts |= {"noise": noise} | {name: less(parts[name], own) for name in parts if name == last}
    if parts.get("initialization"):
        parts["initialization"] = less(parts["initialization"], less(noise, own))
    return parts


def noise_sampling(design: Design, noise: Weights) -> Weights:
    """That part of noise which initializations do not change."""
    if design.n_init == 1:
        return noise
    scale = 1.0 if design.injected is None else design.injected
    return {"other_init": scale, "other_noise_init": -scale} if design.n_noise > 1 else {}


def anova(design: Design) -> dict[str, Weights]:
    """Main effects and interactions apart, as far as they can be told."""
    parts = sequential(design)
    noise, initialization = parts.get("noise", {}), parts.get("initialization", {})
    own = noise_sampling(design, noise)
    alone = {} if design.deterministic else {"other_data": 1.0, "other_data_init": -1.0}
    parts |= {
        "noise_sampling": own,
        "noise_initialization_sampling": less(noise, own),
        "initialization": alone,
        "initialization_sampling": less(initialization, alone),
    }
    return {n: parts[n] for n, needs in ANOVA.items() if design.lacks(n, needs) is None}


def ensemble(design: Design, n_members: float) -> Weights:
    """The squared error of K averaged members, against the target.

    Two members trained on the same labels share all but the initialization, so the mean of K
    has 1/K of the square of one, and otherwise products of two. Noise that was added to the labels
    is averaged away.
    """
    one, two = ("same", "other_init")
    if design.injected is not None:
        one, two = ("other_noise", "other_noise_init")
    if n_members == 1 or design.deterministic:
        return {one: 1.0, design.target: 1.0}
    return {one: 1 / n_members, two: 1 - 1 / n_members, design.target: 1.0}


def less(left: Mapping[str, float], right: Mapping[str, float]) -> Weights:
    """A difference of two sums."""
    return {name: left.get(name, 0.0) - right.get(name, 0.0) for name in {**left, **right}}


def times(factor: float, weights: Mapping[str, float]) -> Weights:
    """A multiple of a sum."""
    return {name: factor * weight for name, weight in weights.items()}
