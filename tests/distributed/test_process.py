"""Children die with their parent, leave Ctrl-C to it, and say why they died."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mario_rl.distributed.last_words import SharedLastWords
from mario_rl.distributed.process import become_child, exit_reason, run_child
from tests.distributed.child_processes import a_name, is_dead, outcome, script, wait_until

# A parent that starts one child; {body} is the child's.
PARENT_AND_CHILD = """
    import multiprocessing, os, sys, time
    from mario_rl.distributed.process import ctrl_c_held_back
    from tests.distributed import test_process

    if __name__ == "__main__":
        spawn = multiprocessing.get_context("spawn")
        child = spawn.Process(target=test_process.{body}, args=(os.getpid(), {argument!r}))
        with ctrl_c_held_back():
            child.start()
        try:
            print(child.pid, flush=True)
            child.join()
            print("the child ended with", child.exitcode, flush=True)
        except KeyboardInterrupt:
            open({argument!r}, "w").close()
            child.join()
            print("Ctrl-C; the child ended with", child.exitcode, flush=True)
"""


def sleep_in_child(parent_pid: int, _: str) -> None:
    become_child(parent_pid)
    print("ready", flush=True)
    signal.pause()


def wait_for_file_in_child(parent_pid: int, file: str) -> None:
    become_child(parent_pid)
    wait_until(Path(file).exists, "the parent has seen Ctrl-C")


def crash_in_child(parent_pid: int, name: str) -> None:
    def body() -> None:
        raise ValueError("the flagpole is missing")

    run_child(body, 0, SharedLastWords(name, workers=1), parent_pid)


def print_in_child(parent_pid: int, file: str) -> None:
    words = SharedLastWords(a_name("words"), workers=1, create=True)

    def body() -> None:
        print("collecting", flush=True)
        os.write(2, b"native words\n")
        raise ValueError("the flagpole is missing")

    run_child(body, 0, words, parent_pid, output=Path(file))


def test_a_child_dies_with_its_parent() -> None:
    parent = script(PARENT_AND_CHILD.format(body="sleep_in_child", argument=""))
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert parent.stdout.readline() == "ready\n"
    assert not is_dead(child)
    os.kill(parent.pid, signal.SIGKILL)
    wait_until(lambda: is_dead(child), "the child has died with its parent")
    assert outcome(parent)[1] == "", "no resource tracker complains"


def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    process = script(
        """
        import os
        from mario_rl.distributed.process import become_child
        become_child(os.getppid() + 1)
        print("still here")
        """
    )
    assert outcome(process) == ("", "", 1)


@pytest.mark.parametrize("when", ["while it starts", "later"])
def test_ctrl_c_is_the_parents_alone(when: str, tmp_path: Path) -> None:
    body = "wait_for_file_in_child" if when == "while it starts" else "sleep_and_wait_for_file_in_child"
    parent = script(PARENT_AND_CHILD.format(body=body, argument=str(tmp_path / "seen")))
    assert parent.stdout is not None
    parent.stdout.readline()
    if when == "later":
        assert parent.stdout.readline() == "ready\n"
    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does: to parent and child
    assert outcome(parent) == ("Ctrl-C; the child ended with 0\n", "", 0)


def sleep_and_wait_for_file_in_child(parent_pid: int, file: str) -> None:
    become_child(parent_pid)
    print("ready", flush=True)
    wait_until(Path(file).exists, "the parent has seen Ctrl-C")


def test_an_exception_becomes_last_words_and_nothing_is_printed() -> None:
    words = SharedLastWords(a_name("words"), workers=1, create=True)
    parent = script(PARENT_AND_CHILD.format(body="crash_in_child", argument=words.name))
    output, errors, _ = outcome(parent)
    assert "the child ended with 1" in output
    assert errors == ""
    heard = words.hear(0)
    assert heard.startswith("Traceback")
    assert heard.endswith("ValueError: the flagpole is missing")
    words.close()


def test_what_a_child_prints_goes_to_its_file(tmp_path: Path) -> None:
    log = tmp_path / "training.log"
    log.write_text("before\n")
    parent = script(PARENT_AND_CHILD.format(body="print_in_child", argument=str(log)))
    output, errors, _ = outcome(parent)
    assert "the child ended with 1" in output
    assert "collecting" not in output
    assert errors == ""
    assert log.read_text().startswith("before\ncollecting\nnative words\nTraceback")


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [(0, "exit code 0"), (3, "exit code 3"), (-9, "SIGKILL"), (-11, "SIGSEGV"), (-99, "99"), (None, "running")],
)
def test_exit_reasons_are_words(exit_code: int | None, words: str) -> None:
    assert words in exit_reason(exit_code)


def faults_of_arrays(prepare: str) -> int:
    """Pages that a process gets from the kernel for twenty arrays of 8 MB, one after the other."""
    code = f"""
        import resource
        import numpy as np
        from mario_rl.distributed.process import keep_memory
        {prepare}
        np.ones(1 << 20).sum()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            np.ones(1 << 20).sum()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    """
    return int(subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=True).stdout)


def test_a_child_keeps_the_memory_it_frees() -> None:
    kept, given_back = faults_of_arrays("keep_memory()"), faults_of_arrays("")
    glibc = platform.libc_ver()[0] == "glibc"  # others have a malloc of their own, which is left alone
    assert kept * 5 < given_back if glibc else kept <= given_back * 2
