"""How fast the Dr. Mario engine is, whether it plays as the cartridge does, and how strong the bots are.

`mario-rl bench drmario --json -` runs it. Speeds are per second of CPU time on one core; peers that play the same game
take turns with the engine: the plain-Python reference of the tests, and Antidote on the embedded core. The bots' rounds
are those of a player: from the intro, MED, the game's own random numbers and gravity.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import drmario_lockstep
from benchmarks.drmario_report import tables
from benchmarks.measurement import machine, say
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.bots import SearchBot, make_bot
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.menu import Menu
from mario_rl.environment.drmario.rules import MEDIUM, RulesBatch
from mario_rl.roms import antidote
from tests.environment.drmario.reference import Reference

GAMES = 256
CONSOLES = 16
HELD_FRAMES = 8  # a pad is held that long, about as long as a finger takes
LEVEL = 10
PADS = np.array([0, LEFT, RIGHT, DOWN, A, B, LEFT | A, RIGHT | B], np.uint8)

BOTS = {"greedy": (10, 15, 20), "search": (10, 15, 20)}
BOT_ROUNDS = 200
MOST_CAPSULES = 1000  # a round that takes more counts as not cleared
FIRST_SEED = 0x8988  # the generator's state at power-on; the rounds have this one, +2, +4, ...


def main() -> int:
    """Measure, print, write; return the exit code: 1 if the engine and the cartridge disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drmario", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, less exact")
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    options = parser.parse_args()
    quick = options.quick

    report: dict[str, Any] = {"benchmark": "drmario", "quick": quick, "machine": machine()}
    report |= speeds(rounds=2 if quick else 5, seconds=0.5 if quick else 2.0)
    say("lock-step with the cartridge")
    report["lockstep"] = lockstep(30_000 if quick else 1_000_000)
    report["bots"] = {
        bot: {f"L{level}": strength(bot, level, 40 if quick else BOT_ROUNDS) for level in levels}
        for bot, levels in BOTS.items()
    }

    print(tables(report), file=sys.stderr if options.json == "-" else sys.stdout)
    text = json.dumps(report, indent=1)
    if options.json == "-":
        print(text)
    elif options.json is not None:
        Path(options.json).write_text(text + "\n")
    return 1 if report["lockstep"]["mismatches"] else 0


# --- speed --------------------------------------------------------------------------------------------------------


def speeds(rounds: int, seconds: float) -> dict[str, Any]:
    """Frames and placements a second, ours and our peers': the medians of rounds in which all take turns."""
    systems: dict[str, Callable[[], int]] = {
        "engine": frames_of_the_engine(players=1),
        "engine, two players": frames_of_the_engine(players=2),
        "reference": frames_of_the_reference(),
        "cartridge": frames_of_the_cartridge(),
        "placements": placements_of_the_engine(),
    }
    rates: dict[str, list[float]] = {name: [] for name in systems}
    for turn in range(rounds + 1):
        say("warm-up round" if turn == 0 else f"round {turn} of {rounds}")
        for name, work in systems.items():
            rate = per_cpu_second(work, seconds / 4 if turn == 0 else seconds)
            if turn > 0:
                rates[name].append(rate)
    medians = {name: round(statistics.median(own)) for name, own in rates.items()}
    return {
        "frames_per_s": medians["engine"],
        "frames_per_s_two_players": medians["engine, two players"],
        "placements_per_s": medians["placements"],
        "peers": {
            "reference (plain Python)": {"frames_per_s": medians["reference"]},
            "Antidote on the embedded core": {"frames_per_s": medians["cartridge"]},
        },
        "rounds": rounds,
    }


def per_cpu_second(work: Callable[[], int], seconds: float) -> float:
    """Units of work a CPU second; work() does a piece of it and says how many units that was."""
    begin = now = time.process_time()
    done = 0
    while now - begin < seconds:
        done += work()
        now = time.process_time()
    return done / (now - begin)


def frames_of_the_engine(players: int) -> Callable[[], int]:
    """A batch of games with pads held at random; a game that is over begins again."""
    batch, random = RulesBatch(GAMES), np.random.default_rng(players)
    game = GameMemory(batch.ram)
    batch.reset(seeds_from(FIRST_SEED, GAMES), LEVEL, MEDIUM, players)
    batch.skip_intro()

    def work() -> int:
        for _ in range(16):
            batch.step(random.choice(PADS, (GAMES, 2)), HELD_FRAMES)
        over = game.round_over()
        if over.any():
            batch.reset(random.integers(2, 1 << 16, GAMES), LEVEL, MEDIUM, players, over)
            batch.skip_intro(over)
        return GAMES * 16 * HELD_FRAMES

    return work


