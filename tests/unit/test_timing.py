import time
from itertools import permutations

from multihead.notebook import interleaved_medians


def test_calls_take_turns_in_every_order():
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "abc"}
    assert set(interleaved_medians(calls, rounds=99)) == set("abc")
    turns = ["".join(order[i : i + 3]) for i in range(0, 300, 3)]
    assert {"".join(sorted(turn)) for turn in turns} == {"abc"}
    assert min(turns.count("".join(turn)) for turn in permutations("abc")) >= 5


def test_the_median_is_that_of_the_counted_turns():
    naps = iter([0.2, 0.001, 0.02, 0.02, 0.02, 0.2])  # the first is the warm-up, one outlier each side
    assert 0.02 <= interleaved_medians({"nap": lambda: time.sleep(next(naps))}, rounds=5)["nap"] < 0.15
