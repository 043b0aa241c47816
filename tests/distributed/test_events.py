"""Events arrive as they were sent; nothing about the receiving side can hold a publisher up."""

from __future__ import annotations

import json
import math
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import zmq

from mario_rl.distributed import events as module
from mario_rl.distributed.events import EventPublisher, EventSubscriber, LocalEvents, remove_dead_sockets


@pytest.fixture
def temporary(monkeypatch):
    """A short temporary directory of the test's own, as the user's one."""
    with tempfile.TemporaryDirectory(prefix="mrl-", dir="/tmp") as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)


@pytest.fixture
def subscriber(temporary):
    with EventSubscriber() as subscriber:
        yield subscriber


def say_everything(events):
    events.metrics({"loss": 0.5, "steps": 64})
    events.log("warning", "größer")
    events.deaths([("1-1", 37, 1123), ("4-4", 5, -20)])
    events.worker_status(3, "restarting", "killed by signal 9")
    events.learner_status("saving")


EVERYTHING = [
    {"type": "metrics", "values": {"loss": 0.5, "steps": 64}},
    {"type": "log", "level": "warning", "text": "größer"},
    {"type": "death_positions", "deaths": [["1-1", 37, 1123], ["4-4", 5, -20]]},
    {"type": "worker_status", "worker": 3, "status": "restarting", "text": "killed by signal 9"},
    {"type": "learner_status", "status": "saving", "text": ""},
]


def without(events, *keys):
    return [{key: value for key, value in event.items() if key not in keys} for event in events]


def receive(subscriber, count):
    """Wait for so many events."""
    received = []
    for _ in range(100):  # a poll may give none: it ends at garbage, too
        received += subscriber.poll(0.2)
        if len(received) >= count:
            return received
    pytest.fail(f"only {received} came")


# --- every kind, on both ways -------------------------------------------------------------------------------------


def test_every_kind_of_event_arrives_as_it_was_sent(subscriber):
    publisher = EventPublisher(subscriber.address, "worker_3")
    say_everything(publisher)
    publisher.close()
    received = receive(subscriber, len(EVERYTHING))
    assert without(received, "source", "time") == EVERYTHING
    assert {event["source"] for event in received} == {"worker_3"}
    times = [event["time"] for event in received]
    assert times == sorted(times) and abs(times[0] - module.time.time()) < 60
    assert publisher.dropped == 0 and subscriber.ignored == 0


def test_local_events_say_the_same_without_a_socket():
    received = []
    say_everything(LocalEvents("worker_3", received.append))
    assert without(received, "source", "time") == EVERYTHING


def test_values_that_are_not_finite_survive_the_journey(subscriber):
    publisher = EventPublisher(subscriber.address, "worker_0")
    publisher.metrics({"loss": math.inf})
    publisher.close()
    assert receive(subscriber, 1)[0]["values"] == {"loss": math.inf}


def test_words_outside_the_vocabulary_are_refused():
    events = LocalEvents("worker_0", print)
    with pytest.raises(ValueError, match="'bored' is none of starting, collecting"):
        events.worker_status(0, "bored")
    with pytest.raises(ValueError, match="info, warning, error"):
        events.log("debug", "x")


def test_events_of_several_publishers_each_in_order(subscriber):
    publishers = [EventPublisher(subscriber.address, f"worker_{number}") for number in range(3)]
    for count in range(50):
        for publisher in publishers:
            publisher.metrics({"steps": count})
    for publisher in publishers:
        publisher.close()
    received = receive(subscriber, 150)
    for number in range(3):
        own = [event["values"]["steps"] for event in received if event["source"] == f"worker_{number}"]
        assert own == list(range(50))


# --- a sink that is absent, slow or dead --------------------------------------------------------------------------


def test_without_a_subscriber_the_newest_are_kept_and_drops_counted(temporary):
    address = f"ipc://{temporary}/late"
    publisher = EventPublisher(address, "worker_0", backlog=10)
    for count in range(100):
        publisher.metrics({"steps": count})
    assert publisher.dropped == 90

    late = zmq.Context.instance().socket(zmq.PULL)
    late.bind(address)
    publisher.close()
    received = []
    while late.poll(1000):
        received.append(json.loads(late.recv())["values"]["steps"])
    late.close()
    assert received == list(range(90, 100))