def frames_of_the_reference() -> Callable[[], int]:
    """One game of the plain-Python reference, with pads held at random."""
    random = np.random.default_rng(0)
    state = {"game": Reference.begin(FIRST_SEED, (LEVEL, LEVEL), (MEDIUM, MEDIUM), 1)}

    def work() -> int:
        game = state["game"]
        for pad in random.choice(PADS, 64).tolist():
            for _ in range(HELD_FRAMES):
                game.step(pad, 0)
        if game.ram[memory.MODE] == memory.MODE_END_SCREEN:
            state["game"] = Reference.begin(int(random.integers(2, 1 << 16)), (LEVEL, LEVEL), (MEDIUM, MEDIUM), 1)
        return 64 * HELD_FRAMES

    return work


def frames_of_the_cartridge() -> Callable[[], int]:
    """Consoles with Antidote, RAM only, with pads held at random."""
    consoles, random = EmbeddedBatch(antidote(), CONSOLES), np.random.default_rng(0)
    game, menu = GameMemory(consoles.ram), Menu(consoles)
    both = np.ones((CONSOLES, 2), np.int32)

    def begin(lanes: npt.NDArray[np.bool_]) -> None:
        seeds = random.integers(2, 1 << 16, CONSOLES).astype(np.int32)
        menu.begin(lanes, seeds, LEVEL * both, MEDIUM * both, 1)

    begin(np.ones(CONSOLES, np.bool_))
    begun = [consoles.save(lane) for lane in range(CONSOLES)]

    def work() -> int:
        for _ in range(16):
            consoles.step(random.choice(PADS, (CONSOLES, 2)), HELD_FRAMES)
        over = game.round_over()
        if over.any():
            consoles.load_lanes(over, [begun[lane] for lane in np.flatnonzero(over).tolist()])
        return CONSOLES * 16 * HELD_FRAMES

    return work


def placements_of_the_engine() -> Callable[[], int]:
    """Random placements, listed and carried out; a game that is over begins again."""
    batch, random = RulesBatch(GAMES), np.random.default_rng(0)
    batch.reset(seeds_from(FIRST_SEED, GAMES), LEVEL, MEDIUM, 1)
    batch.skip_intro()
    batch.next_decision()
    lanes = np.arange(GAMES)

    def work() -> int:
        counts, ids, _, _ = batch.placements()
        chosen = ids[lanes, (random.random(GAMES) * counts).astype(np.intp)]
        over = batch.place(chosen) == 0
        if over.any():
            batch.reset(random.integers(2, 1 << 16, GAMES), LEVEL, MEDIUM, 1, over)
            batch.skip_intro(over)
            batch.next_decision(over)
        return GAMES

    return work


# --- rules and bots -----------------------------------------------------------------------------------------------


def lockstep(frames: int) -> dict[str, Any]:
    """See drmario_lockstep."""
    tally = drmario_lockstep.compare(frames, say)
    for line in tally.first:
        say(f"MISMATCH {line}")
    return {
        "frames": tally.frames,
        "mismatches": tally.mismatches,
        "rounds": tally.rounds,
        "attacks": tally.attacks,
    }


def strength(bot: str, level: int, rounds: int) -> dict[str, Any]:
    """How often a bot clears a level, and with how many capsules when it does."""
    player = make_bot(bot)
    assert isinstance(player, SearchBot)
    batch = RulesBatch(rounds, os.cpu_count() or 1)
    batch.reset(seeds_from(FIRST_SEED, rounds), level, MEDIUM, 1)
    batch.skip_intro()
    begin = time.perf_counter()
    capsules = batch.play(player.weights, player.plies, MOST_CAPSULES)[:, 0]
    seconds = time.perf_counter() - begin
    game = GameMemory(batch.ram)
    cleared = game.cleared()[:, 0]
    figures = {
        "games": rounds,
        "clear_rate": round(float(cleared.mean()), 4),
        "capsules": round(float(capsules[cleared].mean()), 1) if cleared.any() else None,
        "most_capsules": int(capsules[cleared].max()) if cleared.any() else None,
        "topped_out": int(game.topped_out()[:, 0].sum()),
        "first_seed": FIRST_SEED,
        "ms_per_capsule": round(1000 * seconds / int(capsules.sum()), 3),
    }
    say(f"{bot} L{level}: {figures['clear_rate']:.1%} of {rounds} cleared, {figures['capsules']} capsules")
    return figures


def seeds_from(first: int, count: int) -> npt.NDArray[np.int64]:
    """Seeds that give different rounds: bit 0 of the generator's state changes nothing."""
    return 2 + (first - 2 + 2 * np.arange(count)) % 0xFFFE


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(2)
