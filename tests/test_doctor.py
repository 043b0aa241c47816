"""`mario-rl doctor` finds what killed runs left behind, and removes it when asked."""

from __future__ import annotations

from mario_rl import doctor
from tests.distributed.child_processes import a_name, outcome, script


def test_leftovers_are_found_and_cleaned() -> None:
    name = a_name("block")
    process = script(
        f"""
        import os, signal
        from mario_rl.distributed.shared_memory import SharedBlock
        block = SharedBlock({name!r}, 64, kind="test", shape=(64,), create=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    assert outcome(process)[2] == -9
    found = doctor._examine_leftovers()
    assert not found.ok
    assert name in found.detail
    assert "mario-rl doctor --clean" in found.line()
    assert f"removed {name}" in [finding.detail for finding in doctor.clean()]
    assert name not in doctor._examine_leftovers().detail
