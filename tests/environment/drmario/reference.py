"""Dr. Mario's rules in plain Python: one game, frame by frame, over the 2048 bytes of RAM. Slow, meant to be read.

Written from docs/drmario.md alone and apart from the C++ engine, which is compared with it frame by frame.
"""

from __future__ import annotations

from dataclasses import dataclass

A, B, SELECT, START, UP, DOWN, LEFT, RIGHT = (0x80 >> bit for bit in range(8))
EMPTY = 0xFF
# Types of cells (high nibble).
TOP, BOTTOM, LEFT_HALF, RIGHT_HALF, SINGLE, MATCHED, VIRUS, POP = 0x40, 0x50, 0x60, 0x70, 0x80, 0xB0, 0xD0, 0xF0
# Where the partner of each half is, and of which type it is.
PARTNERS = {TOP: (8, BOTTOM), BOTTOM: (-8, TOP), LEFT_HALF: (1, RIGHT_HALF), RIGHT_HALF: (-1, LEFT_HALF)}

# Offsets in the block of a player.
REDRAW, COLOUR_1, COLOUR_2, X, Y, STEP, FAILED, SPEED_UPS, SPEED = 0x00, 0x01, 0x02, 0x05, 0x06, 0x07, 0x09, 0x0A, 0x0B
LENGTH, COMBO, CAPSULES, HUNDREDS, GRAVITY, DAS, LINES, MATCH_ROW = 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15
LEVEL, ACTION, ATTACK, NEXT_1, NEXT_2, WINS, SPEED_UPS_USED = 0x16, 0x17, 0x18, 0x1A, 0x1B, 0x1E, 0x20
CELLS, THROWN, SIZE_NEXT, VIRUSES, ROTATION, SIZE, RESERVE_INDEX = 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27
TO_PLACE, ATTACK_COLOURS, MULTIPLIER = 0x28, 0x29, 0x2D

GRAVITY_TABLE = [69 - 2 * i for i in range(26)] + [18, 17, 16, 15, 14, 13, 12, 11, 10, 9] + [9, 8, 8, 7, 7, 6, 6]
GRAVITY_TABLE += [5] * 12 + [4] * 5 + [3] * 5 + [2] * 5 + [1] * 10 + [0]
GRAVITY_BASE = [15, 25, 31]  # LOW, MED, HI
SCORES = [1, 2, 4, 8, 16, 32, 32, 32, 32, 32, 32]
RANDOM_COLOURS = [0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 1]
HIGHEST_VIRUS = [9] * 15 + [10] * 2 + [11] * 2 + [12] * 6  # by level
THROW_STEPS = 22
INTERLUDES = (5, 10, 15, 20)


def box(*lines: tuple[int, str]) -> bytes:
    """A box over rows 4 to 10 of an empty field, with text in it."""
    field = bytearray([EMPTY] * 128)
    field[32:40] = bytes([0xED, *[0xEE] * 6, 0xEF])
    for row in range(5, 10):
        field[8 * row : 8 * row + 8] = bytes([0x8B, *[0xFE] * 6, 0x8C])
    field[80:88] = bytes([0x8D, *[0x8E] * 6, 0x8F])
    for row, text in lines:
        for column, letter in enumerate(text):
            if letter != " ":
                field[8 * row + 1 + column] = 0x0A + ord(letter) - ord("A")
    return bytes(field)


STAGE_CLEAR = box((6, "STAGE"), (8, "CLEAR"))
DRAW = box((7, " DRAW"))


def more_bcd(value: int) -> int:
    """Two decimal digits, one more; 99 becomes 00."""
    return value + 1 if value & 15 < 9 else (value & 0xF0) + 0x10 if value < 0x99 else 0


def less_bcd(value: int) -> int:
    """Two decimal digits, one less."""
    return value - 1 if value & 15 else value - 0x10 + 9


