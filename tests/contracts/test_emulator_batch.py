"""The `EmulatorBatch` contract: lanes are consoles, threads change nothing, the screen is what numpy makes of it."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from mario_rl._native import StateError
from mario_rl.emulators.base import EmulatorBatch
from mario_rl.emulators.embedded import EmbeddedBatch, EmbeddedEmulator

from .demo_cartridge import CARTRIDGES, NROM

LANES = 5


def random_pads(lanes: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (lanes, 2), dtype=np.uint8)


def run(batch: EmbeddedBatch, steps: int, screen: str = "off", first: int = 0) -> None:
    for step in range(first, first + steps):
        batch.step(random_pads(batch.lanes, step), 1 + step % 3, screen=screen)


@pytest.mark.parametrize("rom", CARTRIDGES.values(), ids=CARTRIDGES)
def test_lanes_equal_single_consoles(rom: bytes) -> None:
    batch = EmbeddedBatch(rom, LANES, threads=2)
    assert isinstance(batch, EmulatorBatch)
    singles = [EmbeddedEmulator(rom) for _ in range(LANES)]
    for step in range(40):
        pads, frames = random_pads(LANES, step), 1 + step % 4
        batch.step(pads, frames, screen="draw")
        for single, buttons in zip(singles, pads, strict=True):
            single.step((int(buttons[0]), int(buttons[1])), frames, render=True)
    for lane, single in enumerate(singles):
        assert np.array_equal(batch.ram[lane], single.ram)
        assert np.array_equal(batch.frame(lane), single.frame())
        assert batch.save(lane) == single.save()
        assert batch.peek(lane, 0x6000, 64) == single.peek(0x6000, 64)
    assert len({batch.ram[lane].tobytes() for lane in range(LANES)}) == LANES


def test_frames_per_lane_and_mask() -> None:
    batch, reference = EmbeddedBatch(NROM, LANES), EmbeddedBatch(NROM, LANES)
    pads = random_pads(LANES, 1)
    frames = np.array([3, 0, 1, 2, 5], np.int32)
    mask = np.array([True, True, False, True, True])
    batch.step(pads, frames, mask)
    assert batch.frames.tolist() == [3, 0, 0, 2, 5]
    for lane in range(LANES):
        alone = np.arange(LANES) == lane
        for _ in range(int(frames[lane]) if mask[lane] else 0):
            reference.step(pads, 1, alone)
    for lane in range(LANES):
        assert batch.save(lane) == reference.save(lane)


def test_ram_view_is_one_array_for_ever() -> None:
    batch = EmbeddedBatch(NROM, LANES)
    view = batch.ram
    assert view.shape == (LANES, 2048) and view.dtype == np.uint8
    run(batch, 10)
    state = batch.save(0)
    view[0, 0x700] = 0xAB
    assert batch.peek(0, 0x0700) == b"\xab"
    batch.load(0, state)
    assert view[0, 0x700] == 0, "loading shows in the same view"
    batch.power(0)
    assert not view[0, :0x700].any()
    lone_view = EmbeddedBatch(NROM, 2).ram
    assert lone_view.sum() == 0, "a view keeps its batch alive"


def test_one_thread_and_two_give_the_same() -> None:
    batches = [EmbeddedBatch(NROM, 16, threads=threads) for threads in (1, 2, 3)]
    buffers = [batch.configure_screen("grey", size=(84, 84), stack=4, max_pool=True) for batch in batches]
    for batch in batches:
        run(batch, 40, "push")
    for batch, buffer in zip(batches, buffers, strict=True):
        assert np.array_equal(batch.ram, batches[0].ram)
        assert np.array_equal(buffer, buffers[0])
        assert [batch.save(lane) for lane in range(16)] == [batches[0].save(lane) for lane in range(16)]


def test_copy_and_load_lanes() -> None:
    batch = EmbeddedBatch(NROM, LANES)
    run(batch, 12)
    batch.copy(1, 3)
    assert batch.save(3) == batch.save(1)
    batch.copy(2, 2)
    states = [batch.save(4), batch.save(0)]
    batch.load_lanes(np.array([True, False, True, False, False]), states)
    assert [batch.save(0), batch.save(2)] == states
    before = [batch.save(lane) for lane in range(LANES)]
    with pytest.raises(StateError):
        batch.load_lanes(np.array([True, True, False, False, False]), [states[0], states[1][:-1]])
    assert [batch.save(lane) for lane in range(LANES)] == before, "one bad state, and no lane changes"


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros((LANES, 3), np.uint8), 1),
        (np.zeros((LANES - 1, 2), np.uint8), 1),
        (np.zeros((LANES, 2), np.uint8), np.zeros(LANES + 1, np.int32)),
        (np.zeros((LANES, 2), np.uint8), 1, np.ones(LANES - 1, bool)),
        (np.zeros((LANES, 2), np.uint8), 1, None, "loud"),
        (np.zeros((LANES, 2), np.uint8), 1, None, "push"),  # configure_screen was not called
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[object, ...]) -> None:
    batch = EmbeddedBatch(NROM, LANES)
    with pytest.raises((ValueError, TypeError)):
        batch.step(*arguments)  # type: ignore[arg-type]
    assert batch.frames.tolist() == [0] * LANES


@pytest.mark.parametrize("lane", [-1, LANES, 10**6])
def test_lanes_out_of_range_are_refused(lane: int) -> None:
    batch = EmbeddedBatch(NROM, LANES)
    for call in (batch.save, batch.frame, batch.power, batch.reset, batch.registers):
        with pytest.raises((IndexError, ValueError)):
            call(lane)


@pytest.mark.parametrize(("lanes", "threads"), [(0, 1), (-3, 1), (1, 0), (1, -1)])
def test_impossible_batches_are_refused(lanes: int, threads: int) -> None:
    with pytest.raises(ValueError):
        EmbeddedBatch(NROM, lanes, threads)


# --- the screen, against plain numpy --------------------------------------------------------------------------------


def area_resize(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Each target cell is the mean of the source area it covers, by explicit overlap weights."""

    def weights(source: int, target: int) -> np.ndarray:
        edges = np.linspace(0, source, target + 1)
        matrix = np.zeros((target, source))
        columns = np.arange(source)
        for row, (low, high) in enumerate(pairwise(edges)):
            matrix[row] = np.clip(np.minimum(high, columns + 1) - np.maximum(low, columns), 0, None)
        return matrix / matrix.sum(axis=1, keepdims=True)

    tall = np.tensordot(weights(image.shape[0], height), image.astype(float), axes=1)
    return np.moveaxis(np.tensordot(weights(image.shape[1], width), tall, axes=(1, 1)), 0, 1)


