"""Bytes as tensors: an environment's state has bytes, and what loads a checkpoint (`weights_only=True`) takes none."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def bytes_as_tensors(value: Any) -> Any:
    """The same dictionaries and lists, with tensors of bytes instead of bytes."""
    if isinstance(value, dict):
        return {name: bytes_as_tensors(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [bytes_as_tensors(entry) for entry in value]
    return torch.from_numpy(np.frombuffer(value, np.uint8).copy()) if isinstance(value, bytes) else value


def tensors_as_bytes(value: Any) -> Any:
    """The way back; there are no other tensors in it."""
    if isinstance(value, dict):
        return {name: tensors_as_bytes(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [tensors_as_bytes(entry) for entry in value]
    return value.numpy().tobytes() if isinstance(value, torch.Tensor) else value
