"""The marker `docs`: tests that run every command of the pages, for minutes. `make docs-check` chooses them."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "docs: runs the commands of the pages, for minutes; only with -m docs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselected, not skipped: in CI a skipped test is a failure."""
    if "docs" in config.getoption("markexpr", ""):
        return
    left_out = [item for item in items if item.get_closest_marker("docs")]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