def luminance(rgb: np.ndarray) -> np.ndarray:
    return np.rint(rgb @ np.array([0.299, 0.587, 0.114]))


ROUNDING = 2.0  # of 255: the native weights are 8-bit fractions, in both directions


@pytest.mark.parametrize("colour", ["grey", "rgb"])
@pytest.mark.parametrize("crop", [(0, 0, 0, 0), (16, 8, 4, 20)])
@pytest.mark.parametrize("size", [None, (84, 84), (60, 100), (120, 128), (7, 13)])
@pytest.mark.parametrize("max_pool", [False, True])
def test_screen_is_what_numpy_makes_of_it(
    colour: str, crop: tuple[int, int, int, int], size: tuple[int, int] | None, max_pool: bool
) -> None:
    batch = EmbeddedBatch(NROM, 2)
    plain = EmbeddedBatch(NROM, 2)
    stack = 3
    buffer = batch.configure_screen(colour, crop, size, stack, max_pool)  # type: ignore[arg-type]
    top, bottom, left, right = crop
    height, width = size or (240 - top - bottom, 256 - left - right)
    assert buffer.shape == (2, stack, height, width) + ((3,) if colour == "rgb" else ())
    assert not buffer.any()

    def reference(lane: int, pictures: list[np.ndarray]) -> np.ndarray:
        views = [picture if colour == "rgb" else luminance(picture) for picture in pictures]
        whole = np.max(views, axis=0) if max_pool else views[-1]
        whole = whole[top : 240 - bottom, left : 256 - right]
        return whole if size is None else area_resize(whole, *size)

    expected = np.zeros(buffer.shape)
    for step, (screen, frames) in enumerate([("fill", 30), ("push", 4), ("push", 1), ("replace", 3), ("push", 2)]):
        pads = random_pads(2, step)
        batch.step(pads, frames, screen=screen)
        drawn: list[list[np.ndarray]] = [[], []]
        for frame in range(frames):
            plain.step(pads, 1, screen="draw" if frame >= frames - 2 else "off")
            if frame >= frames - 2:
                for lane in range(2):
                    drawn[lane].append(plain.frame(lane))
        for lane in range(2):
            newest = reference(lane, drawn[lane])
            if screen == "fill":
                expected[lane] = newest
            elif screen == "push":
                expected[lane, :-1] = expected[lane, 1:]
            expected[lane, -1] = newest
        assert np.abs(buffer - expected).max() < ROUNDING, f"step {step} ({screen})"
    assert np.ptp(expected) > 5, "the demo shows something"


def test_screen_leaves_other_lanes_alone() -> None:
    batch = EmbeddedBatch(NROM, 3)
    buffer = batch.configure_screen("grey", size=(84, 84), stack=2)
    run(batch, 12, "push")
    before = buffer.copy()
    batch.step(random_pads(3, 0), np.array([2, 0, 2], np.int32), np.array([True, True, False]), screen="fill")
    assert not np.array_equal(buffer[0], before[0])
    assert np.array_equal(buffer[1:], before[1:])


@pytest.mark.parametrize(
    "settings",
    [
        {"crop": (120, 120, 0, 0)},
        {"crop": (-1, 0, 0, 0)},
        {"size": (0, 84)},
        {"size": (84, -4)},
        {"stack": 0},
        {"colour": "sepia"},
    ],
)
def test_impossible_screens_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        EmbeddedBatch(NROM, 1).configure_screen(**settings)  # type: ignore[arg-type]


def test_a_thousand_lanes_fit_in_200_megabytes() -> None:
    script = """if True:
        import resource, sys
        import numpy as np
        from mario_rl.emulators.embedded import EmbeddedBatch
        rom = sys.stdin.buffer.read()
        EmbeddedBatch(rom, 1).step(np.zeros((1, 2), np.uint8), 2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        batch = EmbeddedBatch(rom, 1000)
        batch.step(np.zeros((1000, 2), np.uint8), 2)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run([sys.executable, "-c", script], input=NROM, capture_output=True, check=True)
    kilobytes = int(done.stdout)
    assert kilobytes < 200_000
