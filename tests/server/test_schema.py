"""Every operation of the OpenAPI description, with values that fit it and values that do not: never a server error.

schemathesis makes the requests up; what it checks beside the status is that answers are what the description promises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from .running_server import PATIENCE, RunningServer, serving

CASES_PER_OPERATION = 15  # of either kind
FEWEST_CASES = 500
NAMES = {"session": ["default", "other"], "name": ["here", "there"]}
PROMISES = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server of its own: what is made up shuts sessions down, too."""
    with serving("--emulator", "embedded", "--sessions", "3") as started:
        yield started


def test_no_request_breaks_the_server(server: RunningServer) -> None:
    description = server.get("/openapi.json")
    description["paths"].pop("/events")  # a stream has no end
    _name_what_there_is(description)
    schema = schemathesis.openapi.from_dict(description)
    schema.config.update(base_url=server.url)
    asked: Counter[str] = Counter()
    answers: Counter[int] = Counter()
    # Who connects may reserve the session; so that comes last.
    for operation in sorted(schema.get_all_operations(), key=lambda found: found.ok().path == "/connect"):
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _ask_often(server, operation.ok(), mode, asked, answers)
    assert sum(asked.values()) >= FEWEST_CASES, asked
    operations = {f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods}
    assert set(asked) == operations
    assert answers[200] > 100 and answers[422] > 50, f"both kinds of requests were made: {answers}"


def _name_what_there_is(description: dict[str, Any]) -> None:
    """Of made-up names none would be there, and no request would get far."""
    for methods in description["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in NAMES:
                    parameter["schema"] |= {"enum": NAMES[parameter["name"]]}


def _ask_often(
    server: RunningServer,
    operation: schemathesis.APIOperation,
    mode: GenerationMode,
    asked: Counter[str],
    answers: Counter[int],
) -> None:
    @settings(
        max_examples=CASES_PER_OPERATION,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        server.ask("POST", "/launch")  # most operations need a console, and some a state
        server.ask("PUT", "/states/here")
        response = case.call(session=server.http, timeout=PATIENCE)
        asked[f"{case.method} {operation.path}"] += 1
        answers[response.status_code] += 1
        case.validate_response(response, checks=PROMISES)

    with suppress(Unsatisfiable):  # there is no wrong request where nothing can be sent
        ask()
