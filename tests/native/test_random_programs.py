"""Random programs against cynes (a whole console) and py65 (a 6502). MARIO_RL_EXAMPLES=10 runs ten times as many."""

import os

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from py65.devices.mpu6502 import MPU
from py65.memory import ObservableMemory

from .consoles import Comparison, OurConsole
from .random_programs import ALL_STABLE, OFFICIAL_BINARY, Program, console_programs, cpu_programs

MORE = int(os.environ.get("MARIO_RL_EXAMPLES", "1"))
RESET_CYCLES = 8  # of the power-on sequence

deterministic = settings(
    derandomize=MORE == 1,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@settings(deterministic, max_examples=60 * MORE)
@given(cpu_programs(ALL_STABLE))
def test_cpu_programs_equal_cynes(program: Program) -> None:
    for _ in Comparison(program.rom()).frames(3):
        pass


@settings(deterministic, max_examples=150 * MORE)
@given(console_programs(), st.integers(0, 255))
def test_console_programs_equal_cynes(program: Program, buttons: int) -> None:
    for _ in Comparison(program.rom(), lambda frame: ((buttons * frame) & 255, buttons)).frames(6):
        pass


@settings(deterministic, max_examples=25 * MORE)
@given(cpu_programs(OFFICIAL_BINARY))
def test_cpu_programs_equal_py65(program: Program) -> None:
    """Registers, RAM and the cycle count at the end of the first frame, a random point of the program."""
    console = OurConsole(program.rom())
    console.step()
    try:
        reference = run_py65(program, console.cycles - RESET_CYCLES)
    except OpenBus:
        reject()
    registers = console.batch.registers(0)
    assert reference.processorCycles == console.cycles - RESET_CYCLES, "no instruction ends at this cycle"
    mine = [registers[name] for name in ("pc", "a", "x", "y", "s")]
    assert mine == [reference.pc, reference.a, reference.x, reference.y, reference.sp]
    assert registers["p"] & 0xCF == reference.p & 0xCF
    assert console.ram.tolist() == reference.memory[:0x800]


class OpenBus(Exception):
    """A pointer led outside RAM and ROM, of which py65 knows nothing."""


def run_py65(program: Program, cycles: int) -> MPU:
    memory = ObservableMemory([0] * 0x8000 + list(program.rom()[16 : 16 + 0x8000]))

    def outside(address: int, value: int = 0) -> None:
        raise OpenBus(f"${address:04X}")

    memory.subscribe_to_read(range(0x800, 0x8000), outside)
    memory.subscribe_to_write(range(0x800, 0x10000), outside)
    mpu = MPU(memory=memory, pc=0x8000)
    mpu.sp, mpu.p = 0xFD, 0x24
    mpu.cycletime = list(mpu.cycletime)
    mpu.cycletime[0xCE] = 6  # DEC absolute; py65 1.2 has 3
    while mpu.processorCycles < cycles:
        mpu.step()
    return mpu
