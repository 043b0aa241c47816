"""Joining a Ray cluster: one of our own on this machine, the one this node belongs to, or one far away."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from mario_rl.config import ConfigError

LOCAL_STORE_BYTES = 512 << 20  # of the object store of `local`
LOOPBACK = "127.0.0.1"  # a cluster of one machine is nobody else's
KNOCK_SECONDS = 5.0  # for a head to open its door; Ray itself would try for minutes
CLIENT_TRIES = 3  # of ray://, for which the head starts a process: one in ten of these hangs in gRPC as it is forked
WATCH_SECONDS = 2.0  # between two looks whether the head still answers
SILENT_SECONDS = 5.0  # without an answer, nothing is asked that needs more than the actors themselves
LOST_SECONDS = 20.0  # without an answer, it is lost; Ray itself ends every process of the cluster after 60
LOST_VARIABLE = "MARIO_RL_HEAD_SECONDS"  # the environment's own number of these

_DIRECTORY = "mrl-ray-"
_LONGEST_DIRECTORY = 38  # characters; Ray adds up to 68 for its sockets, whose names have at most 107
_OWNER = "owner"  # the file that the owner of such a directory holds a lock on


class ClusterLost(ConnectionError):
    """The head of the cluster does not answer any more; the message says what to do."""


class NodeLost(ConnectionError):
    """A node is gone, with what it was about to do; the cluster may have others."""


@contextlib.contextmanager
def connected(cluster: str) -> Iterator[Connection]:
    """Within, this process is part of a cluster; one of our own has room for a task on every core."""
    connection = Connection(cluster, cpus=os.cpu_count() or 1)
    try:
        yield connection
    finally:
        connection.close()


class Connection:
    """This process's place in a cluster."""

    def __init__(self, cluster: str, cpus: int):
        self.cluster = cluster
        self._directory: Path | None = None
        self._lock: IO[str] | None = None
        self._lost_seconds = _lost_seconds()
        _import_ray()
        try:
            address = self._join(cluster, cpus)
        except BaseException:  # Ctrl-C, too: nothing of a cluster of our own is left
            with contextlib.suppress(Exception):
                _leave()
            self._remove_directory()
            raise
        self._head = HeadWatch(address)

    def _join(self, cluster: str, cpus: int) -> tuple[str, int]:
        """Connect; where the head listens."""
        import ray

        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            if cluster == "local":
                os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(16))
                os.environ.setdefault("RAY_worker_niceness", "0")  # actors are what this machine is to do, not 15
                self._directory, self._lock = _own_directory()
                with _temporary_files_in(self._directory):
                    ray.init(
                        "local",
                        num_cpus=cpus,
                        include_dashboard=False,
                        object_store_memory=LOCAL_STORE_BYTES,
                        _node_ip_address=LOOPBACK,
                        _temp_dir=str(self._directory),
                        **settings,
                    )
            else:
                address = _address_of(cluster)
                door = _opened_door(cluster, address)
                with _silent_native_code():
                    _init_at(address, settings)
                _say_nothing()
                return door
        except ConfigError:
            raise
        except Exception as problem:  # Ray raises many kinds, from its own to gRPC's
            raise ConfigError(_what_to_do(cluster, problem)) from problem
        _say_nothing()
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        return host, int(port)

    @property
    def silent(self) -> bool:
        """Whether the head does not answer at the moment. It may come back: a head can be made to survive."""
        return self._head.silent_seconds > SILENT_SECONDS

    @property
    def lost(self) -> bool:
        """Whether the head has been silent for too long."""
        return self._head.silent_seconds > self._lost_seconds

    def check(self) -> None:
        """A ClusterLost if the head is lost."""
        if self.lost:
            raise ClusterLost(f"the head of the cluster ({self.cluster}) does not answer any more; start one again")

    def close(self) -> None:
        """Leave the cluster; one of our own ends with that."""
        import ray

        self._head.close()
        # With a dead head Ray's own goodbye may wait for it for a minute.
        goodbye = threading.Thread(target=ray.shutdown, name="leave the cluster", daemon=True)
        goodbye.start()
        goodbye.join(5.0 if self.lost else 60.0)
        self._remove_directory()

    def _remove_directory(self) -> None:
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()


