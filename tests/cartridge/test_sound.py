"""The sound of Antidote: tunes in tune and in time, effects that give their channel back, silence in the pause."""

from collections import defaultdict

import pytest

from tests.cartridge.bare_cpu import BareCpu

PAUSED = 0x068D
PULSE_1, PULSE_2, TRIANGLE, NOISE = 0x4000, 0x4004, 0x4008, 0x400C
CPU_HZ = 1_789_773
TUNES = range(1, 8)
LOOPING = (1, 2, 3, 7)
EFFECTS = range(1, 12)
NOISE_EFFECTS = (3, 6)  # lock and attack; the others use the second pulse
OWN_MEMORY = {*range(0x600, 0x67E), *range(0x690, 0x6C0), *range(0x6E0, 0x700), *range(0xE0, 0xF0)}


class Player:
    """Plays frame by frame and remembers the sound chip's registers."""

    def __init__(self) -> None:
        self.console = BareCpu()
        self.registers: dict[int, int] = defaultdict(int)
        self.slowest = 0
        self._call("sound_init")

    def _call(self, name: str, a: int = 0) -> None:
        cycles = self.console.call(name, a, x=0x5A, y=0xA5)
        if name == "sound_frame":
            self.slowest = max(self.slowest, cycles)
        for address, value in self.console.writes:
            if 0x4000 <= address <= 0x4017:
                self.registers[address] = value
            else:
                assert address in OWN_MEMORY, f"{name} wrote ${address:04X}"

    def music(self, tune: int) -> None:
        self._call("play_music", tune)
        assert (self.console.cpu.x, self.console.cpu.y) == (0x5A, 0xA5)

    def effect(self, effect: int) -> None:
        self._call("play_effect", effect)
        assert (self.console.cpu.x, self.console.cpu.y) == (0x5A, 0xA5)

    def frame(self) -> None:
        self._call("sound_frame")

    def volume(self, channel: int) -> int:
        value = self.registers[channel]
        return int(value & 0x7F != 0) if channel == TRIANGLE else value & 0x0F

    def hertz(self, channel: int) -> float:
        period = self.registers[channel + 2] | (self.registers[channel + 3] & 7) << 8
        return CPU_HZ / ((32 if channel == TRIANGLE else 16) * (period + 1))

    def loudness(self) -> int:
        return sum(map(self.volume, (PULSE_1, PULSE_2, TRIANGLE, NOISE)))


def note(name: str) -> float:
    """The frequency of a note such as As4, in equal temperament."""
    step = ("C", "Cs", "D", "Ds", "E", "F", "Fs", "G", "Gs", "A", "As", "B").index(name[:-1])
    return 440.0 * 2 ** ((step - 9) / 12 + int(name[-1]) - 4)


def test_silence_from_the_start() -> None:
    player = Player()
    for _ in range(10):
        player.frame()
    assert player.loudness() == 0
    assert player.registers[0x4017] == 0x40, "the sound chip must not interrupt"


@pytest.mark.parametrize(
    ("tune", "ticks_a_note", "lead"),
    [
        (1, [2, 2, 4, 2, 2, 4], ["G4", "C5", "E5", "D5", "C5", "E5"]),
        (2, [4, 2, 2, 4, 4], ["E5", "C5", "D5", "E5", "A4"]),
        (3, [2, 1, 3, 2, 1, 3], ["A4", "C5", "D5", "F5", "D5", "C5"]),
    ],
)
def test_a_melody_begins_in_tune_and_in_time(tune: int, ticks_a_note: list[int], lead: list[str]) -> None:
    player = Player()
    player.music(tune)
    tempo = {1: 7, 2: 6, 3: 9}[tune]
    for ticks, name in zip(ticks_a_note, lead, strict=True):
        for _ in range(ticks * tempo):
            player.frame()
            assert player.hertz(PULSE_1) == pytest.approx(note(name), rel=0.004)
            assert player.volume(PULSE_1) > 0


def test_the_bass_sounds_at_its_written_pitch() -> None:
    player = Player()
    player.music(2)
    for _ in range(3):
        player.frame()
    assert player.hertz(TRIANGLE) == pytest.approx(note("A2"), rel=0.004)
    assert player.volume(TRIANGLE)


