"""The experimental design of predictions, and which parts of the error it identifies."""

from dataclasses import dataclass, replace

from doubletrouble.losses import LearnerMeasure
from doubletrouble.palette import printed_name

_DRAWS = {
    "noise": "draws of label noise on each data set (n_noise)",
    "init": "initializations (n_init)",
    "data": "data sets (n_data)",
}
_GIVEN = {
    "crossed": "the same initializations for every data set, got fresh ones (crossed=False)",
    "target": "truth or y_test, got neither",
    "both": "labels of the test points with and without noise (truth and y_test)",
}


def least_draws(measure: LearnerMeasure) -> int:
    """The number of draws of a factor that identifies its effect: the vote of two is one's."""
    return 3 if measure == "zero_one" else 2


@dataclass(frozen=True, kw_only=True)
class Design:
    """The numbers of draws, and which of them are shared.

    It is part of a result; its values are not validated.

    Parameters
    ----------
    n_data : int
        D, the number of training sets.
    n_noise : int
        N, the draws of label noise on each of them, or of noise added to them.
    n_init : int
        K, the number of initializations.
    n_test : int
        T, the number of test points.
    crossed : bool
        Whether the K initializations are the same for every data set.
    targets : tuple of str
        The targets of the predictions: "truth", "y_test", both or neither.
    deterministic : bool, default: False
        Whether the learner has no randomness: one initialization suffices.
    noiseless : bool, default: False
        Whether labels have no noise: one draw suffices.
    hidden_noise : bool, default: False
        Whether labels have noise of their own that no draw changes.
    injected : float or None, default: None
        The variance of the labels' own noise over that of the added noise, where it is known.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> design = dt.results.Design(
    ...     n_data=5, n_noise=1, n_init=3, n_test=100, crossed=True, targets=("truth",)
    ... )
    >>> design.absorbed["sampling"]
    'label noise'
    >>> print(*design.notes)
    One noise draw for each data set: the effect of label noise is in initialization and sampling.
    """

    n_data: int
    n_noise: int
    n_init: int
    n_test: int
    crossed: bool
    targets: tuple[str, ...]
    deterministic: bool = False
    noiseless: bool = False
    hidden_noise: bool = False
    injected: float | None = None

    @property
    def own_labels(self) -> "Design":
        """The design of the fits to labels without added noise."""
        return replace(self, n_noise=1, injected=None)

    @property
    def shares_inits(self) -> bool:
        """Whether initializations are a second random factor, beside the data sets."""
        return self.crossed and self.n_init > 1

    @property
    def target(self) -> str:
        """The target of the total error: y_test if it is given, else the truth."""
        return self.targets[-1]

    def lacks(
        self, name: str, needs: tuple[str, ...], measure: LearnerMeasure = "squared"
    ) -> str | None:
        """Return the reason why a part of the error is not identified.

        Parameters
        ----------
        name : str
            The name of the part, for the message.
        needs : tuple of str
            What the part needs, of "noise", "init" and "data" (2 or more draws, or 3), "crossed",
            "target" and "both" (truth and y_test).
        measure : "squared" or "log" or "zero_one", default: "squared"
            The measure of the error; "zero_one" needs 3 or more draws.

        Returns
        -------
        str or None
            The reason; None if the part is identified.
        """
        counts = {"noise": self.n_noise, "init": self.n_init, "data": self.n_data}
        constant = {"noise": self.noiseless, "init": self.deterministic}
        given = {
            "crossed": self.crossed or self.deterministic,
            "target": bool(self.targets),
            "both": len(self.targets) > 1,
        }
        least = least_draws(measure)
        for need in needs:
            if need in counts and (n := counts[need]) < least and not constant.get(need):
                why = ": the majority of two votes has the error of one" if n == 2 else ""
                return f"{printed_name(name)} needs {least} or more {_DRAWS[need]}, got {n}{why}"
            if not given.get(need, True):
                return f"{printed_name(name)} needs {_GIVEN[need]}"
        return None

    @property
    def absorbed(self) -> dict[str, str]:
        """Causes that the design does not separate, by the name of the part that contains them."""
        absorbed = {}
        unknown = self.hidden_noise or (self.n_noise == 1 and not self.noiseless)
        if unknown and self.n_init > 1:  # by interaction of the initialization with these labels
            absorbed["initialization"] = absorbed["initialization_sampling"] = "label noise"
        if unknown and self.n_data > 1:
            absorbed["sampling"] = "label noise"
        if self.targets == ("y_test",):
            absorbed["bias"] = "noise floor"
        return absorbed

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what each part contains, and on standard errors."""
        notes = []
        last = "sampling" if self.n_data > 1 else "bias"
        if self.n_noise == 1 and not self.noiseless:
            where = f"initialization and {last}" if self.n_init > 1 else last
            notes.append(
                f"One noise draw for each data set: the effect of label noise is in {where}."
            )
        if self.n_init == 1 and not self.deterministic:
            where = "sampling and bias" if self.crossed and self.n_data > 1 else last
            notes.append(
                f"One initialization: the effect of its draw is in {where} "
                "(it is zero for a learner without randomness)."
            )
        if self.n_data == 1:
            notes.append("One data set: the effect of its draw is in bias.")
            notes.append("Standard errors are infinite: they need 2 or more data sets.")
        elif self.n_data == 2:
            notes.append(
                "Standard errors of sampling and bias are infinite: they need 3 or more data sets."
            )
        if self.shares_inits and self.n_init == 2:
            notes.append(
                "Standard errors of initialization, sampling and bias are infinite: they need 3 or "
                "more shared initializations."
            )
        if not self.targets:
            notes.append("Bias and total are not identified: neither truth nor y_test was given.")
        elif self.targets == ("y_test",):
            notes.append("Bias and total are against y_test and contain the noise of its labels.")
        return tuple(notes)
