"""A scheme that is added to the library is on the page, without a change of the page."""

import subprocess
import sys

SCRIPT = '''
from dataclasses import dataclass

import matplotlib
import numpy as np

import doubletrouble as dt
from doubletrouble.ensembles import Scheme


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOut(Scheme):
    """K models, each on all samples but its own N/K of them."""

    summary = "{K} models, own features, all data but a part of their own"
    any_size = False

    def __post_init__(self):
        super().__post_init__()
        K = np.asarray(self.n_members)
        if np.any(K < 2) or np.any(np.isinf(K)):
            raise ValueError(f"n_members must be finite and at least 2, got {self.n_members!r}")
        self._set(sample_share=(K - 1.0, K), shared_samples=(K - 2.0) / (K - 1.0))


matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

from doubletrouble.page import address, advisor, fields, files
from doubletrouble.page.answer import answer
from doubletrouble.page.explanation import UNADVISED, explanation
from doubletrouble.page.jobs import Jobs
from doubletrouble.page.stops import Stops

pyplot.show = lambda: None
dt.LeaveOut = LeaveOut
label = "leave out: K models, own features, all data but a part of their own"
assert fields.SCHEME.choices["leave_out"] == label

view, notes = address.read("scheme=leave_out")
assert view.first.members == 2
assert notes == ("This scheme does not have as many models; the nearest number is shown.",)
assert address.read(address.write(view)) == (view, ())
assert address.read("scheme=leave_out&members=inf")[0].first.members == 1e6

for along in fields.ALONG.choices:
    for split in fields.SPLIT.choices:
        found = answer({"query": f"scheme=leave_out&along={along}&split={split}&points=20"}, Jobs())
        (drawn,) = found.drawn
        assert np.isfinite(drawn.total).all(), along
        assert (drawn.level is None) == (along != "time"), along
        exec(compile(files.script(found.view), "remade", "exec"), {})
        pyplot.close("all")
        assert explanation(found.view, Stops()).endswith(".")
        assert advisor.panel(found.view).children == UNADVISED

ten = answer({"query": "scheme=leave_out&members=10"}, Jobs())
assert ten.view.first.thresholds("width") == [0.9]
assert [note["text"] for note in ten.figure["layout"]["annotations"]] == ["P = 0.9 N"]
'''


def test_a_new_scheme_is_on_the_page() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
