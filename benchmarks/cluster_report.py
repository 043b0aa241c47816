"""The section of docs/results.md about training on a cluster, from the figures that benchmarks/cluster.py gathered."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchmarks.cluster_runs import BYTES, GROUPS, Setup
from benchmarks.tables import number, table


def cluster_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about clusters."""
    machine, ratios = report["machine"], report["ratios"]
    same = [ratio for name, ratio in ratios.items() if not name.endswith("_float16") and ratio is not None]
    return f"""
## Clusters

Written by `mario-rl bench cluster` on {machine["date"]}, {machine["cpu"]}, {machine["cores"]} cores, \
{machine["system"]}, Python {machine["python"]}, Ray {report["ray"]}, load {machine["load_at_start"]:g} at the \
start{", `--quick`" if report["quick"] else ""}; medians of {report["rounds"]} rounds, in which the runs take turns.

Gradients a second of the same training on the same machine: workers and coordinator as processes with shared memory
(`--cluster off`), and as actors of a Ray of this machine (`--cluster local`).

{training_table(report)}

Within one machine processes are the way to train: actors make {min(same):g} to {max(same):g} times as many gradients
there. What actors have to offer is other machines, whose workers come on top. Workers that are more than the machine's
{machine["cores"]} cores share these.

What a coordinator takes if its workers, all actors, do nothing but send, each as soon as its gradient before was
answered. The coordinator averages what is on offer, so there can be fewer updates than gradients. In: gradients. Out:
the trained weights after every update, once to each node that has workers; here both are copies in memory. Coordinator
and raylet, which keeps Ray's objects: their CPU time, of a core. The last column is about the coordinator's process
alone, whatever else ran on these {machine["cores"]} cores.

{load_table(report)}

What one worker makes, and what of that a network carries if its coordinator is elsewhere. Weights: what a worker
fetches for a gradient; the workers of a node fetch together. One that waits for each update (dreamer, ppo) fetches all
weights each time; one of ddqn the trained ones each time, and those of the target network once a round.

{model_table(report)}

How many workers one coordinator takes, and what 10, 100 and 1,000 ask for, is in
[cluster.md](cluster.md#how-many-workers-the-arithmetic).
"""


def training_table(report: dict[str, Any]) -> str:
    """Processes beside actors."""
    head = ["", "workers", "processes", "actors", "actors / processes", "actors, float16", "float16 / processes"]
    setups = [setup for group in GROUPS for setup in group.processes]
    rows = [_training_row(report, setup) for setup in setups if setup.name in report["ratios"]]
    return table(head, rows)


def _training_row(report: dict[str, Any], setup: Setup) -> list[str]:
    systems, ratios = report["systems"], report["ratios"]
    halved = f"{setup.name}_float16"

    def rate(system: str, name: str) -> str:
        figures = systems[system].get(name)
        return "-" if figures is None else f"{figures['per_second']:,.1f}"

    return [
        _trained(setup.model, setup.preset),
        str(setup.workers),
        rate("processes", setup.name),
        rate("actors", setup.name),
        _times(ratios[setup.name]),
        rate("actors", halved),
        _times(ratios.get(halved)),
    ]


def load_table(report: dict[str, Any]) -> str:
    """Senders and one coordinator."""
    head = ["vector", "", "senders", "gradients/s", "updates/s", "MB/s in", "MB/s out", "coordinator", "raylet"]
    floats = {model["model"]: model["gradient"] for model in report["models"]}
    rows = [
        [
            f"{load['model']}: {floats[load['model']]:,} numbers",
            load["precision"],
            str(load["senders"]),
            f"**{load['gradients_per_s']:,.0f}**",
            f"{load['updates_per_s']:,.0f}",
            f"{load['in_mb_per_s']:,.0f}",
            f"{load['out_mb_per_s']:,.0f}",
            f"{100 * load['coordinator_cpu_share']:.0f} %",
            f"{100 * load['raylet_cpu_share']:.0f} %",
            f"{load['gradients_per_cpu_s']:,.0f}",
        ]
        for load in report["loads"]
    ]
    return table([*head, "gradients per CPU second"], rows)


