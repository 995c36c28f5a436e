"""The test error of lazy networks by cause: noise, initialization, sampling, bias.

Networks are trained on several data sets, with several draws of label noise each, from the same
initializations: predictions [data, noise, init, test], which `decompose_predictions` splits.
"""

from __future__ import annotations  # help() shows the names of types, not their definitions

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble import _plots, glossary
from doubletrouble._display import Column, Content, Shown, Table, content_of
from doubletrouble.data import Data, as_data
from doubletrouble.ensembles import Ensemble, EnsembleLike, Vote, as_ensemble
from doubletrouble.errors import DivergenceError, SweepInterrupted
from doubletrouble.estimates import Estimate, Statistic, draws_digest, estimate_of
from doubletrouble.learners import Decomposition, decompose_predictions
from doubletrouble.losses import ClassifierLoss, NetworkMeasure
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._misclassification import grouped
from doubletrouble.networks._network import NetworkMember
from doubletrouble.networks._result import (
    ensemble_size,
    leave_one_out,
    zero_one_error,
    zero_one_terms,
)
from doubletrouble.networks._settings import (
    DEFAULTS,
    DTypeName,
    Training,
    TrainingOutcome,
    settings_used,
)
from doubletrouble.networks._training import TrainingTask, train_members
from doubletrouble.parameters import MOST_SEEDS, FloatArray, number, whole_number
from doubletrouble.results import ErrorTerms

