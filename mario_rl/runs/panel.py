"""What stands beside the picture while people watch: where Mario is, what is pressed, what the model thinks.

Plain lines of text, the same in a terminal and in a window, readable without colour.
"""

from __future__ import annotations

from dataclasses import dataclass

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, UP, A, B
from mario_rl.runs.evaluate import Episode
from mario_rl.runs.player import Moment

PANEL_WIDTH = 30  # characters

_BUTTONS = {LEFT: "←", UP: "↑", DOWN: "↓", RIGHT: "→", B: "B", A: "A"}
_NAME_WIDTH = 9  # of the longest action, right+A+B
_BAR_WIDTH = 10
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass
class Panel:
    """The lines of one show."""

    actions: list[str]
    shows: str
    """What the numbers beside the actions are: "Q" or "probability"."""
    heading: str
    """What is playing."""

    def lines(self, moment: Moment, played: list[Episode], episodes: int | None) -> list[str]:
        """The panel at a moment, after the episodes that were played before."""
        info = moment.info
        number = f"episode {len(played) + 1}" + (f" of {episodes}" if episodes is not None else "")
        flags = sum(episode.flag for episode in played)
        return [
            self.heading[:PANEL_WIDTH],
            "",
            f"level {info['level']}   time {info['time']}",
            f"x {info['x_pos']}   best {info['x_pos_max']}",
            f"{number}   step {info['episode_length']}",
            f"flags {flags} of {len(played)}",
            "",
            buttons(moment.pad),
            "",
            self.shows,
            *self._bars(moment),
            "",
            ending(moment) if moment.ended else "",
            "q quits · space pauses",
        ]

    def _bars(self, moment: Moment) -> list[str]:
        values = [float(value) for value in moment.values]
        # Probabilities fill a bar of 1; Q-values are close together, so bars show where they lie between each other.
        low, high = (0.0, 1.0) if self.shows == "probability" else (min(values), max(values))
        span = high - low or 1.0
        return [
            f"{'▸' if number == moment.action else ' '}{name:<{_NAME_WIDTH}} {bar((value - low) / span)} {value:7.3f}"
            for number, (name, value) in enumerate(zip(self.actions, values, strict=True))
        ]


def buttons(pad: int) -> str:
    """The pad with the pressed buttons in brackets."""
    return "".join(f"[{name}]" if pad & bit else f" {name} " for bit, name in _BUTTONS.items())


def bar(share: float) -> str:
    """A bar that is full at 1, exact to an eighth of a character."""
    eighths = round(min(max(share, 0.0), 1.0) * _BAR_WIDTH * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(_BAR_WIDTH)


def ending(moment: Moment) -> str:
    """How an episode ended, in words."""
    info = moment.info
    if info["flag_get"]:
        return f"flag after {info['episode_length']} steps"
    for key, words in (("time_up", "time up"), ("death", "died"), ("stuck", "stuck"), ("warp", "warped")):
        if info[key]:
            return f"{words} at x {info['x_pos']}"
    return f"cut short at x {info['x_pos']}"
