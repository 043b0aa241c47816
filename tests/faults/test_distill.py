"""Distilling that is broken off, or has nowhere to put its player."""

from __future__ import annotations

import signal
from pathlib import Path

from mario_rl.distill.player_file import load_player_file
from tests.faults.runs import Place

QUICKLY = ["--rounds", "1", "--games", "12", "--student-rounds", "1", "--tries", "1", "--test-games", "4"]


def test_ctrl_c_keeps_what_was_polished_so_far(place: Place) -> None:
    file = place.checkpoints / "p.json"
    place.checkpoints.mkdir(exist_ok=True)
    words = ["--form", "linear", "--bytes", "600", *QUICKLY, "--polish-minutes", "50", "-o", str(file)]
    run = place.command("distill", *words)
    run.until(lambda: "polishing: generation" in run.errors, "it polishes")
    run.signal(signal.SIGINT)
    assert run.wait() == 130
    assert "polished only so far" in run.errors and "mario-rl distill --form linear" in run.errors
    player = load_player_file(file)
    assert player.card["interrupted"] and player.form.kind == "linear"


def test_ctrl_c_before_there_is_a_player(place: Place) -> None:
    run = place.command("distill", "-o", str(place.checkpoints.parent / "p.json"))
    run.until(lambda: "round 1 of" in run.errors, "it is being taught")
    run.signal(signal.SIGINT)
    assert run.wait() == 130
    assert "Traceback" not in run.errors


def test_a_player_that_cannot_be_written_is_kept_elsewhere(place: Place) -> None:
    folder = place.checkpoints.parent / "gone"
    folder.mkdir()
    words = ["--form", "lookup", *QUICKLY, "-o", str(folder / "p.json")]
    run = place.command("distill", *words)
    run.until(lambda: "round 1 of" in run.errors, "it is being taught")
    folder.rmdir()
    assert run.wait() == 2
    last = run.errors.splitlines()[-1]
    assert last.startswith(f"mario-rl: {folder / 'p.json'}: ") and "Traceback" not in run.errors
    kept = Path(last.split("the player is in ")[1].removesuffix(" instead"))
    assert load_player_file(kept).form.kind == "lookup"
    kept.unlink()
    kept.parent.rmdir()
