"""Which products of predictions make up which part of the error.

With E over everything that is not shared, a part is a difference of mean products (`products`).
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

Labels of a finite pool have one draw of noise, of known variance σ², which all training on them
shares. Further draws, with noise of variance s² added to the same labels, measure the response of
the learner: one that is linear in its labels turns their own noise into c = σ²/s² times what the
added noise does (`injected`; for others noise is overestimated, initialization underestimated). The
paper's noise is then identified, and its share in the products of fits to the labels as they are is
subtracted. With "added" for fits to labels with noise added to them:

    noise                            c (added_same - added_other_noise)
    noise_sampling                   c (added_other_init - added_other_noise_init)
    initialization                   same - other_init, less noise - noise_sampling
    sampling                         other_init - other_data_init, less noise_sampling

The mean of K members, trained on the same labels from initializations of their own, has products of
members with themselves and with each other (`averaged`): of its square, 1/K is `same` and the rest
`other_init`, and likewise for every product with the same initialization. Its parts are the
differences above of these products.
"""

from collections.abc import Mapping
from typing import TypeAlias

from doubletrouble.decomposition._design import Design

ProductWeights: TypeAlias = dict[str, float]
"""The weight of each mean product in a sum, by its name."""

ADDED = "added_"
"""Before the name of a product: of fits to labels with noise added to them."""

SEQUENTIAL = {  # with what the design needs to identify each part
    "noise": ("noise",),
    "initialization": ("init",),
    "sampling": ("data",),
    "bias": ("target",),
    "bayes": ("both",),
    "total": ("target",),
}
ANOVA = {
    "bias": ("target",),
    "initialization": ("init", "data", "crossed"),
    "sampling": ("data",),
    "initialization_sampling": ("init", "data", "crossed"),
    "noise_sampling": ("noise", "init"),
    "noise_initialization_sampling": ("noise", "init"),
    "bayes": ("both",),
    "total": ("target",),
}
_SAME_INIT = {
    "same": "other_init",
    "other_noise": "other_noise_init",
    "other_data": "other_data_init",
}
"""Products with the same initialization, and those with another."""


def sequential(design: Design, n_members: float = 1.0) -> dict[str, ProductWeights]:
    """The paper's parts and their total for K averaged members, as far as they are identified."""
    parts = _of_one(design)
    if design.targets:
        parts["total"] = {"same": 1.0, design.target: 1.0}
    return {name: averaged(part, design, n_members) for name, part in parts.items()}


def _of_one(design: Design) -> dict[str, ProductWeights]:
    """The paper's parts for one member."""
    if design.injected is not None:
        return _with_own_noise(_of_one(design.as_they_are), design)
    steps = {"noise": "other_noise"}
    steps["initialization"] = "other_noise_init" if design.n_noise > 1 else "other_init"
    shared = design.crossed and design.n_init == 1
    steps["sampling"] = "other_data" if shared else "other_data_init"
    parts: dict[str, ProductWeights] = {}
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


def _with_own_noise(parts: dict[str, ProductWeights], design: Design) -> dict[str, ProductWeights]:
    """The parts with the labels' own noise subtracted from those that contain it."""
    c = design.injected or 0.0
    noise = {f"{ADDED}same": c, f"{ADDED}other_noise": -c}
    own = noise_sampling(design, noise)
    last = "sampling" if "sampling" in parts else "bias"  # with one data set
    if last in parts:
        parts[last] = less(parts[last], own)
    if parts.get("initialization"):
        parts["initialization"] = less(parts["initialization"], less(noise, own))
    return {"noise": noise, **parts}


def noise_sampling(design: Design, noise: ProductWeights) -> ProductWeights:
    """The part of noise that does not depend on the initialization."""
    if design.n_init == 1:
        return noise
    if design.n_noise == 1:
        return {}
    c, name = (1.0, "") if design.injected is None else (design.injected, ADDED)
    return {f"{name}other_init": c, f"{name}other_noise_init": -c}


def anova(design: Design, n_members: float = 1.0) -> dict[str, ProductWeights]:
    """Main effects, interactions and their total, as far as they are identified."""
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
    return {
        name: averaged(parts[name], design, n_members)
        for name, needs in ANOVA.items() if design.lacks(name, needs) is None
    }  # fmt: skip


def averaged(weights: ProductWeights, design: Design, n_members: float) -> ProductWeights:
    """A sum of products of one member with another, for the means of K members in place of each.

    >>> from doubletrouble.decomposition._design import Design
    >>> design = Design(n_data=3, n_noise=1, n_init=2, n_test=9, crossed=True, targets=("truth",))
    >>> averaged({"same": 1.0, "truth": 1.0}, design, 4)
    {'same': 0.25, 'other_init': 0.75, 'truth': 1.0}
    """
    if n_members == 1 or design.deterministic:
        return weights
    found: ProductWeights = {}
    for name, weight in weights.items():
        prefix = ADDED if name.startswith(ADDED) else ""
        other = _SAME_INIT.get(name.removeprefix(prefix))
        shares = {name: 1.0}
        if other is not None:
            shares = {name: 1 / n_members, prefix + other: 1 - 1 / n_members}
        for product, share in shares.items():
            found[product] = found.get(product, 0.0) + weight * share
    return found


def less(left: Mapping[str, float], right: Mapping[str, float]) -> ProductWeights:
    """A difference of two sums."""
    return {name: left.get(name, 0.0) - right.get(name, 0.0) for name in {**left, **right}}