class HeadWatch:
    """Knocks at the head's door, from a thread of its own."""

    def __init__(self, address: tuple[str, int]):
        self._address = address
        self._answered = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="head watch", daemon=True).start()

    @property
    def silent_seconds(self) -> float:
        """Since when nobody has opened."""
        return time.monotonic() - self._answered

    def close(self) -> None:
        """Stop knocking."""
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(WATCH_SECONDS):
            with contextlib.suppress(OSError), socket.create_connection(self._address, timeout=WATCH_SECONDS):
                self._answered = time.monotonic()


def _lost_seconds() -> float:
    text = os.environ.get(LOST_VARIABLE) or str(LOST_SECONDS)
    try:
        if not SILENT_SECONDS < float(text) <= 50:  # so that there is time for a rescue
            raise ValueError
    except ValueError:
        raise ConfigError(f"{LOST_VARIABLE} is {text!r}: give more than {SILENT_SECONDS:g} s, and at most 50") from None
    return float(text)


def _leave() -> None:
    import ray

    ray.shutdown()


def _import_ray() -> None:
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ConfigError("--cluster needs Ray, which is not installed: pip install 'mario-rl[cluster]'") from missing


def _say_nothing() -> None:
    """Ray prints what it thinks of its nodes onto the driver's terminal, which is the dashboard's."""
    with contextlib.suppress(ImportError, AttributeError):  # it is not a documented way
        from ray._private.ray_logging import global_worker_stdstream_dispatcher

        global_worker_stdstream_dispatcher.remove_handler("ray_print_logs")


def _address_of(cluster: str) -> str:
    """Of the head. Ray's own "auto" would also take any head that runs here, such as that of somebody's `local`."""
    if cluster != "auto":
        return cluster
    from ray._private.services import find_bootstrap_address  # what `ray start` has noted

    address = os.environ.get("RAY_ADDRESS") or find_bootstrap_address(None)
    if not address:
        advice = "run  ray start --head  first, or use --cluster local"
        raise ConfigError(f"--cluster auto: this machine belongs to no Ray cluster: {advice}")
    return str(address)


def _opened_door(cluster: str, address: str) -> tuple[str, int]:
    """Host and port of a head that is there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        door = host.strip("[]"), int(port)
        socket.create_connection(door, timeout=KNOCK_SECONDS).close()
    except (OSError, ValueError) as problem:
        if address == cluster:
            raise ConfigError(_what_to_do(cluster, problem)) from problem
        advice = "start the head, or set RAY_ADDRESS to that of another"
        raise ConfigError(f"--cluster {cluster}: nobody answers at {address}: {advice} ({problem})") from problem
    return door


def _init_at(address: str, settings: dict[str, Any]) -> None:
    import ray

    for tries_left in reversed(range(CLIENT_TRIES)):
        try:
            ray.init(address, **settings)
            return
        except ConnectionError as problem:
            if not tries_left or "Starting Ray client server failed" not in str(problem):
                raise


@contextlib.contextmanager
def _silent_native_code() -> Iterator[None]:
    """Ray's C++ warns on the terminal, once a second, of what is then an exception anyway."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _what_to_do(cluster: str, problem: Exception) -> str:
    said = next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
    if cluster == "local":
        return f"--cluster local: Ray could not be started here: {said}"
    if cluster == "auto":
        return f"--cluster auto: the head does not let us in: is the token in ~/.ray/auth_token its own? ({said})"
    advice = "is its head running, the port its client's (10001), and the token in ~/.ray/auth_token the same?"
    return f"--cluster {cluster} cannot be reached: {advice} ({said})"


def _own_directory() -> tuple[Path, IO[str]]:
    """A directory for a local Ray, short enough for its sockets; those of killed processes are removed."""
    place = Path(tempfile.gettempdir())
    if len(str(place / (_DIRECTORY + "x" * 8))) > _LONGEST_DIRECTORY:
        place = Path("/tmp")
    for left in place.glob(f"{_DIRECTORY}*"):
        with contextlib.suppress(OSError), (left / _OWNER).open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix=_DIRECTORY, dir=place))
    lock = (directory / _OWNER).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return directory, lock


@contextlib.contextmanager
def _temporary_files_in(directory: Path) -> Iterator[None]:
    """For the processes that are started within: whatever they leave when they are killed is removed with it."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(directory)
    try:
        yield
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before
