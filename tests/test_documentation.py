"""What the documentation shows works as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE_TREE = Path(__file__).resolve().parents[1]
PAGES = [SOURCE_TREE / "README.md", *sorted((SOURCE_TREE / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example: str, smb_rom: Path) -> None:
    exec(example.replace("game.nes", str(smb_rom)), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_is_short() -> None:
    assert len((SOURCE_TREE / "README.md").read_text().splitlines()) < 120