_NOISE = 2  # random stream of the label noise, apart from those of the members
_SHOWN = 5  # networks listed in a message
_NO_NOISE = "No label noise (noise and flips are 0): one draw for each data set, for any n_noise."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LazySplit(Shown):
    """The test error by cause, of networks trained on several data sets."""

    predictions: FloatArray  # [data, noise, init, test]
    y_test: FloatArray
    squared: Decomposition  # of the squared error
    train_error: FloatArray  # [data, noise, init]
    settings: dict[str, Any] = field(default_factory=dict)

    def error(
        self, ensemble: EnsembleLike = 1, *, measure: NetworkMeasure = "squared"
    ) -> ErrorTerms[Estimate]:
        """Return the test error of K initializations, averaged over data sets and noise.

        Parameters
        ----------
        ensemble : float or Ensemble or Vote, default: 1
            K, the number of initializations whose scores are averaged, or `Ensemble(K)`; or
            `Vote(K)`. Any K for the squared error, as in `Decomposition.error`, and up to `n_init`
            for "zero_one", where the mean over disjoint groups of K is returned.
        measure : "squared" or "zero_one", default: "squared"
            The squared error against ±1, or the error rate: the share of test points of the wrong
            class.

        Returns
        -------
        ErrorTerms of Estimate
            The total, and for the squared error every part.

        Raises
        ------
        ValueError
            If `ensemble` is another scheme, or too large for the initializations, or the measure is
            unknown, or is not "zero_one" for a vote.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        if measure == "squared" and not isinstance(ensemble, Vote):
            return self.squared.error(as_ensemble(ensemble, "LazySplit.error"))
        K = ensemble_size(ensemble, "LazySplit.error", measure)
        groups = grouped(self.predictions, K)  # [data, noise, group, K, test]
        rates = zero_one_error(groups, self.y_test, ensemble).mean(axis=1)  # [data, group]
        table = leave_one_out(rates)
        if rates.shape[1] > 1:
            table = leave_one_out(table.T).T
        key = ("LazySplit.error", draws_digest(self.predictions), K)
        points = np.zeros((0, len(self.y_test)))
        return zero_one_terms(estimate_of(Statistic(table=table, points=points, key=key)))

    def _content(self) -> Content:
        content = content_of(self.squared)
        notes, loss = list(content.notes), self.settings.get("loss", "squared")
        if loss != "squared":
            notes.append(
                f"loss {loss!r} does not fit scores to ±1: squared errors may be large; see the "
                "error rate"
            )
        K = self.predictions.shape[2]
        schemes = {"one network": Ensemble(1), f"mean of {K}": Ensemble(K), f"vote of {K}": Vote(K)}
        rows = [[name, self.error(one, measure="zero_one").total] for name, one in schemes.items()]
        rates = Table(
            name="error_rate",
            title="Error rate",
            columns=(Column(name="error_of", heading="by", form="words"), Column(name="error")),
            rows=rows if K > 1 else rows[:1],
            confidence=self.squared.confidence,
        )
        settings = {**self.settings, "train_error": float(self.train_error.mean())}
        return replace(
            content,
            tables=[*content.tables, rates],
            notes=notes,
            facts={**content.facts, "settings": settings},
        )

    def _picture(self) -> _plots.Picture:
        return self.squared._picture()


def lazy_split(
    data: Data,
    *,
    n_data: int = DEFAULTS["n_data"],
    n_init: int = DEFAULTS["n_init"],
    n_noise: int = DEFAULTS["n_noise"],
    noise: float = 0.0,
    flips: float = 0.0,
    width: int = DEFAULTS["width"],
    depth: int = DEFAULTS["depth"],
    laziness: float = DEFAULTS["laziness"],
    seed: int = 0,
    device: str = "auto",
    dtype: DTypeName = "float32",
    memory: float | None = None,
    store: str | Path | None = None,
    progress: bool = True,
    loss: ClassifierLoss = "squared",
    **training: Any,
) -> LazySplit:
    """Train on disjoint data sets from the same initializations, and split the error by cause.

    Parameters
    ----------
    data : Data
        The training set, whose pool gives the data sets, and the test set.
    n_data : int, default: 5
        The number of data sets, at least 2.
    n_init : int, default: 5
        The number of initializations, at least 1.
    n_noise : int, default: 2
        Draws of label noise on each data set, at least 1; one if `noise` and `flips` are 0.
    noise : float, default: 0.0
        The standard deviation of Gaussian noise added to the training labels ±1; 0 unless the loss
        is "squared".
    flips : float, default: 0.0
        The probability that a training label is flipped, in [0, 1].
    width : int, default: 30
        Nodes of every hidden layer, in [1, 100000].
    depth : int, default: 5
        Linear layers of a network, in [2, 100].
    laziness : float, default: 100.0
        α, the scale of a network's output, in [1e-6, 1e6]; `math.inf` trains the network linearized
        at initialization.
    seed : int, default: 0
        The seed of the initial weights and of the noise, in [0, 2³²).
    device : str, default: "auto"
        "auto" (a GPU if there is one), "cpu", "cuda" ...
    dtype : "float32" or "tf32" or "float64", default: "float32"
        The precision; "tf32" has faster and coarser matrix products on a GPU.
    memory : float or None, default: None
        The most bytes of the batches in training; None for the free memory.
    store : str or path or None, default: None
        The path of a checkpoint; an interrupted call continues from it when it is repeated.
    progress : bool, default: True
        Whether progress is shown on stderr.
    loss : "hinge" or "squared_hinge" or "squared" or "logistic", default: "squared"
        The training loss. "squared" is that of the theory of the error by cause, and the only one
        for which `noise` is added to labels.
    **training : object
        Other options of `train_lazy`: optimizer, learning_rate, max_steps, patience, tolerance,
        batch_size.

    Returns
    -------
    LazySplit
        The test error by cause.

    Raises
    ------
    ValueError
        If the pool is too small for the data sets, or an option is not one of those listed, out of
        range, or not available on the device.
    TypeError
        If `data` is not a `Data`, or an option of training is unknown.
    DivergenceError
        If networks diverged; the message lists them.
    StoreError
        If `store` is not a checkpoint of the same call, or cannot be written.
    MemoryError
        If a network, or the tangent kernel of "exact", does not fit into memory.
    MissingExtraError
        If torch is not installed.

    Examples
    --------
    >>> import doubletrouble as dt, math
    >>> digits = dt.load_data("digits", n_samples=50)
    >>> split = dt.lazy_split(
    ...     digits, n_data=3, n_init=3, width=16, laziness=math.inf, noise=0.5, device="cpu"
    ... )
    >>> split.predictions.shape
    (3, 2, 3, 500)
    >>> split.error().noise.value > 0
    True
    """
    as_data(data)
    sigma = number("noise", noise, glossary.NOISE)
    share = number("flips", flips, glossary.LABEL_FLIPS)
    draws = whole_number("n_noise", n_noise, 1)
    noisy = bool(sigma or share)
    if not noisy:
        draws = 1
    inits = whole_number("n_init", n_init, 1)
    w = int(number("width", width, glossary.WIDTH))
    alpha = number("laziness", laziness, glossary.LAZINESS)
    root = whole_number("seed", seed, 0, MOST_SEEDS)
    options = Training.of(loss=loss, **training)
    if sigma and loss != "squared":
        raise ValueError(
            f"noise must be 0 for loss {loss!r}, whose labels are classes, got {noise!r}; use flips"
        )
    blocks = data.blocks(whole_number("n_data", n_data, 2))
    x = np.repeat(np.stack([block.x_train for block in blocks]), draws, axis=0)
    y = np.repeat(np.stack([block.y_train for block in blocks]), draws, axis=0)
    rng = np.random.default_rng(np.random.SeedSequence(root, spawn_key=(_NOISE,)))
    y = np.where(rng.random(y.shape) < share, -y, y) + sigma * rng.standard_normal(y.shape)
    task = TrainingTask(
        members=[
            NetworkMember(width=w, laziness=alpha, number=k, data=d, seed=root)
            for d in range(len(x))
            for k in range(inits)
        ],
        x=x,
        y=y,
        x_test=data.x_test,
        depth=int(number("depth", depth, glossary.DEPTH)),
        training=options,
        device=TorchDevice.of(device, dtype),
    )
    try:
        outcomes = train_members(task, memory=memory, store=store, progress=progress)
    except KeyboardInterrupt:
        if store is None or not Path(store).exists():
            raise
        raise SweepInterrupted(
            f"interrupted; the networks trained so far are in {store}: repeat the call to continue"
        ) from None
    shape = (n_data, draws, inits)
    _raise_if_diverged(outcomes, shape)
    predictions = np.stack([outcome.scores for outcome in outcomes]).reshape(*shape, -1)
    settings = {
        "width": w,
        "depth": task.depth,
        "laziness": alpha,
        "noise": sigma,
        "flips": share,
        "seed": root,
        "dtype": dtype,
        "data": data.name,
        **settings_used(asdict(options), alpha),
    }
    squared = decompose_predictions(predictions, y_test=data.y_test, noiseless=not noisy)
    notes = squared.notes if noisy else (_NO_NOISE, *squared.notes)
    return LazySplit(
        predictions=predictions,
        y_test=data.y_test,
        squared=replace(squared, notes=notes),
        train_error=np.array([outcome.train_error for outcome in outcomes]).reshape(shape),
        settings=settings,
    )


def _raise_if_diverged(outcomes: list[TrainingOutcome], shape: tuple[int, ...]) -> None:
    lost = [k for k, outcome in enumerate(outcomes) if outcome.status == "diverged"]
    if lost:
        which = ", ".join(str([int(i) for i in np.unravel_index(k, shape)]) for k in lost[:_SHOWN])
        raise DivergenceError(
            f"{len(lost)} of {len(outcomes)} networks diverged; a smaller learning_rate may help "
            f"([data, noise, init]: {which}{', ...' if len(lost) > _SHOWN else ''})"
        )
