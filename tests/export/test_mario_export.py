"""Runs of Super Mario Bros. as folders: what is in them, and that it is the same agent."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
import yaml

from mario_rl.export import mario
from mario_rl.export.mario import export_mario
from mario_rl.export.mario_policies import policy_of, samples_of
from mario_rl.export.onnx_file import OPSET, OnnxMismatch, check_onnx, open_onnx, write_onnx
from mario_rl.export.options import ExportOptions
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.trained_model import TrainedModel, load_trained_model
from tests.export.conftest import SMALL, assert_names_nobody, shaken_run

OUTPUTS = {
    "ddqn": ["q_values"],
    "ppo": ["action_logits", "action_probabilities", "value"],
    "dreamer": ["action_probabilities", "next_deterministic", "next_stochastic", "state_scores"],
}
FILES = {"README.md", "config.yaml", "evaluation.json", "export.json", "policy.onnx", "weights.pt"}


@dataclasses.dataclass
class Export:
    kind: str
    run: RunDirectory
    trained: TrainedModel
    folder: Path


@pytest.fixture(scope="module", params=list(SMALL))
def export(request: pytest.FixtureRequest, smb_rom: Path, tmp_path_factory: pytest.TempPathFactory) -> Export:
    place = tmp_path_factory.mktemp(request.param)
    run = shaken_run(place / "checkpoints", "mine", request.param)
    run.begin()
    run.finish("SUCCESS", "done", steps=5000, minutes_trained=2.5)
    trained = load_trained_model(run)
    export_mario(run, trained, place / "hub", ExportOptions(count=2, video=request.param == "ppo"))
    return Export(request.param, run, trained, place / "hub")


def test_the_folder_holds_what_the_card_says(export: Export) -> None:
    video = {"replay.mp4"} if export.kind == "ppo" else set()
    assert {file.name for file in export.folder.iterdir()} == FILES | video
    readme = (export.folder / "README.md").read_text()
    listed = set(re.findall(r"^\| `([^`]+)` \|", readme, re.MULTILINE))
    assert listed | {"README.md"} == FILES | video
    assert [file.name for file in export.folder.parent.iterdir() if file.name.startswith(".")] == []
    assert_names_nobody(export.folder, str(export.folder.parent))


def test_the_onnx_file_takes_any_batch_and_names_its_outputs(export: Export) -> None:
    file = export.folder / "policy.onnx"
    model = onnx.load(file)
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", OPSET)]
    assert json.loads(next(p.value for p in model.metadata_props if p.key == "actions"))[0] == "noop"
    session = open_onnx(file)
    assert [output.name for output in session.get_outputs()] == OUTPUTS[export.trained.config.model]
    sample = samples_of(export.trained)[0]
    for rows in (1, 5):
        said = session.run(None, {name: values[:rows] for name, values in sample.inputs.items()})
        assert {len(values) for values in said} == {rows}


def test_the_onnx_file_agrees_on_hundreds_of_observations_of_other_games(export: Export) -> None:
    found = check_onnx(export.folder / "policy.onnx", samples_of(export.trained, seed=7))
    assert found.observations >= 500
    assert found.largest_difference < 2e-5
    facts = json.loads((export.folder / "export.json").read_text())
    assert 0 <= facts["onnx"]["largest_difference"] < 2e-5


def test_the_card_has_metadata_results_and_commands(export: Export) -> None:
    readme = (export.folder / "README.md").read_text()
    _, front, body = readme.split("---\n", 2)
    metadata = yaml.safe_load(front)
    config = export.trained.config
    assert metadata["library_name"] == "mario-rl"
    assert metadata["license"] == "mit"
    assert {"reinforcement-learning", "onnx", config.model} <= set(metadata["tags"])
    (entry,) = metadata["model-index"]
    figures = json.loads((export.folder / "evaluation.json").read_text())
    assert entry["name"] == "mine"
    assert len(entry["results"]) == 3
    for result, found in zip(entry["results"], figures["protocols"].values(), strict=True):
        assert result["task"]["type"] == "reinforcement-learning"
        assert result["dataset"] == {"name": "Super Mario Bros. 1-1", "type": "mario_rl/SuperMarioBros-v0"}
        (metric,) = result["metrics"]
        assert (metric["type"], metric["value"]) == ("flag_rate", found["rate"])
    difference = json.loads((export.folder / "export.json").read_text())["onnx"]["largest_difference"]
    for words in (
        "| stochastic policy | Super Mario Bros. 1-1 | 0 of 2 episodes | 0.0% | 0.0% to 65.8% | seed 0 |",
        "mario-rl evaluate . --episodes 2 --sticky 0.25 --seed 0",
        f"mario-rl train --model {config.model}",
        "--stuck-steps 20",
        "5,000 environment steps in 2.5 minutes",
        f"{difference:.1e} in any number",
        "No ROM is included",
    ):
        assert words in body


def test_the_example_of_the_card_plays(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(export.folder)
    (code,) = re.findall(r"^```python\n(.*?)^```", Path("README.md").read_text(), re.DOTALL | re.MULTILINE)
    played: dict[str, object] = {}
    exec(code, played)
    assert played["ended"]


def test_the_folder_is_a_run_that_evaluates_to_the_same_figures(
    export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDirectory.open(export.folder)
    again = load_trained_model(run)
    assert run.config() == dataclasses.replace(export.trained.config, name="mine", checkpoints="checkpoints")
    for name, values in export.trained.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], values)
    figures = json.loads((export.folder / "evaluation.json").read_text())
    outcome = mario.evaluate(again.model, again.config, 2, "stochastic", figures["seed"])
    assert outcome.summary() == figures["protocols"]["stochastic"]


# --- the check can fail -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ddqn(smb_rom: Path, tmp_path_factory: pytest.TempPathFactory) -> Export:
    place = tmp_path_factory.mktemp("checked")
    run = shaken_run(place, "mine", "ddqn")
    trained = load_trained_model(run)
    write_onnx(place / "policy.onnx", policy_of(trained), samples_of(trained)[0].inputs)
    return Export("ddqn", run, trained, place)


def test_the_weights_of_another_run_are_noticed(ddqn: Export, tmp_path: Path) -> None:
    other = load_trained_model(shaken_run(tmp_path, "other", "ddqn", seed=1))
    with pytest.raises(OnnxMismatch, match=r"policy.onnx is another policy: "):
        check_onnx(ddqn.folder / "policy.onnx", samples_of(other))


@pytest.mark.parametrize(("change", "words"), [(1e-2, "differ by"), (np.nan, "another policy")])
def test_one_changed_number_is_noticed(ddqn: Export, tmp_path: Path, change: float, words: str) -> None:
    model = onnx.load(ddqn.folder / "policy.onnx")
    bias = next(tensor for tensor in model.graph.initializer if tensor.name.endswith("value.2.bias"))
    values = onnx.numpy_helper.to_array(bias) + np.float32(change)
    bias.CopyFrom(onnx.numpy_helper.from_array(values, bias.name))
    onnx.save(model, tmp_path / "policy.onnx")
    with pytest.raises(OnnxMismatch, match=words):
        check_onnx(tmp_path / "policy.onnx", samples_of(ddqn.trained))


def test_another_choice_is_noticed_and_a_tie_is_none(ddqn: Export) -> None:
    file = ddqn.folder / "policy.onnx"
    (sample, *others) = samples_of(ddqn.trained)
    worst = dataclasses.replace(sample, choices={"q_values": sample.outputs["q_values"].argmin(1)})
    with pytest.raises(OnnxMismatch, match=r"by q_values it chooses otherwise in \d+ of 8 cases"):
        check_onnx(file, [worst, *others])
    assert check_onnx(file, [sample, *others]).ties == 0


# --- what was measured before -------------------------------------------------------------------------------------


def test_figures_of_the_same_weights_are_used_again(
    smb_rom: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of other weights, or of nobody knows which, are not."""
    run = shaken_run(tmp_path, "mine", "ddqn")
    trained = load_trained_model(run)
    measured = mario._figures(run, trained, tmp_path / "hub", ExportOptions(count=2))
    run.evaluation_json.write_text(json.dumps(measured))
    plays: list[str] = []
    monkeypatch.setattr(mario, "_evaluated", lambda *_: plays.append("again") or {})
    assert mario._figures(run, trained, tmp_path / "hub", ExportOptions()) == measured
    assert mario._figures(run, trained, tmp_path / "hub", ExportOptions(count=2)) == measured
    assert plays == []
    mario._figures(run, trained, tmp_path / "hub", ExportOptions(count=3))
    other = load_trained_model(shaken_run(tmp_path, "other", "ddqn", seed=1))
    mario._figures(run, other, tmp_path / "hub", ExportOptions())
    del measured["weights_sha256"]  # as `mario-rl evaluate` writes it
    run.evaluation_json.write_text(json.dumps(measured))
    mario._figures(run, trained, tmp_path / "hub", ExportOptions())
    assert plays == ["again"] * 3
