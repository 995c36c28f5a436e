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
them shares. Further draws, with noise of variance s² added to the same labels, show how the learner
responds: one that is linear in its labels turns their own noise into c = σ²/s² times what the added
noise does (`injected`; for others noise comes out too large, initialization too small). What the
paper calls noise is then known, and what of it is in the products of fits to the labels as they are
can be taken off. With "added" for fits to labels with noise added to them:

    noise                            c (added_same - added_other_noise)
    noise_sampling                   c (added_other_init - added_other_noise_init)
    initialization                   same - other_init, less noise - noise_sampling
    sampling                         other_init - other_data_init, less noise_sampling
"""

from collections.abc import Mapping
from typing import TypeAlias

from doubletrouble.decomposition.design import Design

Weights: TypeAlias = dict[str, float]
"""Of mean products, in a sum."""

ADDED = "added_"
"""Before the name of a product: of fits to labels with noise added to them."""

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
    if design.injected is not None:
        return _with_own_noise(sequential(design.as_they_are), design)
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
    return parts


def _with_own_noise(parts: dict[str, Weights], design: Design) -> dict[str, Weights]:
    """The labels' own noise, taken off the parts that contain it."""
    c = design.injected or 0.0
    noise = {f"{ADDED}same": c, f"{ADDED}other_noise": -c}
    own = noise_sampling(design, noise)
    last = "sampling" if "sampling" in parts else "bias"  # with one data set
    if last in parts:
        parts[last] = less(parts[last], own)
    if parts.get("initialization"):
        parts["initialization"] = less(parts["initialization"], less(noise, own))
    return {"noise": noise, **parts}


def noise_sampling(design: Design, noise: Weights) -> Weights:
    """That part of noise which initializations do not change."""
    if design.n_init == 1:
        return noise
    if design.n_noise == 1:
        return {}
    c, name = (1.0, "") if design.injected is None else (design.injected, ADDED)
    return {f"{name}other_init": c, f"{name}other_noise_init": -c}


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
    has 1/K of the square of one, and otherwise products of two.
    """
    if n_members == 1 or design.deterministic:
        return {"same": 1.0, design.target: 1.0}
    return {"same": 1 / n_members, "other_init": 1 - 1 / n_members, design.target: 1.0}


def less(left: Mapping[str, float], right: Mapping[str, float]) -> Weights:
    """A difference of two sums."""
    return {name: left.get(name, 0.0) - right.get(name, 0.0) for name in {**left, **right}}
