"""docs/results.md and the README's table are what the committed figures say."""

from __future__ import annotations

import pytest

from benchmarks import report
from benchmarks.report import Goal


def test_the_pages_are_written_from_the_committed_figures() -> None:
    reports = report.load_reports()
    assert report.results_page(reports) == report.RESULTS_PAGE.read_text()
    readme = report.README.read_text()
    assert report.with_table(readme, report.summary_table(reports)) == readme
    page = report.CLUSTER_PAGE.read_text()
    assert report.with_table(page, report.cluster_page(reports["cluster"])) == page


@pytest.mark.parametrize(
    ("measured", "at_most", "missed"),
    [(9.9, False, True), (10.0, False, False), (9.9, True, False), (10.1, True, True)],
)
def test_a_missed_goal_is_shown(measured: float, at_most: bool, missed: bool) -> None:
    row = Goal("figure", "words", 10, at_most).row({"figure": measured})
    assert ("(missed)" in row) is missed


def test_a_share_is_shown_in_percent() -> None:
    row = Goal("exchange_share", "words", 0.03, at_most=True).row({"exchange_share": 0.0512})
    assert row == "| words | **5.1 %** | at most 3 % (missed) |"


def test_only_the_table_in_the_readme_is_replaced() -> None:
    readme = f"before\n{report.README_BEGIN}old\n{report.README_END}after\n"
    assert report.with_table(readme, "new\n") == f"before\n{report.README_BEGIN}new\n{report.README_END}after\n"
    with pytest.raises(ValueError, match="markers"):
        report.with_table("no markers", "new\n")