def stream_ticks(console: BareCpu, address: int) -> tuple[int, bool]:
    """Length of a channel's stream in ticks up to its end or its jump back, and whether it jumps back."""
    ticks, length, back = 0, 0, 0
    while True:
        byte = console.memory[address]
        target = console.memory[address + 1] | console.memory[address + 2] << 8
        address += 1
        if byte < 0x40:
            ticks += length
        elif byte < 0x80:
            length = byte & 0x3F
        elif byte == 0xFC:
            address, back = target, address + 2
        elif byte == 0xFD:
            address = back
        elif byte >= 0xFE:
            return ticks, byte == 0xFE


@pytest.mark.parametrize("tune", TUNES)
def test_the_channels_of_a_tune_stay_together(tune: int) -> None:
    console = BareCpu()
    memory, labels = console.memory, console.labels
    head = memory[labels["tune_low"] + tune - 1] | memory[labels["tune_high"] + tune - 1] << 8
    streams = [memory[head + at] | memory[head + at + 1] << 8 for at in (1, 3, 5, 7)]
    lengths = [stream_ticks(console, stream) for stream in streams]
    longest = max(ticks for ticks, _ in lengths)
    for ticks, loops in lengths:
        if loops:
            assert longest % ticks == 0, "every part fits into the longest a whole number of times"
        assert loops == (tune in LOOPING) or ticks == 0


@pytest.mark.parametrize("tune", TUNES)
def test_every_frame_is_cheap_enough_whatever_plays(tune: int) -> None:
    player = Player()
    player.music(tune)
    for frame in range(1600):  # every tune comes round
        if frame % 7 == 3:
            player.effect(EFFECTS[frame // 7 % len(EFFECTS)])
        player.frame()
    assert player.slowest <= 1500


@pytest.mark.parametrize("tune", [4, 5, 6])
def test_a_jingle_ends_in_silence_and_is_not_started_again_by_asking(tune: int) -> None:
    player = Player()
    player.music(tune)
    heard = 0
    for _ in range(700):
        player.frame()
        heard = max(heard, player.loudness())
    assert heard > 8
    assert player.loudness() == 0
    player.music(tune)
    player.frame()
    assert player.loudness() == 0


def test_asking_for_the_tune_that_plays_does_not_disturb_it() -> None:
    asked, plain = Player(), Player()
    asked.music(2), plain.music(2)
    for _ in range(300):
        asked.music(2)
        asked.frame(), plain.frame()
        assert asked.registers == plain.registers


def test_a_pause_silences_the_tune_and_the_tune_goes_on_where_it_was() -> None:
    paused, plain = Player(), Player()
    paused.music(3), plain.music(3)
    for frame in range(400):
        if frame == 100:
            paused.console.memory[PAUSED] = 5
            for _ in range(50):
                paused.frame()
                assert paused.loudness() == 0
            paused.console.memory[PAUSED] = 0
        paused.frame(), plain.frame()
        if frame > 130:  # the note that was cut off has ended
            assert paused.registers == plain.registers


def test_the_pause_itself_can_be_heard() -> None:
    player = Player()
    player.music(2)
    player.frame()
    player.console.memory[PAUSED] = 5
    player.effect(11)
    for _ in range(15):
        player.frame()
        assert player.volume(PULSE_2) > 0 and player.volume(PULSE_1) == 0


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_effect_sounds_and_ends(effect: int) -> None:
    player = Player()
    channel, other = (NOISE, PULSE_2) if effect in NOISE_EFFECTS else (PULSE_2, NOISE)
    player.effect(effect)
    player.frame()
    assert player.volume(channel) > 0 and player.volume(other) == 0
    frames = 1
    while player.volume(channel) and frames < 100:
        player.frame()
        frames += 1
    assert 2 <= frames <= 60


@pytest.mark.parametrize("effect", EFFECTS)
def test_after_an_effect_the_tune_has_its_channel_back(effect: int) -> None:
    disturbed, plain = Player(), Player()
    disturbed.music(2), plain.music(2)
    for frame in range(300):
        if frame == 50:
            disturbed.effect(effect)
        disturbed.frame(), plain.frame()
        assert disturbed.hertz(PULSE_1) == plain.hertz(PULSE_1)
        if frame > 120:
            assert disturbed.registers == plain.registers


def test_a_small_effect_does_not_cut_off_a_great_one() -> None:
    player = Player()
    player.effect(5)
    player.frame()
    pitch = player.hertz(PULSE_2)
    player.effect(1)
    player.frame()
    assert player.hertz(PULSE_2) == pitch
    player.effect(7)
    player.frame()
    assert player.hertz(PULSE_2) == pytest.approx(note("C5"), rel=0.004)
