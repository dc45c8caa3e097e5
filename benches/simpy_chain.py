"""The chain of `src/fifo.rs` in SimPy: a source with exponential gaps, three servers joined by Stores.

    python simpy_chain.py PACKETS

prints one JSON object: `hops_per_cpu_s`, packet-hops (three for each packet) per CPU-second of the loop that
simulates, and `mean_latency_ns`, to see that the same was simulated. Times are whole nanoseconds. The program
fails unless every packet arrives and the sum of the latencies is that of a recurrence without a simulator.
"""

import json
import random
import sys
import time
from collections.abc import Generator
from itertools import pairwise

import simpy

MEAN_GAP_NS = 1111
SERVICE_NS = 1000
FIRST_NS = 1
SERVERS = 3
SEED = 1

Process = Generator[simpy.Event, int, None]


class Tally:
    """What arrived at the sink."""

    def __init__(self) -> None:
        self.packets = 0
        self.latency_ns: float = 0  # SimPy types its clock so; the sums are whole numbers


def gap_ns(dice: random.Random) -> int:
    """Draw a gap in whole nanoseconds, at least 1."""
    return max(1, round(dice.expovariate(1 / MEAN_GAP_NS)))


def source(env: simpy.Environment, out: simpy.Store, packets: int) -> Process:
    """Send packets; a packet is the time of its birth [ns]."""
    dice = random.Random(SEED)  # noqa: S311 - a simulation, not a secret
    yield env.timeout(FIRST_NS)
    out.put(env.now)
    for _ in range(packets - 1):
        yield env.timeout(gap_ns(dice))
        out.put(env.now)


def server(env: simpy.Environment, queue: simpy.Store, out: simpy.Store) -> Process:
    """Serve one packet at a time, in the order of arrival."""
    while True:
        packet = yield queue.get()
        yield env.timeout(SERVICE_NS)
        out.put(packet)


def last_server(env: simpy.Environment, queue: simpy.Store, tally: Tally) -> Process:
    """Serve like the others and count what leaves: a sink as a process would cost SimPy two more events."""
    while True:
        packet = yield queue.get()
        yield env.timeout(SERVICE_NS)
        tally.packets += 1
        tally.latency_ns += env.now - packet


def latency_by_recurrence(packets: int) -> int:
    """Add up the latencies [ns] without a simulator: each server's departures follow from its arrivals."""
    dice = random.Random(SEED)  # noqa: S311 - a simulation, not a secret
    born = FIRST_NS
    free = [0] * SERVERS
    total = 0
    for _ in range(packets):
        at = born
        for i in range(SERVERS):
            at = free[i] = max(at, free[i]) + SERVICE_NS
        total += at - born
        born += gap_ns(dice)
    return total


def chain(packets: int) -> dict[str, float]:
    """Send packets through the chain and time the loop."""
    env = simpy.Environment()
    tally = Tally()
    queues = [simpy.Store(env) for _ in range(SERVERS)]
    env.process(source(env, queues[0], packets))
    for queue, out in pairwise(queues):
        env.process(server(env, queue, out))
    env.process(last_server(env, queues[-1], tally))
    before = time.process_time()
    env.run()
    cpu = time.process_time() - before
    if (tally.packets, tally.latency_ns) != (packets, latency_by_recurrence(packets)):
        sys.exit(f"{tally.packets} of {packets} packets, {tally.latency_ns} ns in all: not the chain")
    return {
        "hops_per_cpu_s": SERVERS * packets / cpu,
        "mean_latency_ns": tally.latency_ns / packets,
    }


if __name__ == "__main__":
    print(json.dumps(chain(int(sys.argv[1]))))
