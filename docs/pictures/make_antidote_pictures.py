"""Takes the pictures of Antidote: `python docs/pictures/make_antidote_pictures.py [target directory [cartridge]]`.

Plays the cartridge in the embedded core up to every screen. Where a screen would need a long game (a cleared stage, a
won match), the bytes that decide it are poked; everything else is what the cartridge does by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.roms import antidote

HERE = Path(__file__).parent
SCALE = 2
SELECT, START, DOWN, LEFT, RIGHT = 0x20, 0x10, 0x04, 0x02, 0x01

# The bytes looked at (docs/drmario.md).
MODE, MODE_OPTIONS, MODE_PLAY, MODE_END, MODE_INTRO = 0x46, 1, 4, 7, 8
GERMS, ACTION_1 = slice(0x72, 0x75), 0x317
THROW, LEVEL_1, LEVEL_2, VIRUSES_1, WINS_1, WINS_2, DEMO = 0x7D, 0x316, 0x396, 0x324, 0x31E, 0x39E, 0x741


def until(console: EmbeddedEmulator, address: int, value: int, pad: int = 0) -> None:
    """Run until a byte of RAM has a value."""
    for _ in range(20_000):
        if console.ram[address] == value:
            return
        console.step((pad, 0))
    raise RuntimeError(f"${address:04X} never became {value}")


def press(console: EmbeddedEmulator, button: int) -> None:
    """Press and let go, with a moment before the next button."""
    console.step((button, 0))
    console.step(frames=8)


def started(rom: Path, selects: int, level_1: int, level_2: int) -> EmbeddedEmulator:
    """A game that has just begun; `selects` = 0 one player, 1 two players, 2 against the cartridge."""
    console = EmbeddedEmulator(rom)
    console.step(frames=30)
    for _ in range(selects):
        press(console, SELECT)
    press(console, START)
    until(console, MODE, MODE_OPTIONS)
    console.step(frames=10)
    console.ram[LEVEL_1], console.ram[LEVEL_2] = level_1, level_2
    press(console, START)
    until(console, MODE, MODE_PLAY)
    return console


def spread(console: EmbeddedEmulator, frames: int) -> None:
    """Play the left seat badly but evenly: capsule after capsule to another column, at the speed they fall."""
    for frame in range(frames):
        x, column = int(console.ram[0x305]), int(console.ram[0x310]) * 5 % 7
        sideways = RIGHT if x < column else LEFT if x > column else 0
        console.step((sideways * (frame % 2), 0))


def screens(rom: Path) -> Iterator[tuple[str, EmbeddedEmulator]]:
    """Every screen by name, when the console shows it."""
    console = EmbeddedEmulator(rom)
    console.step(frames=130)
    yield "title", console
    press(console, START)
    console.step(frames=30)
    yield "options", console

    demo = EmbeddedEmulator(rom)
    until(demo, DEMO, 0xFE)
    until(demo, MODE, MODE_PLAY)
    demo.step(frames=1500)
    until(demo, THROW, 6)
    yield "play1", demo

    console = started(rom, selects=2, level_1=9, level_2=9)
    spread(console, 1000)
    console.ram[WINS_1], console.ram[WINS_2] = 1, 2
    console.step(frames=60)
    yield "play2", console
    press(console, START)
    console.step(frames=30)
    yield "pause", console
    press(console, START)
    console.ram[WINS_2] = 3
    until(console, MODE, MODE_END)
    console.step(frames=60)
    yield "match", console

    console = started(rom, selects=0, level_1=5, level_2=5)
    spread(console, 600)
    until(console, ACTION_1, 0)  # a capsule falls, none is thrown
    console.ram[VIRUSES_1] = 0
    console.ram[GERMS] = 0
    console.step(frames=110)
    yield "clear", console
    console.step((START, 0), frames=30)
    console.step(frames=60)
    yield "interlude", console

    console = started(rom, selects=0, level_1=14, level_2=14)
    until(console, MODE, MODE_END, pad=DOWN)
    console.step(frames=60)
    yield "over", console


def main(target: Path, rom: Path) -> None:
    """Write antidote_*.png."""
    for name, console in screens(rom):
        console.step(render=True)
        picture = Image.fromarray(console.frame())
        size = (picture.width * SCALE, picture.height * SCALE)
        picture.resize(size, Image.Resampling.NEAREST).save(target / f"antidote_{name}.png", optimize=True)


if __name__ == "__main__":
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else HERE,
        Path(sys.argv[2]) if len(sys.argv) > 2 else antidote(),
    )
