"""A screen for Mednafen's window: the one there is, or an X server that shows it nowhere."""

from __future__ import annotations

import os
import select
import shutil
import signal

from mario_rl.emulators.mednafen_build import MednafenError
from mario_rl.emulators.mednafen_process import LAUNCH_SECONDS, Child, Log


class VirtualScreen:
    """Xvfb on a display number of its own choice."""

    def __init__(self) -> None:
        xvfb, setpriv = shutil.which("Xvfb"), shutil.which("setpriv")
        if xvfb is None or setpriv is None:
            raise MednafenError("there is no screen for a window: set DISPLAY, or apt-get install xvfb")
        self._log = Log()
        reader, writer = os.pipe()
        # It dies with us, by a signal at which it removes its socket and lock.
        tied = [setpriv, "--pdeathsig", "TERM", "--", xvfb, "-displayfd", str(writer), "-noreset"]
        server = [*tied, "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
        try:
            self._server = Child(server, {"PATH": os.environ.get("PATH", "")}, [writer], self._log)
        except MednafenError:
            self._log.close()
            os.close(reader)
            raise
        finally:
            os.close(writer)
        number = _line(reader)
        os.close(reader)
        if not number:
            problem = self._log.last_line()
            self.close()
            raise MednafenError(f"Xvfb did not start: {problem}")
        self.name = f":{int(number)}"

    def close(self) -> None:
        """End it. Once only."""
        self._server.end(lambda: self._server.send(signal.SIGTERM))
        self._log.close()


def _line(reader: int) -> bytes:
    """What is written there up to the end of a line, which may come in pieces; nothing if it does not come."""
    line = b""
    while select.select([reader], [], [], LAUNCH_SECONDS)[0]:
        piece = os.read(reader, 16)
        line += piece
        if line.endswith(b"\n"):
            return line
        if not piece:
            break
    return b""
