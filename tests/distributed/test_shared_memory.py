"""Blocks of shared memory: what one process writes the others read, and nothing stays behind, whoever dies how."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.distributed import shared_memory
from mario_rl.distributed.shared_memory import (
    SharedBlock,
    SharedMemoryError,
    block_name,
    leftovers,
    release_leftovers,
)
from tests.distributed.child_processes import outcome, script

DIRECTORY = shared_memory._DIRECTORY


@pytest.fixture
def name() -> Iterator[str]:
    name = block_name(f"test.{uuid.uuid4().hex[:8]}", "block")
    yield name
    assert not (DIRECTORY / name).exists(), "left behind"


def block(
    name: str, size: int = 64, shape: tuple[int, ...] = (64,), kind: str = "test", create: bool = True
) -> SharedBlock:
    return SharedBlock(name, size, kind=kind, shape=shape, create=create)


def creator_of(name: str) -> str:
    return f"""
        import sys
        from mario_rl.distributed.shared_memory import SharedBlock
        block = SharedBlock({name!r}, 64, kind="test", shape=(64,), create=True)
        print("created", flush=True)
        sys.stdin.readline()
    """


def test_what_one_writes_the_other_reads(name: str) -> None:
    ours = block(name)
    theirs = block(name, create=False)
    assert ours.words(0, 8).tolist() == [0] * 8, "fresh memory is all zeros"
    ours.words(0, 2)[1] = -5
    ours.numbers(16, 1)[0] = 0.1
    ours.floats(24, 2)[:] = [1.5, -2.5]
    assert theirs.words(0, 2)[1] == -5
    assert theirs.numbers(16, 1)[0] == 0.1
    assert theirs.floats(24, 2).tolist() == [1.5, -2.5]
    theirs.close()
    assert (DIRECTORY / name).exists(), "only the creator removes the name"
    ours.close()
    ours.close()


def test_views_outlive_the_block(name: str) -> None:
    ours = block(name)
    view = ours.floats(0, 4)
    ours.close()
    del ours
    view[:] = 3
    assert np.all(view == 3)


def test_nobody_but_its_owner_may_look_into_it(name: str) -> None:
    ours = block(name)
    assert (DIRECTORY / name).stat().st_mode & 0o777 == 0o600
    ours.close()


def test_processes_that_disagree_find_out(name: str) -> None:
    with pytest.raises(SharedMemoryError, match="is the run over"):
        block(name, create=False)
    ours = block(name)
    with pytest.raises(SharedMemoryError, match="exists already"):
        block(name)
    for other in ({"size": 128}, {"shape": (65,)}, {"kind": "other"}):
        with pytest.raises(SharedMemoryError, match="same installation"):
            block(name, create=False, **other)  # type: ignore[arg-type]
    assert (DIRECTORY / name).exists(), "a failed attempt takes nothing away"
    ours.close()


def test_no_room_is_a_clear_error(name: str) -> None:
    with pytest.raises(SharedMemoryError, match=r"no room for .* doctor --clean"):
        block(name, size=1 << 50)


def test_a_process_that_attached_takes_nothing_with_it(name: str) -> None:
    """Python's own shared memory fails here before 3.13: the resource tracker removes the block, and warns."""
    ours = block(name)
    ours.words(0, 1)[0] = 42
    process = script(
        f"""
        from mario_rl.distributed.shared_memory import SharedBlock
        block = SharedBlock({name!r}, 64, kind="test", shape=(64,), create=False)
        print(block.words(0, 1)[0])
        """
    )
    assert outcome(process) == ("42\n", "", 0)
    assert block(name, create=False).words(0, 1)[0] == 42
    ours.close()


def test_a_creator_that_just_exits_leaves_nothing(name: str) -> None:
    assert outcome(script(creator_of(name)), "\n") == ("created\n", "", 0)
    assert not (DIRECTORY / name).exists()


def test_what_a_killed_creator_left_is_found_and_removed(name: str) -> None:
    living = block(name + "2")
    process = script(creator_of(name))
    assert process.stdout is not None
    assert process.stdout.readline() == "created\n"
    assert name not in leftovers()
    assert name not in release_leftovers(), "its creator lives"
    assert (DIRECTORY / name).exists()

    os.kill(process.pid, signal.SIGKILL)
    outcome(process)
    assert name in leftovers()
    assert (DIRECTORY / name).exists(), "looking changes nothing"
    released = release_leftovers()
    assert name in released
    assert living.name not in released
    assert not (DIRECTORY / name).exists()
    assert name not in release_leftovers()
    living.close()


def test_a_leftover_does_not_stand_in_the_way_of_a_reused_process_number(name: str) -> None:
    process = script(creator_of(name))  # a name that carries our process number
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    outcome(process)
    ours = block(name, size=128)
    assert ours.words(0, 16).tolist() == [0] * 16
    ours.close()


def test_files_of_others_are_left_alone() -> None:
    stranger = DIRECTORY / f"not-mario-rl-{uuid.uuid4().hex}"
    stranger.touch()
    try:
        release_leftovers()
        assert stranger.exists()
    finally:
        stranger.unlink()


@given(st.text(max_size=300))
def test_every_run_name_makes_a_file_name(run: str) -> None:
    name = block_name(run, "gradients")
    assert Path(name).name == name
    assert len(name.encode()) < 200
    assert name.startswith("mario-rl-")
    assert name.endswith(f"-{os.getpid()}-gradients")