def model_table(report: dict[str, Any]) -> str:
    """Bytes of every model, and how often they move."""
    head = ["", "gradient, numbers", "weights, numbers", "gradient, MB", "weights for it, MB"]
    head += ["gradients/s of a worker", "MB/s of a worker"]
    rows = [
        [
            _trained(model["model"], model["preset"]),
            f"{model['gradient']:,}",
            f"{model['weights']:,}",
            _both(model["gradient"]),
            _both(model["fetched"]),
            number(model["gradients_per_s"]),
            " / ".join(number(model["mb_per_s"][precision]) for precision in BYTES),
        ]
        for model in report["models"]
    ]
    return f"{table(head, rows)}\n\nMB: as {' / as '.join(BYTES)}."


WORKERS = (10, 100, 1000)


def limit_table(report: dict[str, Any]) -> str:
    """Where a coordinator is full."""
    head = ["", "a worker makes, a second", "a coordinator takes", "workers", "MB/s in", "MB/s out"]
    rows = []
    for model, taken in _with_capacity(report):
        workers = taken / model["gradients_per_s"]
        rows.append(
            [
                _trained(model["model"], model["preset"]),
                f"{model['gradients_per_s']:,.1f}",
                f"{taken:,.0f}",
                f"**{workers:,.1f}**",
                *(f"{taken * megabytes:,.0f}" for megabytes in _to_and_fro(model)),
            ]
        )
    return table(head, rows)


def crowd_table(report: dict[str, Any]) -> str:
    """What 10, 100 and 1,000 workers would ask of one coordinator, and what makes that bearable."""
    head = ["", "workers", "gradients/s", "MB/s in", "MB/s out", "coordinators it would take", "`--accumulate-grads`"]
    rows = []
    for model, taken in _with_capacity(report):
        for workers in WORKERS:
            made = workers * model["gradients_per_s"]
            rows.append(
                [
                    _trained(model["model"], model["preset"]),
                    f"{workers:,}",
                    f"{made:,.0f}",
                    *(f"{made * megabytes:,.0f}" for megabytes in _to_and_fro(model)),
                    f"{made / taken:,.2f}",
                    f"{math.ceil(made / taken):,}",
                ]
            )
    return table(head, rows)


GIGABIT = 125.0  # MB/s


def cluster_page(report: dict[str, Any]) -> str:
    """What docs/cluster.md says of the figures."""
    taken = {f"{model['model']} {model['preset']}": (model, taken) for model, taken in _with_capacity(report)}
    paces = [load["gradients_per_cpu_s"] for load in report["loads"] if load["precision"] == "float32"]
    ddqn, most = taken["ddqn laptop"]
    inwards, outwards = (most * megabytes for megabytes in _to_and_fro(ddqn))
    sooner = "the network is full before the core is" if max(inwards, outwards) > GIGABIT else "the core is full first"
    return f"""{crowd_table(report)}

A network of 1 Gbit/s carries {GIGABIT:g} MB/s each way, one of 10 Gbit/s {10 * GIGABIT:,.0f}.

**What breaks first is the coordinator.** With a core to itself it takes {min(paces):,.0f} to {max(paces):,.0f}
gradients a second, by their size and by how many come at a time. Of ddqn's, with {_to_and_fro(ddqn)[0]:.1f} MB each, a
core full is {inwards:,.0f} MB/s in and {outwards:,.0f} MB/s out, so on 1 Gbit/s {sooner}. One coordinator takes:

{limit_table(report)}
"""


def _with_capacity(report: dict[str, Any]) -> Iterator[tuple[dict[str, Any], float]]:
    """The models whose worker and whose coordinator were measured, with the gradients a CPU second of the latter."""
    for model in report["models"]:
        loads = [load for load in report["loads"] if (load["model"], load["precision"]) == (model["model"], "float32")]
        if loads and model["gradients_per_s"] is not None:
            yield model, max(load["gradients_per_cpu_s"] for load in loads)


def _to_and_fro(model: dict[str, Any]) -> tuple[float, float]:
    """Megabytes of a gradient, and of the weights that are fetched for it, in float32."""
    return model["gradient"] * BYTES["float32"] / 1e6, model["fetched"] * BYTES["float32"] / 1e6


def _trained(model: str, preset: str | None) -> str:
    return f"{model}, defaults" if preset is None else f"{model}, `--preset {preset}`"


def _both(numbers: int) -> str:
    return " / ".join(f"{numbers * size / 1e6:.2f}" for size in BYTES.values())


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:g}×"
