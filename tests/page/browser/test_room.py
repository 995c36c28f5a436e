"""Nothing covers anything else: words, marks, numbers and tables have the room they need."""

import pytest
from playwright.sync_api import Locator, expect

from tests.page.browser.shown import PLOT, Shown

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.full]

Box = tuple[float, float, float, float]
BOTH = "members=3&second.ridge=0.1&second.scheme=subsample"


def boxes(found: Locator) -> list[Box]:
    """Left, top, right and bottom of every element."""
    sides: list[Box] = found.evaluate_all(
        """all => all.map(e => e.getBoundingClientRect())
          .map(box => [box.left, box.top, box.right, box.bottom])"""
    )
    assert sides
    return sides


def overlap(one: Box, other: Box, gap: float = 0.0) -> bool:
    return (
        one[0] < other[2] + gap
        and other[0] < one[2] + gap
        and one[1] < other[3] + gap
        and other[1] < one[3] + gap
    )


def at_rest(shown: Shown, query: str) -> None:
    shown.go(query)
    shown.rests()
    shown.page.evaluate("new Promise(requestAnimationFrame)")


def test_tables_fit_a_telephone(telephone: Shown) -> None:
    for query in (BOTH, "second.ridge=0.1&split=effects", "along=time&second.members=inf"):
        at_rest(telephone, query)
        telephone.says("advice", "Change")
        for name in (".readout", ".wide"):
            room = telephone.page.locator(name).evaluate("e => e.clientWidth - e.scrollWidth")
            assert room >= 0, (query, name)
    ((_, _, _, bottom),) = boxes(telephone.page.locator(".readout table"))
    ((_, top, _, _),) = boxes(telephone.page.locator(".simulation h2"))
    assert top - bottom >= 8


def test_a_table_that_is_wider_than_its_room_shows_that_it_scrolls(telephone: Shown) -> None:
    look = telephone.page.locator(".readout").evaluate(
        "e => [getComputedStyle(e).backgroundAttachment, getComputedStyle(e).overflowX]"
    )
    assert "local" in look[0]
    assert "scroll" in look[0]
    assert look[1] == "auto"


@pytest.mark.parametrize("query", [BOTH, "along=time&second.members=inf", "", "split=effects"])
def test_on_a_telephone_words_and_numbers_are_apart(query: str, telephone: Shown) -> None:
    at_rest(telephone, query)
    words = boxes(telephone.page.locator("#plot .annotation-text-g text"))
    numbers = boxes(telephone.page.locator("#plot .xtick text, #plot .x2tick text"))
    for place, one in enumerate(words):
        assert not any(overlap(one, other) for other in words[place + 1 :] + numbers), query
    for place, one in enumerate(numbers):
        assert not any(overlap(one, other, 2) for other in numbers[place + 1 :]), query


def test_the_last_number_of_an_axis_is_there(telephone: Shown) -> None:
    at_rest(telephone, BOTH)
    for axis in ("xtick", "x2tick"):
        said = telephone.page.locator(f"#plot .{axis} text").all_text_contents()
        assert said[-1].replace("\u200b", "") == "102"  # 10², as Plotly writes it


def test_two_plots_beside_each_other_have_numbers_that_are_apart(shown: Shown) -> None:
    at_rest(shown, "second.ridge=0.1")
    numbers = boxes(shown.page.locator("#plot .xtick text, #plot .x2tick text"))
    for place, one in enumerate(numbers):
        assert not any(overlap(one, other, 8) for other in numbers[place + 1 :])


@pytest.mark.parametrize(
    "query",
    [
        "width=1&ridge=0&form=areas&y=linear&second.members=inf",
        "width=100000&samples=1000&snr=0.000001",
        "width=1&ridge=0",
        "scheme=bootstrap&width=0.632&ridge=0",
        "members=10&scheme=divide",
    ],
)
def test_the_words_of_a_threshold_are_beside_the_plot_and_its_marks(
    query: str, shown: Shown
) -> None:
    at_rest(shown, query)
    label = shown.page.locator("#plot .annotation-text-g text", has_text="P =")
    expect(label.first).to_be_visible()
    areas = boxes(shown.page.locator("#plot .nsewdrag"))
    rings = boxes(shown.page.locator(f"{PLOT} .scatterlayer .points path"))
    legend = boxes(shown.page.locator("#plot .legend"))
    for words in boxes(label):
        assert not any(overlap(words, other) for other in (*areas, *rings, *legend))


def test_areas_on_a_logarithmic_axis_are_warned_of(shown: Shown) -> None:
    shown.go("form=areas&y=linear")
    assert shown.text("notes") == ""
    shown.go("form=areas")
    shown.says("notes", "the height of an area is not its share of the error")
