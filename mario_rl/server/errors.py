"""What the service refuses, and why: each kind has an HTTP status, a short name for programs and a line for people."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """A request that is not done; nothing changed but what the message says."""

    status = 400
    name = "refused"

    def __init__(self, message: str, **details: Any):
        super().__init__(message)
        self.details = details

    def body(self) -> dict[str, Any]:
        """The refusal as a JSON object."""
        return {"error": self.name, "detail": str(self), **self.details}


class Forbidden(Refusal):
    """Not for anybody, or not for this client."""

    status = 403
    name = "forbidden"


class NotThere(Refusal):
    """No session, file or state of that name."""

    status = 404
    name = "not_there"


class NotRunning(Refusal):
    """The console does not run, or runs something else."""

    status = 409
    name = "not_running"


class WasReset(Refusal):
    """The console was lost and is back at its last kept state; the request was not carried out, or only in part."""

    status = 409
    name = "reset"


class Invalid(Refusal):
    """The request makes no sense."""

    status = 422
    name = "invalid"


class Locked(Refusal):
    """Another client writes to this console."""

    status = 423
    name = "locked"


class TooMany(Refusal):
    """A limit of the server."""

    status = 429
    name = "too_many"


class NotKept(Refusal):
    """The server's disk does not take it, or does not give it back."""

    status = 507
    name = "not_kept"