def test_a_subscriber_that_does_not_read_costs_the_middle_not_the_newest(subscriber):
    publisher = EventPublisher(subscriber.address, "worker_0", backlog=10)
    filling = "x" * 10_000  # so that the kernel's buffer is soon full
    count = 0
    while publisher.dropped < 100:
        publisher.log("info", f"{count} {filling}")
        count += 1
    received = [int(event["text"].split()[0]) for event in subscriber.poll(10)]
    while len(received) + publisher.dropped < count:
        received += [int(event["text"].split()[0]) for event in subscriber.poll(1)]
    publisher.close()
    assert received == sorted(received)
    assert received[-10:] == list(range(count - 10, count))
    assert publisher.dropped == 100


def test_a_publisher_outlives_its_subscriber(subscriber):
    publisher = EventPublisher(subscriber.address, "worker_0", backlog=5)
    publisher.metrics({"steps": 0})
    receive(subscriber, 1)
    subscriber.close()
    for count in range(1000):
        publisher.metrics({"steps": count})
    assert publisher.dropped > 0
    publisher.close()
    publisher.close()
    before = publisher.dropped
    publisher.metrics({"steps": 1})  # closed: counted, not raised
    assert publisher.dropped == before + 1


# --- garbage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xff\xfe\x00",
        b"[1, 2]",
        b"{",
        b"[" * 100_000,
        b'{"type": "metrics", "source": "w", "time": 1, "values": {"loss": "high"}}',
        b'{"type": "metrics", "source": "w", "time": 1, "values": [1]}',
        b'{"type": "metrics", "source": 7, "time": 1, "values": {}}',
        b'{"type": "metrics", "source": "w", "time": "now", "values": {}}',
        b'{"type": "gossip", "source": "w", "time": 1}',
        b'{"type": "log", "source": "w", "time": 1, "level": "loud", "text": "x"}',
        b'{"type": "log", "source": "w", "time": 1, "level": [], "text": "x"}',
        b'{"type": "death_positions", "source": "w", "time": 1, "deaths": [["1-1", 3]]}',
        b'{"type": "worker_status", "source": "w", "time": 1, "worker": "0", "status": "done", "text": ""}',
    ],
)
def test_garbage_is_counted_and_ignored(subscriber, message):
    with zmq.Context() as context, context.socket(zmq.PUSH) as stranger:
        stranger.linger = 0
        stranger.connect(subscriber.address)
        stranger.send(message)
        stranger.send_multipart([b"{}", b"two parts"])
        stranger.send_json({"type": "log", "source": "w", "time": 1, "level": "info", "text": "sound"})
        assert [event["text"] for event in receive(subscriber, 1)] == ["sound"]
    assert subscriber.ignored == 2


# --- nothing left behind ------------------------------------------------------------------------------------------


def test_the_socket_is_private_and_goes_with_the_subscriber(temporary):
    subscriber = EventSubscriber()
    (directory,) = temporary.iterdir()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert subscriber.address.startswith(f"ipc://{directory}/")
    subscriber.close()
    subscriber.close()
    assert list(temporary.iterdir()) == []


def test_a_long_temporary_directory_is_no_problem(temporary, monkeypatch):
    long = temporary / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with EventSubscriber() as subscriber:
        publisher = EventPublisher(subscriber.address, "worker_0")
        publisher.log("info", "through")
        publisher.close()
        assert receive(subscriber, 1)[0]["text"] == "through"


def test_what_a_killed_parent_left_is_removed_and_a_living_one_s_stays(temporary):
    program = (
        "import time; from mario_rl.distributed.events import EventSubscriber;"
        "subscriber = EventSubscriber(); print(subscriber.address, flush=True); time.sleep(60)"
    )
    environment = os.environ | {"TMPDIR": str(temporary)}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as parent:
        try:
            left = Path(parent.stdout.readline().strip().removeprefix("ipc://")).parent
            assert left.parent == temporary
            living = EventSubscriber()  # removes what is dead: nothing yet
            assert left.is_dir()
        finally:
            parent.send_signal(signal.SIGKILL)
    assert left.is_dir()
    assert str(left) in remove_dead_sockets()
    assert [f"ipc://{directory}/events" for directory in temporary.iterdir()] == [living.address]

    publisher = EventPublisher(living.address, "worker_0")  # having been looked at does it no harm
    publisher.log("info", "still here")
    assert receive(living, 1)[0]["text"] == "still here"
    publisher.close()
    living.close()


def test_a_directory_just_being_made_is_left_alone(temporary):
    newborn = temporary / "mario-rl-events-newborn1"
    newborn.mkdir()
    assert str(newborn) not in remove_dead_sockets()
    os.utime(newborn, (0, 0))
    assert str(newborn) in remove_dead_sockets()
