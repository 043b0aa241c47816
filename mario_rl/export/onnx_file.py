"""A policy as an ONNX file, and the proof that it is the same policy.

`write_onnx` lets torch write the file. `check_onnx` runs it in onnxruntime on observations of real games and compares
all it says with what the player itself said about them, number by number and choice by choice. That is the player's own
code, so a mistake in the module that was exported shows as well as one in the file.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime  # type: ignore[import-untyped]
import torch
from torch import nn

from mario_rl import __version__
from mario_rl.runs.directory import RunError

__all__ = ["Agreement", "OnnxMismatch", "Policy", "Sample", "check_onnx", "open_onnx", "write_onnx"]

OPSET = 18  # the one torch's exporter writes without converting
# The largest difference that passes, and of numbers beyond 1 this part of them. Sums of float32 in another order differ
# by some 1e-6.
TOLERANCE = 1e-4
MOST_TIES = 0.01  # of the observations

Arrays = Mapping[str, npt.NDArray[Any]]


class OnnxMismatch(RunError):
    """The ONNX file is not the policy it was written from."""


@dataclass(frozen=True)
class Policy:
    """A network as a function of arrays, a row for each game."""

    module: nn.Module
    """Takes tensors in the order of `inputs`, and gives them in the order of `outputs`."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    """What the file says about itself, beside its version."""
    measures: bool = False
    """Whether its code asks for the `len` of a tensor: torch's exporter then has to read it the slower way."""


@dataclass(frozen=True)
class Sample:
    """Observations of some games, and what the player made of them."""

    inputs: Arrays
    outputs: Arrays
    choices: Arrays
    """What it chose, int64[n, ...], by the output in which the chosen one has the highest number."""

    @property
    def rows(self) -> int:
        """How many observations."""
        return len(next(iter(self.inputs.values())))


@dataclass(frozen=True)
class Agreement:
    """How well a file agrees with its player."""

    observations: int
    largest_difference: float
    """Of any number in any output."""
    ties: int
    """Observations in which both chose differently among what the file finds equal within the tolerance."""
    tolerance: float = TOLERANCE
    opset: int = OPSET


def write_onnx(file: Path, policy: Policy, example: Arrays) -> None:
    """Write the file; `example` gives the types and shapes of the inputs, and needs two rows at least."""
    batch = torch.export.Dim("batch")
    arguments = tuple(torch.from_numpy(np.ascontiguousarray(example[name])) for name in policy.inputs)
    with torch.no_grad(), _quiet():
        # In two steps: given the module, `torch.onnx.export` may give up on the open batch dimension without a word.
        shapes = tuple({0: batch} for _ in policy.inputs)
        program = torch.export.export(policy.module.eval(), arguments, dynamic_shapes=shapes, strict=policy.measures)
        torch.onnx.export(
            program,
            f=file,
            input_names=list(policy.inputs),
            output_names=list(policy.outputs),
            opset_version=OPSET,
            external_data=False,
            verbose=False,
        )
    model = onnx.load(file)
    _forget_where_it_was_made(model)
    model.producer_name, model.producer_version = "mario-rl", __version__
    onnx.helper.set_model_props(model, dict(policy.about))
    onnx.save(model, file)


def check_onnx(file: Path, samples: Sequence[Sample]) -> Agreement:
    """Compare the file with what the player said; an OnnxMismatch if it is another policy."""
    onnx.checker.check_model(onnx.load(file), full_check=True)
    session = open_onnx(file)
    names = [output.name for output in session.get_outputs()]
    largest, ties, rows = 0.0, 0, 0
    for sample in samples:
        said = dict(zip(names, session.run(names, dict(sample.inputs)), strict=True))
        tied = _compare_choices(file, sample, said)
        for name, expected in sample.outputs.items():
            wanted = expected[~tied].astype(np.float64)
            differences = np.abs(said[name][~tied] - wanted)
            difference = float(differences.max(initial=0.0))
            if not (differences <= TOLERANCE * np.maximum(np.abs(wanted), 1)).all():  # NaN is no agreement, either
                raise OnnxMismatch(
                    f"{file.name} is another policy: its {name} differ by {difference:.2g}, more than {TOLERANCE:g}"
                )
            largest = max(largest, difference)
        ties += int(tied.sum())
        rows += sample.rows
    if ties > MOST_TIES * rows:
        raise OnnxMismatch(f"{file.name} cannot be compared: {ties} of {rows} choices are ties")
    return Agreement(rows, largest, ties)


def open_onnx(file: Path) -> Any:
    """The file in onnxruntime, on one thread of the CPU: the networks are small."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def _compare_choices(file: Path, sample: Sample, said: Arrays) -> npt.NDArray[np.bool_]:
    """bool[n]: where the file chose otherwise, but only because two were equal; an OnnxMismatch for any other."""
    tied = np.zeros(sample.rows, np.bool_)
    for name, expected in sample.choices.items():
        numbers = said[name]
        best, others = numbers.max(-1), np.take_along_axis(numbers, expected[..., None], -1)[..., 0]
        differs = numbers.argmax(-1) != expected
        worse = differs & ~(best - others <= TOLERANCE * np.maximum(np.abs(best), 1))
        if worse.any():
            count = f"{int(worse.sum())} of {worse.size}"
            raise OnnxMismatch(f"{file.name} is another policy: by {name} it chooses otherwise in {count} cases")
        tied |= differs.reshape(len(differs), -1).any(1)
    return tied


def _forget_where_it_was_made(model: onnx.ModelProto) -> None:
    """The exporter notes lines and paths of source files at every node; they help nobody who has the file alone."""
    graph = model.graph
    for part in (*graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer, graph):
        del part.metadata_props[:]
        part.ClearField("doc_string")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter says about packages that we do not need."""
    logger = logging.getLogger("torch.onnx._internal.exporter")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
