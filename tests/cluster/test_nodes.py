"""Several nodes: one that dies costs its workers only, one that joins is used, a lost head costs the run nothing."""

from __future__ import annotations

import os
import re
import socket
from typing import Any

import pytest

from mario_rl.metrics.logger import read_rows
from tests.cluster.machines import ADDRESS, add_node, cluster, switch_off, switch_off_head
from tests.faults.runs import DDQN, FOREVER, PPO, Command, Place


def node_of(run: Command, who: str) -> str:
    """The beginning of the identifier of the node that somebody of the run was last said to be on."""
    return re.findall(rf"{who} is on node \S+ \((\w+)\)", run.errors)[-1]


def kill_node(running: Any, identifier: str) -> None:
    (node,) = [node for node in running.worker_nodes if node.node_id.startswith(identifier)]
    switch_off(running, node)


def test_a_lost_node_costs_its_worker_only_and_one_that_joins_is_used(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cluster(nodes=3) as running:
        place.environment["RAY_ADDRESS"] = running.address
        run = place.train(*PPO, "--cluster", "auto", "--steps", FOREVER)
        run.until(lambda: place.updates() > 20 and "worker 1 is on" in run.errors, "it learns with both workers")
        killed = node_of(run, "worker 1")
        kill_node(running, killed)
        run.until(lambda: "worker 1 died of the loss of its process on node" in run.errors, "the loss is told")
        steps = place.steps()
        run.until(lambda: place.steps() > steps + 500, "the other goes on alone")
        assert len(re.findall("worker 1 is on node", run.errors)) == 1, "there is no room for it"

        add_node(running)
        run.until(lambda: len(re.findall("worker 1 is on node", run.errors)) == 2, "the new node is used")
        assert node_of(run, "worker 1") != killed
        before = read_rows(place.run / "worker_1.csv")[-1]["steps"]
        run.until(lambda: read_rows(place.run / "worker_1.csv")[-1]["steps"] > before, "it goes on from its counters")

        kill_node(running, node_of(run, "the coordinator"))
        add_node(running)
        run.until(lambda: len(re.findall("the coordinator is on node", run.errors)) == 2, "it has a successor")
        steps = place.saved_steps()
        run.until(lambda: place.steps() > steps + 500, "which goes on from the checkpoint")

        further = place.steps() + 500
        run.signal(2)  # SIGINT
        assert run.wait() == 130, run.errors
        last = place.resume("--steps", str(further))
        assert last.wait() == 0, last.errors
        assert place.status()["steps"] >= further
        assert "Traceback" not in run.errors + last.errors + place.log()


def test_a_run_whose_head_is_lost_saves_what_it_has_and_goes_on_with_another_head(place: Place) -> None:
    with cluster(nodes=2) as running:
        place.environment["RAY_ADDRESS"] = running.address
        run = place.train(
            *DDQN, "--cluster", "auto", "--workers", "1", "--checkpoint-minutes", "60", "--steps", FOREVER
        )
        run.until(lambda: place.updates() > 50 and place.steps() > 300, "it learns")
        steps = place.steps()
        switch_off_head(running)
        assert run.wait() == 1, run.errors
        assert "FAILED: the head of the cluster (auto) does not answer any more" in run.output
        saved = place.saved_steps()
        assert saved == place.status()["steps"] >= steps, "the coordinator lived, and was asked to save"
    with cluster(nodes=2) as running:
        place.environment["RAY_ADDRESS"] = running.address
        again = place.resume("--steps", str(saved + 500))
        assert again.wait() == 0, again.errors
    rows = [row["steps"] for row in read_rows(place.run / "coordinator.csv") if "steps" in row]
    assert rows == sorted(rows), "nothing is counted twice"
    assert place.saved_steps() >= saved + 500


def test_a_run_from_outside_of_the_cluster(place: Place) -> None:
    """Through the head's door for clients: the run's directory is here, wherever the actors are."""
    with socket.create_server((ADDRESS, 0)) as free:
        port = free.getsockname()[1]
    with cluster(nodes=3, ray_client_server_port=port):
        place.environment.pop("RAY_ADDRESS", None)
        run = place.train(*DDQN, "--cluster", f"ray://{ADDRESS}:{port}", "--steps", "1500")
        assert run.wait() == 0, run.errors
    assert place.saved_steps() >= 1500
    assert len(list(place.run.glob("worker_*.csv"))) == 2
    assert os.environ.get("RAY_ADDRESS") is None
