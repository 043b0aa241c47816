"""What drives a console in Mednafen frame by frame: the contract of the two ways to do it, and how both start it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mario_rl.emulators.mednafen_build import MednafenError


class ConsoleLost(MednafenError):
    """Mednafen ended, or had to be ended, in the middle of things."""


class Stepper(Protocol):
    """A running Mednafen that is held between two frames. Whatever it does may raise ConsoleLost."""

    @property
    def pid(self) -> int:
        """Of Mednafen."""

    @property
    def alive(self) -> bool:
        """Whether it runs."""

    def step(self, pads: tuple[int, int], frames: int, draw: bool) -> None:
        """Run frames; pads as Mednafen has them. `draw` puts the last picture into the shared memory."""

    def save(self) -> bytes:
        """Mednafen's own state."""

    def load(self, content: bytes) -> None:
        """Restore one that was checked."""

    def bus(self, address: int, length: int) -> bytes:
        """What the CPU would read there, without side effects."""

    def kill(self) -> None:
        """End Mednafen at once; from any thread."""

    def close(self) -> None:
        """End Mednafen, if that has not happened, and release everything. Once only."""


@dataclass(frozen=True)
class Launch:
    """How Mednafen is started."""

    rom_fd: int
    """The cartridge, a memory file."""
    display: str | None
    """The X display of its window; None for no window at all."""

    @property
    def has_window(self) -> bool:
        """Whether it shows what it plays."""
        return self.display is not None

    def command(self, program: Path) -> list[str]:
        """Its command line."""
        # softfb draws without OpenGL; lines 0 to 239 are all there are; sizes are of the window.
        settings = {
            "sound": 0,
            "video.driver": "softfb",
            "video.fs": 0,
            "nothrottle": 1,
            "nes.slstart": 0,
            "nes.slend": 239,
            "nes.xscale": 2 if self.has_window else 1,
            "nes.yscale": 2 if self.has_window else 1,
        }
        words = [word for name, value in settings.items() for word in (f"-{name}", str(value))]
        return [str(program), *words, "-force_module", "nes", f"/proc/self/fd/{self.rom_fd}"]

    def environment(self, home: Path) -> dict[str, str]:
        """All its variables: nothing of ours that could change how it plays."""
        own = {"MEDNAFEN_HOME": str(home), "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "MEDNAFEN_ALLOWMULTI": "1"}
        own["PATH"] = os.environ.get("PATH", "/usr/bin:/bin")
        if self.display is None:
            return own | {"SDL_VIDEODRIVER": "dummy"}
        authority = {"XAUTHORITY": os.environ["XAUTHORITY"]} if "XAUTHORITY" in os.environ else {}
        return own | authority | {"SDL_VIDEODRIVER": "x11", "DISPLAY": self.display}


def patience(frames: int) -> float:
    """Seconds after which a console that has not done so many frames is taken for stuck: far more than it needs."""
    return 20.0 + frames / 20
