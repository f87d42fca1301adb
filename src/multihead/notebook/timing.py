"""Times that can be compared: everything is measured in turns, so that a slow moment of the machine hits all alike."""

import random
import statistics
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def interleaved_medians(calls: dict[Name, Callable[[], object]], rounds: int = 15) -> dict[Name, float]:
    """Median seconds of each call over ``rounds`` turns, after one turn that is not counted.

    Each turn has another order: a call also pays for the memory and the caches as the one before it has left them.
    """
    seconds = {name: [] for name in calls}
    order, shuffle = list(calls), random.Random(0).shuffle
    for turn in range(rounds + 1):
        shuffle(order)
        for name in order:
            start = time.perf_counter()
            calls[name]()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
