"""From power-on into a round that the cartridge itself plays: against pad 1, or alone.

The rounds are those of the plain menu (menu.py), with the same viruses and capsules for the same seed.
"""

from __future__ import annotations

from mario_rl.emulators.base import SELECT, START
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.menu import Consoles, Menu


class VsCpuMenu(Menu):
    """Into a round for two, in which the cartridge holds the second pad.

    That is the third choice on the title of Antidote. A title that has only two is of a cartridge that plays in every
    round for two.
    """

    def __init__(self, consoles: Consoles):
        super().__init__(consoles)
        self._seen_two_players = False
        self._only_two_choices = False

    def _reach_options(self, lane: int, players: int) -> bytes:
        self._seen_two_players = self._only_two_choices = False
        return super()._reach_options(lane, players)

    def _title_button(self, lane: int, players: int) -> int:
        """SELECT leads from one player to two and from there to VS CPU, or back to one."""
        if self._game.players[lane] != 2:
            self._only_two_choices = self._seen_two_players
            return SELECT
        self._seen_two_players = True
        return START if self._only_two_choices or self._game.ram[lane, memory.VS_CPU] == 1 else SELECT


class AttractMenu(Menu):
    """Into a round for one that Antidote plays: its attract mode, which begins on a title that is left alone."""

    _options_button = 0  # it passes through them by itself, and START would end it

    def _title_button(self, lane: int, players: int) -> int:
        """Nothing; but the title is to believe that it has been waiting."""
        self._consoles.poke(lane, memory.TITLE_WAIT, memory.TITLE_WAIT_ENDS - 1)
        self._consoles.poke(lane, memory.FRAME_COUNT, 0xFF)
        return 0
