"""What the documentation shows works as written."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path

import pytest

from benchmarks.report import README_BEGIN, README_END
from mario_rl.learners import registry
from tests.docs.commands import PAGES, SOURCE_TREE

EXAMPLES = {
    page.name: re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE) for page in PAGES
}

OWN_CARTRIDGE = ("drmario.md",)  # pages whose examples need nobody's ROM


@pytest.mark.parametrize("page", [name for name, examples in EXAMPLES.items() if examples])
def test_the_examples_of_a_page_run_one_after_the_other(
    page: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # what examples leave there is removed with it
    rom = "antidote, which we have" if page in OWN_CARTRIDGE else str(request.getfixturevalue("smb_rom"))
    monkeypatch.setattr(registry, "ALGORITHMS", dict(registry.ALGORITHMS))  # a page may add one
    namespace: dict[str, object] = {}
    for example in EXAMPLES[page]:
        exec(example.replace("game.nes", rom), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_into_a_page_name_one_of_its_headings(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        linked = page.parent / target if target else page
        assert heading in _headings(linked), f"{page.name} links to {target}#{heading}"


def _headings(page: Path) -> set[str]:
    """As GitHub names them in links."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in found}


def test_the_little_tree_is_as_generated() -> None:
    spec = importlib.util.spec_from_file_location("make_little_tree", SOURCE_TREE / "docs" / "make_little_tree.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = script.PAGE.read_text()
    assert script.with_block(page) == page


def test_the_readme_is_short() -> None:
    """But for its table of figures, which grows with what is measured."""
    readme = (SOURCE_TREE / "README.md").read_text()
    prose = readme[: readme.index(README_BEGIN)] + readme[readme.index(README_END) :]
    assert len(prose.splitlines()) < 110
