"""Lines of text that several pages show."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rich.text import Text

from mario_rl.dashboard.figures import one_line
from mario_rl.metrics.aggregator import LogLine

LEVEL_STYLES = {"info": "", "warning": "yellow", "error": "bold red"}


def joined(lines: Iterable[Text], width: int) -> Text:
    """Lines as one text, none of them wider than the screen."""
    fitting = list(lines)
    for line in fitting:
        line.truncate(max(width, 1))
    return Text("\n", no_wrap=True).join(fitting)


def log_line(line: LogLine, width: int | None = None) -> Text:
    """A line of the log, with an ellipsis at `width`. A warning says so in a word, not only in colour."""
    clock = time.strftime("%H:%M:%S", time.localtime(line.time))
    mark = "" if line.level == "info" else f"{line.level}: "
    text = Text.assemble((f"{clock} ", "dim"), (f"{line.source:<11} ", "dim"))
    text.append(mark + one_line(line.text), LEVEL_STYLES.get(line.level, ""))
    if width is not None:
        text.truncate(max(width, 1), overflow="ellipsis")
    return text
