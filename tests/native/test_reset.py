"""The reset button, in cynes and in our core: ten resets of a program that logs what each of them did."""

from .assembler import PROGRAMS, assemble
from .consoles import Comparison

RESETS = {7, 12, 19, 23, 31, 36, 42, 49, 55, 60}


def test_reset_button() -> None:
    comparison = Comparison(assemble((PROGRAMS / "reset" / "reset_button.s").read_text()))
    for frame in comparison.frames(66):
        if frame in RESETS:
            for console in comparison.consoles:
                console.reset()
    assert comparison.oracle.ram[0x50] == len(RESETS) + 1, "every boot was logged"


def test_power_forgets_reset_does_not() -> None:
    console = Comparison(assemble((PROGRAMS / "reset" / "reset_button.s").read_text())).ours[0]
    for _ in range(8):
        console.step()
    console.reset()
    for _ in range(8):
        console.step()
    assert console.ram[0x50] == 2
    console.batch.power(0)
    for _ in range(8):
        console.step()
    assert console.ram[0x50] == 1
