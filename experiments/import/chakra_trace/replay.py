"""What runs when, by the rules of ASTRA-sim: a node begins once all that it needs has ended; host, device and network do one thing at a
time, of what could begin the least id first."""

import collections
import heapq

from chakra_trace import schema
from unusable import Unusable

HOST, DEVICE, NETWORK, NOWHERE = range(4)


def lane_of(node):
    if node.type in (schema.COLLECTIVE, schema.SEND, schema.RECEIVE):
        return HOST if node.on_host else NETWORK
    if node.type in (schema.COMPUTE, schema.LOAD, schema.STORE):
        return HOST if node.on_host else DEVICE
    return NOWHERE  # as metadata, which takes no time


class Replay:
    """`times` has (begin, end) in microseconds by id. Without the network what is sent takes no time, so that only computing is waited for."""

    def __init__(self, graph, with_network):
        self.by_id = {node.id: node for node in graph.nodes}
        self.left = {node.id: len(set(node.needs)) for node in graph.nodes}
        self.after = collections.defaultdict(list)
        for node in graph.nodes:
            for need in set(node.needs):
                self.after[need].append(node.id)
        self.with_network = with_network
        self.waiting, self.running, self.times, self.clock = ([], [], []), [], {}, 0.0
        self.run()
        if len(self.times) < len(graph.nodes):
            stuck = next(node.id for node in graph.nodes if node.id not in self.times)
            raise Unusable(f"'{graph.path}': {len(graph.nodes) - len(self.times)} nodes wait for each other in a circle, as node {stuck}")

    def run(self):
        for one in [one for one, left in self.left.items() if left == 0]:
            self.admit(one)
        busy = set()
        while True:
            for lane in (HOST, DEVICE, NETWORK):
                if lane not in busy and self.waiting[lane]:
                    busy.add(lane)
                    self.begin(heapq.heappop(self.waiting[lane]), lane)
            if not self.running:
                return
            self.clock, one, begun, lane = heapq.heappop(self.running)
            busy.remove(lane)
            self.finish(one, begun)

    def begin(self, one, lane):
        takes = 0 if lane == NETWORK and not self.with_network else self.by_id[one].microseconds
        heapq.heappush(self.running, (self.clock + takes, one, self.clock, lane))

    def admit(self, one):
        lane = lane_of(self.by_id[one])
        if lane == NOWHERE:
            self.finish(one, self.clock)
        else:
            heapq.heappush(self.waiting[lane], one)

    def finish(self, one, begun):
        """What takes no time and no lane is finished with it, without a recursion: chains of metadata are long."""
        done = [one]
        self.times[one] = (begun, self.clock)
        while done:
            for other in self.after[done.pop()]:
                self.left[other] -= 1
                if self.left[other] > 0:
                    continue
                if lane_of(self.by_id[other]) == NOWHERE:
                    self.times[other] = (self.clock, self.clock)
                    done.append(other)
                else:
                    self.admit(other)
