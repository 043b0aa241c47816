"""Build the cartridge: python3 cartridge/build.py [OUTPUT], by default mario_rl/roms/antidote.nes.

Needs Python 3.11 and cc65 (ca65, ld65). The same sources give the same bytes, wherever they are built.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CARTRIDGE = Path(__file__).resolve().parent
OUTPUT = CARTRIDGE.parent / "mario_rl" / "roms" / "antidote.nes"


class BuildError(RuntimeError):
    """The cartridge could not be built; the message is the tool's own."""


def run(*command: str | Path) -> None:
    """Run one tool of the build."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        raise BuildError(f"{Path(command[0]).name}: {(result.stderr or result.stdout).strip()}")


def build(output: Path, labels: Path | None = None) -> None:
    """Draw the tiles, assemble every source, link. `labels`: where to write the addresses of all symbols."""
    for tool in ("ca65", "ld65"):
        if shutil.which(tool) is None:
            raise BuildError(f"{tool} not found: install cc65 (Debian: apt install cc65)")
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory)
        run(sys.executable, CARTRIDGE / "art" / "build.py", made)
        sources = [*CARTRIDGE.glob("*.s"), *(CARTRIDGE / "art").glob("*.s"), *(CARTRIDGE / "sound").glob("*.s")]
        objects = []
        for source in sorted(sources) + sorted(made.glob("*.s")):
            objects.append(made / f"{len(objects):02}_{source.stem}.o")
            folders = [folder for path in (CARTRIDGE, made) for folder in ("-I", path, "--bin-include-dir", path)]
            run("ca65", "--cpu", "6502", *folders, "-o", objects[-1], source)
        image = made / "antidote.nes"
        listing = () if labels is None else ("-Ln", labels)
        run("ld65", "-C", CARTRIDGE / "antidote.cfg", *listing, "-o", image, *objects)
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image, output)


def main(arguments: list[str]) -> int:
    """The command line: at most one argument, the file to write."""
    if len(arguments) > 1:
        print("usage: build.py [OUTPUT.nes]", file=sys.stderr)
        return 2
    try:
        build(Path(arguments[0]) if arguments else OUTPUT)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
