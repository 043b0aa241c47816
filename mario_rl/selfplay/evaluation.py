"""What the records of a match come to: figures with intervals, for programs and for people.

A score is (wins + draws / 2) / games. Its interval is Wilson's, with a draw as half a win and half a loss; since scores
with draws vary less than wins and losses alone, it is then a little too wide rather than too narrow. It takes games for
independent, which they are if each has a board of its own. Where boards were played twice, the games count for as many
as they are worth: n games whose pairs correlate by r are worth n / (1 + r).
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mario_rl.selfplay.cartridge_player import is_cartridge
from mario_rl.selfplay.match import Conditions, GameRecord
from mario_rl.selfplay.players import CHECKPOINTS

__all__ = ["as_json", "command", "figures", "score_interval", "table", "worth_in_games"]

Z_95 = 1.959963984540054  # the normal distribution's 97.5 % quantile
FRAMES_PER_SECOND = 60.0988  # of an NES
POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def score_interval(score: float, games: float) -> tuple[float, float]:
    """The 95 % interval of a score between 0 and 1 (Wilson 1927): sensible at 0 and 1 and for few games, too."""
    widening = Z_95**2 / games
    centre = (score + widening / 2) / (1 + widening)
    half = Z_95 * math.sqrt(score * (1 - score) / games + widening / (4 * games)) / (1 + widening)
    # Exactly 0 and 1 at the ends, where rounding may miss them.
    return (0.0 if score == 0 else centre - half, 1.0 if score == 1 else centre + half)


def worth_in_games(records: Sequence[GameRecord]) -> float:
    """How many independent games these are worth: fewer if boards were played twice and gave the same result again."""
    boards: dict[int, list[float]] = {}
    for record in records:
        boards.setdefault(record.seed, []).append(POINTS[record.result])
    pairs = np.array([points for points in boards.values() if len(points) == 2])
    if len(pairs) == 0:
        return float(len(records))
    variance = pairs.var()
    if variance == 0:  # nothing to tell a correlation from
        return float(len(boards))
    correlation = ((pairs - pairs.mean()).prod(axis=1)).mean() / variance
    return len(records) / (1 + max(float(correlation), 0.0))


def figures(
    a: str,
    b: str | None,
    records: Sequence[GameRecord],
    conditions: Conditions,
    checkpoints: Path = CHECKPOINTS,
    cluster: str = "off",
) -> dict[str, Any]:
    """All there is to say about a match between players of these names (b None: a alone), as in the JSON.

    `clear_rate` is the share of all games in which A's own bottle was cleared, `capsules_per_clear` what A placed in
    those (None if there are none). `sent` and `received` are pieces of garbage a game, `seconds` those of a game. Where
    a cartridge played, `frames` are those of all games and `late_frames` the most that one of them counted.
    """
    games = len(records)
    counts = {result: sum(record.result == result for record in records) for result in POINTS}
    score = sum(POINTS[record.result] for record in records) / games
    low, high = score_interval(score, worth_in_games(records))
    clears = [record.capsules for record in records if record.cleared]
    found = {
        "a": a,
        "b": b,
        "games": games,
        "wins": counts["win"],
        "draws": counts["draw"],
        "losses": counts["loss"],
        "rate": score,
        "low": low,
        "high": high,
        "clear_rate": len(clears) / games,
        "capsules_per_clear": _mean(clears),
        "most_capsules": max(clears, default=None),
        "top_outs": sum(record.ending == "top_out" and record.result == "loss" for record in records),
        "cut_off": sum(record.ending == "cut_off" for record in records),
        "seconds": _mean([record.frames for record in records], FRAMES_PER_SECOND),
        "missed": sum(record.missed for record in records),
    }
    if b is not None:
        found |= _versus(records)
    if is_cartridge(a) or is_cartridge(b):
        found |= _on_time(records)
    return found | {
        "level": conditions.level,
        "speed": conditions.speed,
        "backend": conditions.backend,
        "seed": conditions.first_seed,
        "seeds": sorted({record.seed for record in records}),
        "command": command(a, b, games, conditions, checkpoints, cluster),
    }


def _versus(records: Sequence[GameRecord]) -> dict[str, Any]:
    cleared = [record.opponent_capsules for record in records if record.opponent_viruses == 0]
    seats = sorted({record.seat for record in records})
    by_seat = {str(seat): _mean([POINTS[record.result] for record in records if record.seat == seat]) for seat in seats}
    return {
        "rate_by_seat": by_seat,
        "sent": _mean([record.sent for record in records]),
        "received": _mean([record.received for record in records]),
        "opponent_clear_rate": len(cleared) / len(records),
        "opponent_capsules_per_clear": _mean(cleared),
    }


def _on_time(records: Sequence[GameRecord]) -> dict[str, Any]:
    late = [record.late_frames for record in records if record.late_frames is not None]
    frames = {"frames": sum(record.frames for record in records)}
    return frames | {"late_frames": max(late)} if late else frames


def _mean(numbers: Sequence[float], unit: float = 1.0) -> float | None:
    return sum(numbers) / len(numbers) / unit if numbers else None


def command(
    a: str,
    b: str | None,
    games: int,
    conditions: Conditions,
    checkpoints: Path = CHECKPOINTS,
    cluster: str = "off",
) -> str:
    """What plays exactly this match again."""
    words = ["mario-rl", "selfplay", "evaluate", a, *([] if b is None else [b]), "--games", str(games)]
    words += ["--level", str(conditions.level), "--speed", conditions.speed, "--backend", conditions.backend]
    words += ["--seed", str(conditions.first_seed)]
    if conditions.rom is not None:
        words += ["--rom", str(conditions.rom)]
    if checkpoints != CHECKPOINTS:
        words += ["--checkpoints", str(checkpoints)]
    if conditions.twice:
        words.append("--twice")
    if cluster != "off":  # players that guess play otherwise in shares
        words += ["--cluster", cluster]
    return shlex.join(words)


def as_json(found: Mapping[str, Any]) -> str:
    """One JSON object, a key a line."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


