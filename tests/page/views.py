"""Random settings and views, within the limits that are declared."""

import math

import hypothesis
from hypothesis import strategies as st

from doubletrouble.page import fields
from doubletrouble.page.kinds import ChoiceField, Field, NumberField
from doubletrouble.page.setting import PageSetting, PageView

patient = hypothesis.settings(deadline=None, max_examples=60)
"""For a machine that does other things, too."""

SETTING = tuple(PageSetting().fields)
LOOK = PageView().fields
FIELDS = (fields.WIDTH["D"], *SETTING, *LOOK)


def values(field: Field) -> st.SearchStrategy[float | str]:
    """Any value of a field."""
    if isinstance(field, ChoiceField):
        return st.sampled_from([*field.choices])
    return st.one_of(_numbers(field), st.sampled_from(field.stops))


def _numbers(field: NumberField) -> st.SearchStrategy[float]:
    low, high = field.spec.low, field.spec.high
    if field.spec.whole:
        found = st.integers(int(low), int(min(high, 1e9))).map(float)
    else:
        found = st.floats(low, min(high, 1e9))
    return st.one_of(found, st.just(math.inf)) if field.spec.or_inf else found


settings = st.builds(PageSetting, **{field.name: values(field) for field in SETTING})
views = st.builds(
    PageView, first=settings, second=st.none() | settings,
    **{field.name: values(field) for field in LOOK if field is not fields.POINTS},
    points=st.integers(2, 60).map(float),
)  # fmt: skip
near = st.builds(  # where most readers look
    PageSetting, per=values(fields.PER), width=st.sampled_from(fields.WIDTH["N"].stops[:-1]),
    samples=st.sampled_from(fields.SAMPLES.stops), ridge=st.sampled_from(fields.RIDGE.stops),
    snr=st.sampled_from(fields.SNR.stops), nonlinear=st.sampled_from(fields.NONLINEAR.stops),
    members=st.sampled_from([1.0, 2.0, 10.0]), scheme=values(fields.SCHEME),
    activation=values(fields.ACTIVATION),
)  # fmt: skip
