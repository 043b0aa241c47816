"""A Dockerfile's steps, and a way to carry them out in a folder where no Docker engine runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parents[2]
DOCKER = SOURCE_TREE / "docker"
# The top-level folders of an image that ours has of its own; a path below them is taken to be in our folder.
_OWN = re.compile(r"(?<![\w./])/(?=(?:checkpoints|data|home|opt|roms|source|tmp|wheels)\b)")
# An index that is out of reach is passed over soon; modules are compiled when they are imported, which most never are.
_PIP = {"PIP_RETRIES": "1", "PIP_QUIET": "1", "PIP_COMPILE": "0"}


@dataclass(frozen=True)
class Step:
    """One instruction: `RUN`, `COPY`, ..., and what follows it, continued lines joined."""

    instruction: str
    text: str

    @property
    def words(self) -> list[str]:
        """Of the form in brackets, or else as a shell would split them."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)


def steps_of(dockerfile: Path) -> list[Step]:
    """All of them, comments left out."""
    lines = [line for line in dockerfile.read_text().splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines()]


def is_ignored(path: str, dockerignore: str) -> bool:
    """As Docker decides: the last pattern counts that fits the path or a folder above it."""
    ignored = False
    prefixes = ["/".join(path.split("/")[: count + 1]) for count in range(path.count("/") + 1)]
    for line in dockerignore.splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        wanted = pattern.startswith("!")
        expression = re.escape(pattern.removeprefix("!").strip("/"))
        expression = expression.replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        if any(re.fullmatch(expression, prefix) for prefix in prefixes):
            ignored = not wanted
    return ignored


def context() -> list[str]:
    """What `docker build` would be sent, of the files that are the repository's."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=SOURCE_TREE, capture_output=True, text=True, check=True).stdout
    rules = (SOURCE_TREE / ".dockerignore").read_text()
    files = sorted(set(listed.split("\0")) - {""})
    return [file for file in files if not is_ignored(file, rules) and (SOURCE_TREE / file).is_file()]


@dataclass
class ImageInAFolder:
    """Carries out the steps of `docker/Dockerfile` below `root`, which stands for the image's `/`.

    What differs from the image: the base image is this machine and its Python; what needs a system of its own
    (`apt-get`, `useradd`) is not done but listed in `left_out`; both stages share the folder, so a `COPY --from` of
    a path to itself has nothing to do (what the first stage alone has is removed when the second begins); paths in the
    text of a step are moved below `root`; pip does not compile what it installs; the user is whoever runs the test; and
    tini is left out.
    """

    root: Path
    build_args: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    last: dict[str, Step] = field(default_factory=dict)
    """The last step of each instruction: ENTRYPOINT, CMD, USER, ..."""

    def here(self, text: str) -> str:
        """A text of the image with its paths as they are here."""
        return _OWN.sub(f"{self.root}/", text)

    def build(self, dockerfile: Path = DOCKER / "Dockerfile") -> None:
        """All steps."""
        for step in steps_of(dockerfile):
            self.last[step.instruction] = step
            carry_out = getattr(self, f"_{step.instruction.lower()}", None)
            if carry_out is not None:
                carry_out(step)

    def command(self, *arguments: str) -> list[str]:
        """What a container would run with these arguments."""
        entrypoint = [self.here(word) for word in self.last["ENTRYPOINT"].words]
        assert entrypoint[:2] == ["tini", "--"]
        return entrypoint[2:] + ([self.here(word) for word in arguments] or self.last["CMD"].words)

    def health_command(self) -> list[str]:
        """What looks whether a container is well."""
        return [self.here(word) for word in json.loads(self.last["HEALTHCHECK"].text.split(" CMD ")[1])]

    def _from(self, step: Step) -> None:
        assert step.words[0] == "python:3.11-slim-bookworm"
        for folder in ("source", "wheels", "opt/build-tools"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        python = self.root / "base" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys._base_executable)} "$@"\n')  # type: ignore[attr-defined]
        python.chmod(0o755)
        (self.root / "tmp").mkdir(exist_ok=True)
        self._folder, self._arguments = self.root, dict[str, str]()
        self.environment = {"PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin", "TMPDIR": f"{self.root}/tmp"}

    def _arg(self, step: Step) -> None:
        name, _, default = step.text.partition("=")
        self._arguments[name] = self.build_args.get(name, default)

    def _env(self, step: Step) -> None:
        for word in step.words:
            name, _, value = word.partition("=")
            self.environment[name] = self.here(value).replace("$PATH", self.environment["PATH"])

    def _workdir(self, step: Step) -> None:
        self._folder = Path(self.here(step.text))
        self._folder.mkdir(parents=True, exist_ok=True)

    def _volume(self, step: Step) -> None:
        for word in step.words:
            Path(self.here(word)).mkdir(exist_ok=True)

    def _copy(self, step: Step) -> None:
        *sources, target = step.words
        if sources[0].startswith("--from="):
            assert sources[1:] == [target] and Path(self.here(target)).exists(), step
            return
        to = self._folder / self.here(target)
        for source in sources:
            files = context() if source == "." else [source]
            assert set(files) <= set(context()), f"{source} is not among what `docker build` is sent"
            for file in files:
                copied = to / (file if source == "." else Path(file).name)
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(SOURCE_TREE / file, copied)

    def _run(self, step: Step) -> None:
        if step.words[0] in ("apt-get", "useradd"):
            self.left_out.append(step.text)
            return
        # How to reach a package index is this machine's business; what Python finds is the image's.
        from_outside = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MARIO_RL"))
        }
        del from_outside["PATH"]
        subprocess.run(
            ["/bin/sh", "-c", self.here(step.text)],
            cwd=self._folder,
            env=from_outside | _PIP | self._arguments | self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
