"""The drawings of Antidote: tile numbers of the rules, screens that unpack to what was drawn, sprites within bounds."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.cartridge.bare_cpu import CARTRIDGE, BareCpu

ART = CARTRIDGE / "art"
PLAY, SPRITES, MENU, INTERLUDE, PLAY_BEAT_2 = range(5)
SCREENS = ("title_screen", "options_screen", "play1_screen", "play2_screen", "interlude_screen")

# The rules' field cells (docs/drmario.md): type in the high nibble, colour in the low one.
PIECES = (0x40, 0x50, 0x60, 0x70, 0x80, 0xB0, 0xD0, 0xF0)
VIRUSES = 0xD0
BOX_EDGES = (0x8B, 0x8C, 0x8D, 0x8E, 0x8F, 0xED, 0xEE, 0xEF)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("art")
    subprocess.run([sys.executable, ART / "build.py", out], check=True)
    return out


@pytest.fixture(scope="module")
def tiles(built: Path) -> NDArray[np.uint8]:
    """[bank, tile, row, column] of colours 0-3, decoded as the picture processor does."""
    planes = np.frombuffer((built / "chr.bin").read_bytes(), np.uint8).reshape(8, 256, 2, 8)
    bits = np.unpackbits(planes[..., None], axis=-1)
    return bits[:, :, 0] + 2 * bits[:, :, 1]


def test_the_same_drawings_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ART / "build.py", tmp_path], check=True)
    for file in built.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("bank", [PLAY, PLAY_BEAT_2])
def test_pieces_wear_their_colour_at_the_numbers_of_the_rules(tiles: NDArray[np.uint8], bank: int) -> None:
    for kind in PIECES:
        for colour in range(3):
            tile = tiles[bank, kind + colour]
            own = np.count_nonzero(tile == colour + 1)
            others = np.count_nonzero(tile) - own
            assert own > 0 and own > 2 * others, f"tile ${kind + colour:02X}"
    assert not tiles[bank, 0xFF].any() and not tiles[bank, 0xFE].any(), "empty cells and blanks are black"
    assert all(tiles[bank, number].any() for number in BOX_EDGES)


def test_the_three_viruses_differ_without_colour(tiles: NDArray[np.uint8]) -> None:
    for bank in (PLAY, PLAY_BEAT_2):
        outlines = [tiles[bank, VIRUSES + colour] > 0 for colour in range(3)]
        for first, second in ((0, 1), (0, 2), (1, 2)):
            assert np.count_nonzero(outlines[first] != outlines[second]) >= 12


def test_the_second_beat_moves_the_viruses_and_nothing_else(tiles: NDArray[np.uint8]) -> None:
    changed = {int(number) for number in range(256) if (tiles[PLAY, number] != tiles[PLAY_BEAT_2, number]).any()}
    assert changed == {0xD0, 0xD1, 0xD2}


def test_letters_and_capsules_have_the_same_numbers_in_every_bank_that_needs_them(tiles: NDArray[np.uint8]) -> None:
    letters = tiles[PLAY, :0x24]
    assert letters.any(axis=(1, 2)).all() and len(np.unique(letters, axis=0)) == 0x24
    for bank in (SPRITES, MENU, INTERLUDE):
        assert (tiles[bank, :0x24] == letters).all()
    for half in (0x40, 0x50, 0x60, 0x70):
        assert (tiles[SPRITES, half : half + 3] == tiles[PLAY, half : half + 3]).all()


def unpacked(data: bytes) -> bytes:
    """The packed format, read back in plain Python."""
    out, at = bytearray(), 0
    while (code := data[at]) != 0xFF:
        if code < 0x40:
            out += data[at + 1 : at + 2 + code]
            at += 2 + code
            continue
        step = 0 if code < 0x80 else 1
        out += bytes((data[at + 1] + step * index) & 0xFF for index in range((code & 0x3F) + 2))
        at += 2
    assert at + 1 == len(data)
    return bytes(out)


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 150), st.sampled_from([0, 1, 7])), max_size=20))
def test_whatever_is_packed_comes_back(runs: list[tuple[int, int, int]]) -> None:
    sys.path.insert(0, str(ART))
    try:
        from screens import packed  # the art's own tools live beside the drawings
    finally:
        sys.path.remove(str(ART))
    data = b"".join(bytes((first + step * index) & 0xFF for index in range(count)) for first, count, step in runs)
    assert unpacked(packed(data)) == data


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_unpacks_to_1024_bytes_within_a_frame(name: str) -> None:
    console = BareCpu()
    address = console.labels[name]
    cycles = console.call("unpack_screen", a=address & 0xFF, x=address >> 8)
    packed = bytes(console.memory[address : address + 1100])
    sent = bytes(value for target, value in console.writes if target == 0x2007)
    assert len(sent) == 1024
    assert sent == unpacked(packed[: _end(packed)])
    assert {target for target, _ in console.writes} <= {0x2007, *range(0xD8, 0xE0)}
    assert cycles <= 22_000


def _end(packed: bytes) -> int:
    at = 0
    while packed[at] != 0xFF:
        at += 2 + packed[at] if packed[at] < 0x40 else 2
    return at + 1


@pytest.mark.parametrize(("name", "columns"), [("play1_screen", (12,)), ("play2_screen", (4, 20))])
def test_fields_are_empty_and_in_the_colours_of_the_pieces(name: str, columns: tuple[int, ...]) -> None:
    console = BareCpu()
    address = console.labels[name]
    console.call("unpack_screen", a=address & 0xFF, x=address >> 8)
    screen = bytes(value for target, value in console.writes if target == 0x2007)
    for column in columns:
        for row in range(10, 26):
            for x in range(column, column + 8):
                assert screen[row * 32 + x] in (0xFE, 0xFF)
                attribute = screen[960 + row // 4 * 8 + x // 4]
                assert attribute >> ((row & 2) << 1 | x & 2) & 3 == 0, f"palette at column {x}, row {row}"


# What a decoration may find in RAM: frame counter aside, every mode, phase, throw step and germ.
SCENES = [
    {0x46: mode, 0x59: phase, 0x7D: throw, 0x72: left, 0x73: left, 0x74: left, 0x75: hurt, 0x76: hurt, 0x77: 255}
    for mode, phase in ((4, 0), (4, 3), (7, 0), (8, 0))
    for throw in (0, 4, 21)
    for left in (0, 9)
    for hurt in (0, 255)
]
DECORATIONS = ("title", "options", "play1", "play2", "pause", "interlude")


@pytest.mark.parametrize("where", DECORATIONS)
def test_decorations_keep_to_their_cycles_their_sprites_and_their_memory(where: str) -> None:
    console = BareCpu()
    sprites_and_scratch = {*range(0x200, 0x300), *range(0xD8, 0xE0), 0x6C0}
    for scene in SCENES if where == "play1" else SCENES[::12]:
        for frame_counter in (0, 7, 33, 100, 250):
            console.poke({**scene, 0x43: frame_counter, 0x316: 21, 0x727: 2, 0x04: 1, 0x741: 0xFE})
            assert console.call(f"decorate_{where}", x=32) <= 2500
            assert console.cpu.x % 4 == 0 and 32 <= console.cpu.x <= 252
            assert {address for address, _ in console.writes} <= sprites_and_scratch
            drawn = {address for address, _ in console.writes if address >> 8 == 2}
            assert drawn == set(range(0x200 + 32, 0x200 + console.cpu.x)), "complete sprites, one after the other"


@pytest.mark.parametrize("where", DECORATIONS)
@pytest.mark.parametrize("first", [200, 240, 248, 252])
def test_decorations_stop_when_the_sprites_run_out(where: str, first: int) -> None:
    console = BareCpu()
    console.poke({**SCENES[0], 0x316: 21})
    console.call(f"decorate_{where}", x=first)
    assert first <= console.cpu.x <= 252
    assert all(address >= 0x200 + first for address, _ in console.writes if address >> 8 == 2)


@pytest.mark.parametrize("where", DECORATIONS)
def test_no_line_shows_more_sprites_than_the_console_can(where: str) -> None:
    console = BareCpu()
    # The falling capsule and the one being thrown, or both players' capsules, may lie on any line as well.
    free = {"play1": 6, "play2": 4}.get(where, 7)
    for frame_counter in range(0, 256, 5):
        console.poke({0x43: frame_counter, 0x46: 4, 0x72: 9, 0x73: 9, 0x74: 9, 0x75: 255, 0x316: 21, 0x727: 2})
        console.call(f"decorate_{where}", x=0)
        lines = np.zeros(264, int)
        for sprite in range(0, console.cpu.x, 4):
            lines[console.memory[0x200 + sprite] :][:8] += 1
        assert lines.max() <= free


def test_a_thrown_capsule_flies_from_the_paw_into_the_neck() -> None:
    console = BareCpu()
    x, y = (np.array(console.memory[console.labels[name] :][:22]) for name in ("throw_x", "throw_y"))
    assert (np.diff(x) <= 0).all() and np.abs(np.diff(x)).max() < 8 and np.abs(np.diff(y)).max() < 12, "no jumps"
    assert x[-1] == 12 * 8 + 3 * 8, "over cells 3 and 4 of the field"
    assert 64 <= y[-1] < 80, "just above the field's first row"
    over_the_lip = (x + 16 > 102) & (x < 154) & (x != 120)
    assert (y[over_the_lip] + 8 <= 40).all(), "it clears the lip of the bottle"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("marks.txt", "tiles cursor at $2C\n..4.\n", "marks.txt:2: a picture is drawn with . 1 2 3 only"),
        ("marks.txt", "picture cursor\n....\n", "marks.txt:1: expected 'tiles NAME"),
        (
            "screens.txt",
            "screen title_screen menu\npicture nobody 1 1\n",
            "screens.txt:2: cannot draw 'picture nobody 1 1'",
        ),
        ("screens.txt", "screen title_screen menu\npalette 1 0 2 2 1\n", "palette areas begin and end at even tiles"),
        ("palettes.txt", "title 0F 28\n", "palette title has 2 colours, not 32"),
        ("metasprites.txt", "figure cat cat_head 0\n", "metasprites.txt:1: not 'figure NAME"),
    ],
)
def test_a_slip_in_a_drawing_is_named_in_one_line(tmp_path: Path, file: str, text: str, message: str) -> None:
    for source in [*ART.glob("*.txt"), *ART.glob("*.py")]:
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / file).write_text(text)
    result = subprocess.run(
        [sys.executable, tmp_path / "build.py", tmp_path / "out"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
