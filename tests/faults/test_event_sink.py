"""Nobody who trains ever waits for somebody who watches."""

from __future__ import annotations

import threading

from mario_rl.distributed.events import BACKLOG, EventPublisher, EventSubscriber
from tests.faults.runs import PATIENCE, Place, wait_until

FLOOD = 30 * BACKLOG  # events; far more than all buffers on the way hold


def test_a_subscriber_that_stops_reading_gets_the_newest_when_it_goes_on(place: Place) -> None:
    with EventSubscriber() as subscriber:
        publisher = EventPublisher(subscriber.address, "worker_0")
        publisher.metrics({"number": -1})
        wait_until(subscriber.poll, "they know each other")
        assert _floods_without_waiting(publisher)
        assert publisher.dropped > 0
        heard: list[float] = []

        def hear() -> bool:
            heard.extend(event["values"]["number"] for event in subscriber.poll(0.01))
            return FLOOD - 1 in heard

        wait_until(hear, "the newest has come")
        assert heard == sorted(heard)
        publisher.close()
        assert len(heard) + publisher.dropped == FLOOD


def test_a_subscriber_that_is_gone(place: Place) -> None:
    subscriber = EventSubscriber()
    publisher = EventPublisher(subscriber.address, "worker_0")
    publisher.metrics({"number": -1})
    wait_until(subscriber.poll, "they know each other")
    subscriber.close()
    assert _floods_without_waiting(publisher)
    publisher.close()
    assert publisher.dropped >= FLOOD - 200, "but for what was on its way"


def _floods_without_waiting(publisher: EventPublisher) -> bool:
    """Send from a thread, so that waiting for ever would be seen."""

    def flood() -> None:
        for number in range(FLOOD):
            publisher.metrics({"number": number})

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()
