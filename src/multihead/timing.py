"""Times that can be compared: everything is measured in turns, so that a slow moment of the machine hits all alike."""

import statistics
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def interleaved_medians(calls: dict[Name, Callable[[], object]], rounds: int = 15) -> dict[Name, float]:
    """Median seconds of each call over ``rounds`` turns, after one turn that is not counted."""
    seconds = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
