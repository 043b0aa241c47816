"""Where Mario dies: deaths per level and area in buckets of 25 pixels, fading as the agent goes on.

x counts within an area (the bonus rooms and the exits of a level are areas of their own), so the key is the level and
the area. Whoever does not care leaves the area out: deaths are then booked under none, and questions are about all
areas of the level together.

A death's weight halves every `half_life` environment steps, which `advance` counts: a place that has been mastered
stops being a hotspot. Steps and not seconds, so that a run can be repeated exactly.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mario_rl.atomic_file import write_atomically

__all__ = ["DeathHotspotAggregate", "HotspotFileError", "bucket_of"]

BUCKET = 25  # pixels
MIN_DEATHS = 3  # fewer are chance
LEAD = 50  # pixels before a hotspot at which Mario can still choose how to meet it
SAME_PLACE = 100  # pixels: a death belongs to a hotspot at most this far before it
HALF_LIFE = 200_000  # environment steps
FORGOTTEN = 0.05  # deaths: what has faded to less is dropped
VERSION = 1

NO_AREA = 0  # no map has this address

Key = tuple[str, int]  # level, area
Hotspot = tuple[int, int]  # the bucket's left edge in pixels, deaths

_log = logging.getLogger(__name__)


class HotspotFileError(ValueError):
    """A file that does not hold hotspots."""


class DeathHotspotAggregate:
    """Deaths of a run, and what they suggest."""

    def __init__(self, path: Path | str | None = None, half_life: float = HALF_LIFE):
        if not half_life > 0:
            raise ValueError(f"half_life is a number of environment steps above 0, not {half_life!r}")
        self.path = None if path is None else Path(path)
        self.half_life = half_life
        self.steps = 0  # environment steps, up to which deaths have faded
        self._deaths: dict[Key, dict[int, float]] = {}

    @classmethod
    def load_or_create(cls, path: Path | str, half_life: float = HALF_LIFE) -> DeathHotspotAggregate:
        """The hotspots of a file; none if there is no file. A file that cannot be read is set aside with a warning."""
        aggregate = cls(path, half_life)
        try:
            aggregate.reload()
        except HotspotFileError as problem:
            aside = _set_aside(aggregate.path)
            _log.warning("%s; it is now %s, and deaths are counted from 0", problem, aside or "left where it is")
        return aggregate

    # --- recording ------------------------------------------------------------------------------------------------

    def record_death(self, level: str, x_pos: int, area: int = NO_AREA) -> None:
        """Mario died here."""
        self.record_deaths_batch(level, [x_pos], area)

    def record_deaths_batch(self, level: str, xs: Iterable[int], area: int = NO_AREA) -> None:
        """Mario died at each of these x."""
        places = self._deaths.setdefault((level, area), {})
        for x in xs:
            bucket = bucket_of(x)
            places[bucket] = places.get(bucket, 0.0) + 1.0

    def advance(self, steps: int) -> None:
        """So many environment steps the run has done: let what lies behind fade."""
        if steps <= self.steps:
            return
        faded = 0.5 ** ((steps - self.steps) / self.half_life)
        self.steps = steps
        for key, places in list(self._deaths.items()):
            left = {bucket: deaths * faded for bucket, deaths in places.items() if deaths * faded >= FORGOTTEN}
            if left:
                self._deaths[key] = left
            else:
                del self._deaths[key]

    # --- asking ---------------------------------------------------------------------------------------------------

    @property
    def places(self) -> list[Key]:
        """The levels and areas in which Mario has died, in order."""
        return sorted(self._deaths)

    def deaths(self, level: str, area: int | None = None) -> dict[int, float]:
        """Deaths by bucket, as far as they have not faded."""
        found: dict[int, float] = {}
        for (other, its_area), places in self._deaths.items():
            if other == level and area in (None, its_area):
                for bucket, deaths in places.items():
                    found[bucket] = found.get(bucket, 0.0) + deaths
        return found

    def get_hotspots(self, level: str, min_deaths: int = MIN_DEATHS, area: int | None = None) -> list[Hotspot]:
        """The buckets with at least so many deaths, most first."""
        rounded = [(bucket, round(deaths)) for bucket, deaths in self.deaths(level, area).items()]
        return sorted((spot for spot in rounded if spot[1] >= max(min_deaths, 1)), key=lambda spot: (-spot[1], spot[0]))

    def separate_hotspots(self, level: str, count: int, min_spacing: int, area: int | None = None) -> list[int]:
        """The worst hotspots that lie so far from each other, from left to right."""
        chosen: list[int] = []
        for bucket, _ in self.get_hotspots(level, area=area):
            if len(chosen) < count and all(abs(bucket - other) >= min_spacing for other in chosen):
                chosen.append(bucket)
        return sorted(chosen)

    def suggest_snapshot_positions(
        self, level: str, count: int = 3, min_spacing: int = 100, area: int | None = None
    ) -> list[int]:
        """Up to `count` places from left to right: one bucket before the worst hotspots that lie this far apart."""
        return [max(bucket - BUCKET, 0) for bucket in self.separate_hotspots(level, count, min_spacing, area)]

    def suggest_restore_position(self, level: str, death_x: int, area: int | None = None) -> int:
        """Where to go on after this death: before the hotspot it belongs to, or before the death itself."""
        near = [spot for spot in self.get_hotspots(level, area=area) if 0 <= death_x - spot[0] <= SAME_PLACE]
        place = near[0][0] if near else bucket_of(death_x)  # the first is the one with the most deaths
        return max(place - LEAD, 0)

    # --- on disk --------------------------------------------------------------------------------------------------

    def save(self, path: Path | str | None = None) -> None:
        """Write the file; a reader sees the old one or the new one. An OSError leaves the old one."""
        target = self.path if path is None else Path(path)
        if target is None:
            raise ValueError("these hotspots have no file: name one")
        write_atomically(target, (json.dumps(self.state_dict(), indent=1) + "\n").encode())

    def reload(self) -> None:
        """Take over what the file holds now; nothing changes if there is none, or it is damaged (HotspotFileError)."""
        if self.path is None:
            return
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as problem:
            raise HotspotFileError(f"{self.path} cannot be read: {problem.strerror}") from problem
        try:
            self.load_state_dict(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
            raise HotspotFileError(f"{self.path} does not hold hotspots") from problem

    def state_dict(self) -> dict[str, Any]:
        """Everything but the half-life: text and numbers."""
        levels: dict[str, dict[str, dict[str, float]]] = {}
        for (level, area), places in sorted(self._deaths.items()):
            levels.setdefault(level, {})[f"{area:04x}"] = {str(x): places[x] for x in sorted(places)}
        return {"version": VERSION, "bucket": BUCKET, "steps": self.steps, "deaths": levels}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken. A ValueError, and no change, if it is not one."""
        if (state["version"], state["bucket"]) != (VERSION, BUCKET):
            raise ValueError("hotspots of another version")
        steps, deaths = int(state["steps"]), {}
        for level, areas in state["deaths"].items():
            for area, places in areas.items():
                counts = {int(bucket): float(count) for bucket, count in places.items()}
                if not all(math.isfinite(count) and count >= 0 and x % BUCKET == 0 for x, count in counts.items()):
                    raise ValueError("counts that cannot be")
                deaths[level, int(area, 16)] = counts
        self.steps, self._deaths = steps, deaths


def bucket_of(x: int) -> int:
    """The left edge of the bucket x lies in (x can be negative: the loops of 4-4 lead there)."""
    return int(x) // BUCKET * BUCKET


def _set_aside(path: Path | None) -> Path | None:
    """Rename a damaged file so that it is neither used nor lost; None if that cannot be done."""
    if path is None:
        return None
    for number in range(1000):
        aside = path.with_name(f"{path.name}.damaged{number or ''}")
        if not aside.exists():
            try:
                return path.rename(aside)
            except OSError:
                return None
    return None
