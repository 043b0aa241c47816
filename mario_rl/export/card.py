"""The model card: README.md of an export, with the metadata that the Hugging Face Hub reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from mario_rl.export.onnx_file import Agreement

LICENCE = "mit"


@dataclass(frozen=True)
class Figure:
    """One measured share: a row of the card's table, and a metric of its metadata."""

    protocol: str
    counts: str
    """How often, of how many: "97 of 100"."""
    seeds: str
    rate: float
    low: float
    high: float
    details: str
    metric: str
    """The metric's type in the metadata."""
    environment: str
    """What was played, in words."""
    environment_id: str
    """The same as Gymnasium or the package names it."""

    @property
    def interval(self) -> str:
        """The 95 % interval, for people."""
        return f"{self.low:.1%} to {self.high:.1%}"


@dataclass(frozen=True)
class Card:
    """All there is to say about an export."""

    name: str
    what: str
    """A paragraph: what it is, what it sees, what it does."""
    library: str
    tags: Sequence[str]
    figures: Sequence[Figure]
    unit: str
    """What is counted in the table: flags, or wins and clears."""
    measured: str
    """How the figures were made, in a few sentences."""
    evaluate: Sequence[str]
    """The commands that measure again."""
    trained: str
    train: str
    """The command that trains one like it."""
    agreement: Agreement
    loading: Sequence[str]
    """Sections of Markdown: how to play it, in the ways there are."""
    files: Sequence[tuple[str, str]]
    """Names, and what they hold."""
    notes: Sequence[str] = ()

    def text(self) -> str:
        """README.md."""
        metadata = yaml.safe_dump(self.metadata(), sort_keys=False, allow_unicode=True, width=1000)
        return f"---\n{metadata}---\n\n{self._body()}"

    def metadata(self) -> dict[str, Any]:
        """What the Hub reads: its model-index holds the measured figures."""
        return {
            "library_name": self.library,
            "license": LICENCE,
            "pipeline_tag": "reinforcement-learning",
            "tags": ["reinforcement-learning", "mario-rl", "onnx", *self.tags],
            "model-index": [{"name": self.name, "results": [_result(figure) for figure in self.figures]}],
        }

    def _body(self) -> str:
        rows = [
            [f.protocol, f.environment, f.counts, f"{f.rate:.1%}", f.interval, f.seeds, f.details] for f in self.figures
        ]
        head = ["protocol", "played", self.unit, "share", "95 % interval", "seeds", ""]
        same = self.agreement
        ties = f"; in {same.ties} of them two choices were equal" if same.ties else ""
        parts = [
            f"# {self.name}",
            self.what,
            "## Results",
            _table(head, rows),
            self.measured,
            "To measure again, in this folder:",
            _code("\n".join(self.evaluate)),
            "## How it was trained",
            self.trained,
            _code(self.train),
            "## How to use it",
            *self.loading,
            "## The ONNX file",
            f"`policy.onnx` (opset {same.opset}, any batch size) was compared with the original on {same.observations} "
            f"observations of real games: the same greedy choices{ties}, and a largest difference of "
            f"{same.largest_difference:.1e} in any number (allowed: {same.tolerance:g}, beyond 1 as a share).",
            "## Files",
            _table(["file", "what it holds"], [[f"`{name}`", text] for name, text in self.files]),
            *(["## Limits", "\n".join(f"- {note}" for note in self.notes)] if self.notes else []),
            "## Licence",
            f"The weights and this folder are under the {LICENCE.upper()} licence, as mario-rl is; change `license` "
            "above if yours are not. No ROM is included. The games, and the pictures of them in a video, belong to "
            "their owners.",
        ]
        return "\n\n".join(parts) + "\n"


def python(code: str) -> str:
    """A block of Python."""
    return f"```python\n{code.strip()}\n```"


def shell(*commands: str) -> str:
    """A block of commands."""
    return _code("\n".join(commands))


def _code(text: str) -> str:
    return f"```bash\n{text}\n```"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _result(figure: Figure) -> dict[str, Any]:
    return {
        "task": {"type": "reinforcement-learning", "name": "reinforcement-learning"},
        "dataset": {"name": figure.environment, "type": figure.environment_id},
        "metrics": [
            {
                "type": figure.metric,
                "name": f"{figure.protocol}, {figure.counts}, 95 % interval {figure.interval}",
                "value": round(figure.rate, 4),
                "verified": False,
            }
        ],
    }