@dataclass
class Seat:
    """A player's block and field, both inside the game's RAM."""

    ram: bytearray
    number: int  # 0 or 1

    def __getitem__(self, offset: int) -> int:
        return self.ram[0x300 + 0x80 * self.number + offset]

    def __setitem__(self, offset: int, value: int) -> None:
        self.ram[0x300 + 0x80 * self.number + offset] = value & 0xFF

    def cell(self, index: int) -> int:
        """A field cell; above and below the bottle everything is empty (8-bit index)."""
        return self.ram[0x400 + 0x100 * self.number + (index & 0xFF)]

    def set_cell(self, index: int, value: int) -> None:
        """Write a field cell; what is outside of the bottle vanishes."""
        if 0 <= index < 128:
            self.ram[0x400 + 0x100 * self.number + index] = value

    @property
    def base(self) -> int:
        """The index of the capsule's base cell."""
        return (15 - self[Y]) * 8 + self[X]

    def fits(self, x: int, y: int, rotation: int) -> bool:
        """May the capsule be there?"""
        if not 0 <= y <= 15 or not 0 <= x <= 7:
            return False
        base = (15 - y) * 8 + x
        if rotation & 1:
            return self.cell(base) == EMPTY and self.cell(base - 8) == EMPTY
        return x <= 6 and self.cell(base) == EMPTY and self.cell(base + 1) == EMPTY

    def write_capsule(self) -> None:
        """Put the falling capsule into the field."""
        first, second = self[COLOUR_1], self[COLOUR_2]
        if self[ROTATION] & 1:
            low, high = (first, second) if self[ROTATION] == 1 else (second, first)
            self.set_cell(self.base, BOTTOM + low)
            self.set_cell(self.base - 8, TOP + high)
        else:
            left, right = (first, second) if self[ROTATION] == 0 else (second, first)
            self.set_cell(self.base, LEFT_HALF + left)
            self.set_cell(self.base + 1, RIGHT_HALF + right)