# --- for people ---------------------------------------------------------------------------------------------------


def table(found: Mapping[str, Any]) -> str:
    """The figures as lines of text."""
    a, b = found["a"], found["b"]
    seeds = found["seeds"]
    title = a if b is None else f"{a} against {b}"
    boards = f"boards {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"board {seeds[0]}"
    interval = f"{found['low']:.1%} to {found['high']:.1%}"
    lines = [f"{title}: level {found['level']} {found['speed']}, {found['backend']}, {found['games']} games, {boards}"]
    if b is None:
        lines += [
            f"  cleared           {found['wins']} ({found['rate']:.1%}, 95 % interval {interval})",
            f"  topped out        {found['top_outs']}, cut off {found['cut_off']}",
            f"  capsules a clear  {_shown(found['capsules_per_clear'])}, at most {_shown(found['most_capsules'], 0)}",
        ]
    else:
        seats = ", ".join(f"from seat {seat} {rate:.1%}" for seat, rate in found["rate_by_seat"].items())
        lines += [
            f"  won {found['wins']}, drawn {found['draws']}, lost {found['losses']}: "
            f"score {found['rate']:.1%}, 95 % interval {interval}",
            f"  {seats}; {a} topped out {found['top_outs']}, cut off {found['cut_off']}",
            f"  {'':<22}{Path(a).name[:14]:>15}{Path(b).name[:14]:>15}",
            f"  {'bottles cleared':<22}{found['clear_rate']:>15.1%}{found['opponent_clear_rate']:>15.1%}",
            f"  {'capsules a clear':<22}{_shown(found['capsules_per_clear']):>15}"
            f"{_shown(found['opponent_capsules_per_clear']):>15}",
            f"  {'garbage sent a game':<22}{_shown(found['sent']):>15}{_shown(found['received']):>15}",
        ]
    lines.append(f"  seconds a game    {_shown(found['seconds'])}")
    if "late_frames" in found:
        lines.append(f"  late frames       {found['late_frames']} at most a game, of {found['frames']:,} in all")
    if found["missed"]:
        lines.append(f"  capsules that came to rest elsewhere than planned: {found['missed']}")
    return "\n".join([*lines, f"again: {found['command']}"])


def _shown(number: float | None, digits: int = 1) -> str:
    return "-" if number is None else f"{number:.{digits}f}"
