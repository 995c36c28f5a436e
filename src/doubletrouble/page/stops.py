"""The best times to stop: found when the sliders are at rest, and kept for what is drawn then."""

import math
from collections import OrderedDict
from threading import Lock

from doubletrouble.page.setting import PageSetting
from doubletrouble.results import StoppingTime
from doubletrouble.theory import best_stopping_time

_KEPT = 256


class Stops:
    """The best stopping times of a server's readers; to find one takes longer than a redraw."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[PageSetting, StoppingTime] = OrderedDict()

    def known(self, setting: PageSetting) -> StoppingTime | None:
        """The best time for a setting, if it was found before."""
        with self._lock:
            return self._found.get(_trained(setting))

    def best(self, setting: PageSetting) -> StoppingTime | None:
        """The best time for a setting; None where infinitely many features are trained at once."""
        if math.isinf(setting.width):
            return None
        problem = setting.problem
        found = self.known(setting) or best_stopping_time(problem, setting.ensemble(problem))
        with self._lock:
            self._found[_trained(setting)] = found
            self._found.move_to_end(_trained(setting))
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return found


def _trained(setting: PageSetting) -> PageSetting:
    """Wherever the slider of time stands, the best time is the same."""
    return setting.changed({"time": math.inf})