class Reference:
    """One game."""

    def __init__(self, ram: bytes) -> None:
        self.ram = bytearray(ram)
        self.seats = [Seat(self.ram, 0), Seat(self.ram, 1)]

    @classmethod
    def begin(cls, seed: int, levels: tuple[int, int], speeds: tuple[int, int], players: int) -> Reference:
        """A game about to run mode 3."""
        game = cls(bytes(2048))
        game.ram[0x400:0x600] = bytes([EMPTY] * 512)
        game.ram[0x17], game.ram[0x18] = seed >> 8, seed & 0xFF
        game.ram[0x46], game.ram[0x725], game.ram[0x727] = 3, 3, players
        for seat, level, speed in zip(game.seats, levels, speeds, strict=True):
            seat[LEVEL], seat[SPEED] = level, speed
        return game

    # ------------------------------------------------------------------ a frame

    @property
    def two_players(self) -> bool:
        return self.ram[0x727] == 2

    @property
    def playing(self) -> list[Seat]:
        """The seats that take part."""
        return self.seats if self.two_players else self.seats[:1]

    def step(self, pad_1: int, pad_2: int = 0) -> None:
        """One frame: the interrupt, then the main loop."""
        ram = self.ram
        for seat in self.playing:
            if seat[REDRAW] != 0xFF:
                seat[REDRAW] -= 1
        ram[0x43] = (ram[0x43] + 1) & 0xFF
        for number, pad in enumerate((pad_1, pad_2)):
            ram[0xF5 + number] = pad & ~ram[0xF7 + number] & 0xFF
            ram[0xF7 + number] = pad
        start = bool(ram[0xF5] & START)
        if ram[0x68D]:
            if start:
                ram[0x68D] = 0
            return
        before = ram[0x46]
        if before in (3, 4, 5, 7, 8):
            {3: self._init_round, 4: self._play, 5: self._top_out, 7: self._end_screen, 8: self._intro}[before]()
        if before == ram[0x46] == 4 and ram[0x59] == 0 and start:
            ram[0x68D] = 5

    # ------------------------------------------------------------------ randomness

    def random(self) -> tuple[int, int]:
        """Step the generator; its high and low byte."""
        state = self.ram[0x17] << 8 | self.ram[0x18]
        new_bit = (state >> 9 ^ state >> 1) & 1
        state = state >> 1 | new_bit << 15
        self.ram[0x17], self.ram[0x18] = state >> 8, state & 0xFF
        return state >> 8, state & 0xFF

    def capsule(self, index: int) -> tuple[int, int]:
        """The colours of a capsule of the reserve."""
        return divmod(self.ram[0x780 + index], 3)

    # ------------------------------------------------------------------ mode 3

    def _init_round(self) -> None:
        identity = 0
        for index in reversed(range(128)):
            identity = (identity + (self.random()[0] & 15)) % 9
            self.ram[0x780 + index] = identity
        last = self.playing[-1]
        inherited = {offset: last[offset] for offset in (DAS, *range(ATTACK_COLOURS, ATTACK_COLOURS + 4))}
        for seat in self.seats:
            kept = {offset: seat[offset] for offset in (SPEED, LEVEL, WINS)} | inherited
            for offset in range(0x30):
                seat[offset] = kept.get(offset, 0)
            seat[REDRAW] = 0xFF
            seat[COLOUR_1], seat[COLOUR_2] = self.capsule(0)
            seat[NEXT_1], seat[NEXT_2] = self.capsule(1)
            seat[RESERVE_INDEX] = 2
            seat[X], seat[Y], seat[CAPSULES], seat[ACTION], seat[SIZE], seat[SIZE_NEXT] = 3, 15, 1, 6, 2, 2
            seat[TO_PLACE] = 4 * (min(seat[LEVEL], 20) + 1)
        self.ram[0x400:0x600] = bytes([EMPTY] * 512)
        for address in (0x55, 0x61, 0x51, 0x59, 0x7D):
            self.ram[address] = 0
        self.ram[0x46] = 8

    # ------------------------------------------------------------------ mode 8

    def _intro(self) -> None:
        first, second = self.seats
        if any(seat[TO_PLACE] for seat in self.playing):
            placed = self._attempt_virus(first) if first[TO_PLACE] else None
            if first[LEVEL] == second[LEVEL]:
                if placed is not None:
                    second.set_cell(placed, first.cell(placed))
                for offset in (VIRUSES, TO_PLACE, REDRAW):
                    second[offset] = first[offset]
            elif self.two_players and second[TO_PLACE]:
                self._attempt_virus(second)
        elif self.ram[0x51] == 0:
            self.ram[0x51] = 129
        else:
            self.ram[0x51] -= 1
            if self.ram[0x51] == 0:
                self.ram[0x46] = 4

    def _attempt_virus(self, seat: Seat) -> int | None:
        """Where a virus was placed, if one was."""
        while True:
            high, low = self.random()
            height = high & 15
            if height <= HIGHEST_VIRUS[min(seat[LEVEL], 24)]:
                break
        index = (15 - height) * 8 + (low & 7)
        colour = seat[TO_PLACE] & 3
        if colour == 3:
            colour = RANDOM_COLOURS[self.random()[1] & 15]
        while True:
            while index < 128 and seat.cell(index) != EMPTY:
                index += 1
            if index >= 128:
                return None
            near = self._colours_two_away(seat, index)
            if len(near) < 3:
                break
            index += 1
        while colour in near:
            colour = (colour - 1) % 3
        seat.set_cell(index, VIRUS + colour)
        seat[TO_PLACE] -= 1
        seat[VIRUSES] = more_bcd(seat[VIRUSES])
        seat[REDRAW] = index // 8
        return index

    def _colours_two_away(self, seat: Seat, index: int) -> set[int]:
        column = index % 8
        cells = [seat.cell(index - 16), seat.cell(index + 16)]
        if column >= 2:
            cells.append(seat.cell(index - 2))
        if column <= 5:
            cells.append(seat.cell(index + 2))
        return {cell & 3 for cell in cells if cell != EMPTY}

    # ------------------------------------------------------------------ mode 4

    def _play(self) -> None:
        if self.ram[0x59]:
            self._round_won()
            return
        for seat in self.playing:
            self._act(seat)
            if self.two_players and seat[WINS] == self.ram[0x725]:
                self.ram[0x46], self.ram[0x51] = 7, 0
                return
        if any(seat[VIRUSES] == 0 for seat in self.playing):
            self.ram[0x59], self.ram[0x51] = 1, 64
        elif any(seat[FAILED] for seat in self.playing):
            self.ram[0x46] = 5

    def _round_won(self) -> None:
        """Phases after somebody's last virus."""
        ram = self.ram
        phase = ram[0x59]
        if phase == 4:
            if (ram[0xF5] | ram[0xF7]) & START:
                ram[0x51], ram[0x59] = 16, 5
            return
        if phase == 6:
            if ram[0xF5] & START:
                ram[0x59], ram[0x46] = 0, 3
            return
        ram[0x51] -= 1
        if ram[0x51]:
            return
        if phase == 1:
            winners = [seat for seat in self.playing if seat[VIRUSES] == 0]
            for seat in winners:
                start = 0x400 + 0x100 * seat.number
                ram[start : start + 128] = STAGE_CLEAR if len(winners) == 1 else DRAW
                seat[REDRAW] = 15
            ram[0x55] = winners[0].number + 1 if len(winners) == 1 else 0
            ram[0x51], ram[0x59] = 16, 2
        elif phase == 2:
            ram[0x51], ram[0x59] = 16, 3
        elif phase == 3:
            ram[0x59] = 4
        else:
            self._next_round()

    def _next_round(self) -> None:
        player = self.seats[0]
        cleared = player[LEVEL]
        if not self.two_players:
            player[LEVEL] = min(cleared + 1, 24)
            if cleared == 20 or (cleared in INTERLUDES and player[SPEED]):
                self.ram[0x59] = 6
                return
        self.ram[0x59], self.ram[0x46] = 0, 3

    def _act(self, seat: Seat) -> None:
        action = seat[ACTION]
        if action == 0:
            self._fall(seat)
        elif action == 1:
            self._settle(seat)
        elif action == 2:
            self._attack(seat)
        elif action == 3:
            seat[ACTION] = 0
        elif action == 5:
            seat[ACTION] = 6
        elif action == 6:
            self._throw(seat)

    # ------------------------------------------------------------------ action 0

    def _fall(self, seat: Seat) -> None:
        seat[CELLS] = 0
        pressed, held = self.ram[0xF5 + seat.number], self.ram[0xF7 + seat.number]
        self._vertical(seat, held)
        self._horizontal(seat, pressed, held)
        if pressed & A:
            self._rotate(seat, -1, held)
        if pressed & B:
            self._rotate(seat, +1, held)

    def _vertical(self, seat: Seat, held: int) -> None:
        if not (self.ram[0x43] & 1 and held & 15 == DOWN):
            seat[SPEED_UPS_USED] = seat[SPEED_UPS]
            seat[GRAVITY] += 1
            if seat[GRAVITY] <= GRAVITY_TABLE[GRAVITY_BASE[seat[SPEED]] + seat[SPEED_UPS]]:
                return
        seat[GRAVITY] = 0
        if seat.fits(seat[X], seat[Y] - 1, seat[ROTATION]):
            seat[Y] -= 1
        else:
            seat.write_capsule()
            seat[REDRAW], seat[ACTION], seat[STEP] = 15 - seat[Y], 1, 0

    def _horizontal(self, seat: Seat, pressed: int, held: int) -> None:
        if pressed & (LEFT | RIGHT):
            seat[DAS] = 0
        elif held & (LEFT | RIGHT):
            seat[DAS] += 1
            if seat[DAS] < 16:
                return
            seat[DAS] = 10
        else:
            return
        if held & RIGHT and seat[X] != (7 if seat[ROTATION] & 1 else 6):
            self._shift(seat, +1)
        if held & LEFT and seat[X] > 0:
            self._shift(seat, -1)

    def _shift(self, seat: Seat, columns: int) -> None:
        if seat.fits(seat[X] + columns, seat[Y], seat[ROTATION]):
            seat[X] += columns
        else:
            seat[DAS] = 15

    def _rotate(self, seat: Seat, turn: int, held: int) -> None:
        rotation = (seat[ROTATION] + turn) % 4
        x, y = seat[X], seat[Y]
        if rotation & 1:
            if seat.fits(x, y, rotation):
                seat[ROTATION] = rotation
        elif seat.fits(x, y, rotation):
            seat[ROTATION] = rotation
            if held & LEFT and seat.fits(x - 1, y, rotation):
                seat[X] = x - 1
        elif seat.fits(x - 1, y, rotation):
            seat[ROTATION], seat[X] = rotation, x - 1

    # ------------------------------------------------------------------ action 1

    def _settle(self, seat: Seat) -> None:
        step = seat[STEP]
        if step == 0:
            seat[MULTIPLIER] = 0
            seat[STEP] = 1
        elif step in (1, 2):
            seat[STEP] = step + 1
        elif step == 3:
            if seat[REDRAW] == 0xFF:
                seat[STEP] = 2 if self._drop_pass(seat) else 4
                seat[REDRAW] = 15
        elif step == 4:
            seat[LINES], seat[STEP] = 0, 5
        elif step == 5:
            for row in range(16):
                self._match(seat, range(8 * row, 8 * row + 8))
            seat[STEP] = 6
        elif step == 6:
            for column in range(8):
                self._match(seat, range(column, 128, 8))
            seat[STEP] = 7
        elif step == 7:
            self._update(seat)
            seat[REDRAW] = 15
            seat[STEP] = 1 if seat[LINES] else 8
        elif step == 8:
            seat[STEP], seat[ACTION] = 0, 2

    def _drop_pass(self, seat: Seat) -> bool:
        """Everything loose falls by one row; did anything?"""
        moved = False
        for index in reversed(range(128)):
            if seat.cell(index) < POP:
                continue
            seat.set_cell(index, EMPTY)
            above = seat.cell(index - 8)
            kind = above & 0xF0
            if kind in (TOP, BOTTOM, SINGLE):
                seat.set_cell(index, above)
                seat.set_cell(index - 8, EMPTY)
                moved = True
            elif kind == RIGHT_HALF and seat.cell(index - 1) >= POP:
                seat.set_cell(index, above)
                seat.set_cell(index - 1, seat.cell(index - 9))
                seat.set_cell(index - 8, EMPTY)
                seat.set_cell(index - 9, EMPTY)
                moved = True
        return moved

    def _match(self, seat: Seat, indices: range) -> None:
        """Find the lines among these cells, one after the other."""
        at = 0
        while at < len(indices):
            colour = seat.cell(indices[at]) & 3
            if seat.cell(indices[at]) >= POP:
                at += 1
                continue
            end = at
            while end < len(indices) and seat.cell(indices[end]) < POP and seat.cell(indices[end]) & 3 == colour:
                end += 1
            if end - at >= 4:
                self._clear_line(seat, indices[at:end], colour)
            at = end

    def _clear_line(self, seat: Seat, line: range, colour: int) -> None:
        seat[LINES] += 1
        seat[COMBO] += 1
        seat[LENGTH] = len(line) - 1
        seat[MATCH_ROW] = line[0] // 8
        if 1 <= seat[COMBO] <= 4:
            seat[ATTACK_COLOURS + seat[COMBO] - 1] = colour
        seat[CELLS] += len(line)
        for index in line:
            if seat.cell(index) & 0xF0 == VIRUS:
                self._virus_gone(seat)
            seat.set_cell(index, MATCHED + colour)

    def _virus_gone(self, seat: Seat) -> None:
        seat[VIRUSES] = less_bcd(seat[VIRUSES])
        seat[REDRAW] = 15
        if not self.two_players:
            score = sum(10**place * self.ram[0x729 + place] for place in range(6))
            score = min(score + 10 * (seat[SPEED] + 1) * SCORES[min(seat[MULTIPLIER], 10)], 999_999)
            for place in range(6):
                self.ram[0x729 + place] = score // 10**place % 10
            seat[MULTIPLIER] = min(seat[MULTIPLIER] + 1, 255)
        if seat[VIRUSES] == 0:
            seat[WINS] += 1

    def _update(self, seat: Seat) -> None:
        cells = [seat.cell(index) for index in range(128)]
        cells = [POP + (cell & 3) if cell & 0xF0 == MATCHED else cell for cell in cells]
        for index, cell in enumerate(cells):
            if cell & 0xF0 in PARTNERS:
                where, kind = PARTNERS[cell & 0xF0]
                there = index + where
                if not 0 <= there < 128 or cells[there] & 0xF0 != kind:
                    cell = SINGLE + (cell & 3)
            seat.set_cell(index, cell)

    # ------------------------------------------------------------------ actions 2 and 6

    def _attack(self, seat: Seat) -> None:
        seat[ACTION] = 5
        if not self.two_players:
            return
        if seat[COMBO] >= 2:
            seat[ATTACK] += seat[COMBO]
            seat[COMBO] = 0
        other = self.seats[1 - seat.number]
        size = other[ATTACK]
        if size < 2:
            return
        counter = self.ram[0x43]
        columns = {2: (0, 4), 3: (0, 2, 4)}.get(size, (0, 2, 4, 6))
        first = counter & 3 if size < 4 else counter & 1
        for piece, column in enumerate(columns):
            seat.set_cell(first + column, SINGLE + other[ATTACK_COLOURS + piece])
        other[ATTACK] = 0
        seat[ACTION], seat[STEP] = 1, 0

    def _throw(self, seat: Seat) -> None:
        if not self.two_players:
            if seat[SPEED] == 0 and not self.ram[0x43] & 1:
                return
            self.ram[0x7D] += 1
            seat[THROWN] = self.ram[0x7D] & 3
            if self.ram[0x7D] != THROW_STEPS:
                return
            self.ram[0x7D] = seat[THROWN] = 0
        self._spawn(seat)

    def _spawn(self, seat: Seat) -> None:
        seat[COLOUR_1], seat[COLOUR_2] = seat[NEXT_1], seat[NEXT_2]
        seat[NEXT_1], seat[NEXT_2] = self.capsule(seat[RESERVE_INDEX])
        seat[RESERVE_INDEX] = (seat[RESERVE_INDEX] + 1) % 128
        seat[X], seat[Y], seat[ROTATION], seat[COMBO], seat[ACTION] = 3, 15, 0, 0, 3
        seat[CAPSULES] = more_bcd(seat[CAPSULES])
        if seat[CAPSULES] == 0:
            seat[HUNDREDS] = more_bcd(seat[HUNDREDS])
        if seat[CAPSULES] & 15 == 0 and seat[SPEED_UPS] < 49:
            seat[SPEED_UPS] += 1
        if not seat.fits(3, 15, 0):
            seat.write_capsule()
            seat[FAILED] = 1

    # ------------------------------------------------------------------ modes 5 and 7

    def _top_out(self) -> None:
        failed = [seat.number for seat in self.playing if seat[FAILED]]
        self.ram[0x61] = failed[0] + 1 if len(failed) == 1 else 0
        if self.two_players and len(failed) == 1:
            self.seats[1 - failed[0]][WINS] += 1
        self.ram[0x51], self.ram[0x59], self.ram[0x46] = 0, 0, 7

    def _end_screen(self) -> None:
        ram = self.ram
        if ram[0x59]:
            ram[0x51] -= 1
            if ram[0x51] == 0:
                ram[0x59], ram[0x46] = 0, 3
            return
        ram[0x51] = min(ram[0x51] + 1, 255)
        champions = [seat.number + 1 for seat in self.playing if self.two_players and seat[WINS] == ram[0x725]]
        if ram[0x51] == 1:
            ram[0x55] = 2 if not self.two_players else champions[0] if champions else ram[0x55]
        limit = 194 if not self.two_players else 193 if champions else 82
        if ram[0xF5] == ram[0xF7] == START and ram[0x51] >= limit:
            if champions or not self.two_players:
                ram[0x46] = 1
            else:
                ram[0x59], ram[0x51] = 1, 17
