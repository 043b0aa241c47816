"""What the tests of runs share."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    """Within `full_disk(bytes)` no file of this process or its children can grow beyond so many bytes."""

    @contextlib.contextmanager
    def limit(size: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit
