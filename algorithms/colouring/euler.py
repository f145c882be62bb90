"""Euler splits in Numba: the inner loops of `bipartite`.

A regular bipartite multigraph of even degree splits into two of half the degree: walk its edges
along closed tours and deal them out in turn. If the degree is odd, first remove a perfect matching
and give it a new colour. Splitting until the degree is 1 colours the graph (Cole and Hopcroft, On
edge coloring bipartite graphs, 1982).

A graph is two arrays, sorted by left node. Left node u owns the `degree` places from u * degree on;
`right` holds the right node of the edge at each place, and `edge` its number. So the arrays need no
left nodes, and a half of a split is sorted again.

Importing this file loads Numba, which keeps the compiled code on disk. Everything runs without
Python's global lock, so threads may work on different graphs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mmsim.host.compiler import compiled

Numbers = npt.NDArray[np.int32]


@compiled
def is_regular(left: Numbers, right: Numbers, nodes: int, degree: int) -> bool:
    """Return whether each of the nodes 0 .. nodes-1 on either side has `degree` edges."""
    missing = np.full((2, nodes), degree, np.int32)
    for e in range(len(left)):
        missing[0, left[e]] -= 1
        missing[1, right[e]] -= 1
    return not missing.any()


@compiled
def sort_by_left(
    left: Numbers, right: Numbers, nodes: int, sorted_right: Numbers, sorted_edge: Numbers
) -> None:
    """Put the edges of a regular graph in the order of their left nodes."""
    degree = len(left) // nodes
    place = np.arange(nodes) * degree
    for e in range(len(left)):
        u = left[e]
        sorted_right[place[u]] = right[e]
        sorted_edge[place[u]] = e
        place[u] += 1


@compiled
def split(
    right: Numbers, edge: Numbers, nodes: int, half_right: Numbers, half_edge: Numbers
) -> None:
    """Deal the edges of a graph of even degree into two graphs, joined in `half_*`.

    Two adjacent places of a left node are a *pair*: one edge goes to the first half, the other to
    the second, and the pair's bit says which. The edges at a right node form couples in order,
    first and second, third and fourth; the edges of a couple must part, too. Coupled pairs form
    paths and in the end cycles. One pass over the pairs keeps a *code* for each right node that
    waits for the second of a couple. It is twice the number of the path that ends there, plus the
    half of the edge at that end if the path's first pair has bit 0. The two ends of a path lie in
    different halves. So the pass accesses only a word or two for each right node out of order, for
    any number of edges.
    """
    pairs = len(right) // 2
    code = np.empty(pairs, np.int32)  # of each pair: its path, and its bit if the path's is 0
    parent = np.zeros(pairs // 2 + 2, np.int32)  # of each path: the older path it was joined to
    waiting = np.full((nodes, 2), -1, np.int32)  # of each right node: code; the path's other end
    paths = 0  # path 0 is for pairs without a constraint
    for i in range(pairs):
        v, w = right[2 * i], right[2 * i + 1]
        a, b = waiting[v, 0], waiting[w, 0]
        if v == w:  # the pair is its own couple
            code[i] = 0
        elif a < 0 and b < 0:  # a new path
            paths += 1
            code[i] = 2 * paths
            waiting[v, 0], waiting[v, 1] = 2 * paths, w
            waiting[w, 0], waiting[w, 1] = 2 * paths + 1, v
        elif b < 0:  # the path that ends at v now ends at w
            code[i] = a ^ 1
            x = waiting[v, 1]
            waiting[v, 0] = -1
            waiting[w, 0], waiting[w, 1] = a, x
            waiting[x, 1] = w
        elif a < 0:  # the path that ends at w now ends at v
            code[i] = b
            x = waiting[w, 1]
            waiting[w, 0] = -1
            waiting[v, 0], waiting[v, 1] = b, x
            waiting[x, 1] = v
        else:
            x, y = waiting[v, 1], waiting[w, 1]
            waiting[v, 0] = -1
            waiting[w, 0] = -1
            code[i] = a ^ 1
            if x != w:  # two paths become one, which keeps the older number
                if a < b:
                    parent[b >> 1] = a ^ (b & 1) ^ 1
                    waiting[y, 0] = a
                else:
                    parent[a >> 1] = b ^ (a & 1) ^ 1
                    waiting[x, 0] = b
                    code[i] = b
                waiting[x, 1] = y
                waiting[y, 1] = x
    bit = parent  # an older path's bit is already known
    for path in range(1, paths + 1):
        bit[path] = bit[parent[path] >> 1] ^ (parent[path] & 1)
    for i in range(pairs):
        first = 2 * i + (bit[code[i] >> 1] ^ (code[i] & 1))
        half_right[i] = right[first]
        half_edge[i] = edge[first]
        half_right[pairs + i] = right[first ^ 1]
        half_edge[pairs + i] = edge[first ^ 1]


@compiled
def peel(
    right: Numbers, edge: Numbers, nodes: int, degree: int, colour: int, colours: Numbers
) -> None:
    """Give a perfect matching of the graph `colour` and move the other edges up to the front.

    The matching grows by augmenting paths. Random walks find them: from a left node along any edge
    but its matched one, back from the right node along its matched edge, until a right node is
    free. In a regular graph this takes O(nodes log nodes) steps on average for any degree (Goel,
    Kapralov, Khanna: Perfect matchings in O(n log n) time in regular bipartite graphs, 2010). The
    walks are the same each time.
    """
    owner = np.full(nodes, -1, np.int32)  # of each right node: the left node it is matched to
    matched = np.full(nodes, -1, np.int32)  # of each left node: which of its edges is matched
    taken = np.empty(nodes, np.int32)  # of each left node: the edge that the walk left by last
    number = 1
    for start in range(nodes):
        u = start
        while u >= 0:
            number = (number * 1103515245 + 12345) & 0x7FFFFFFF
            if matched[u] < 0:
                taken[u] = (number * degree) >> 31
            else:
                taken[u] = (number * (degree - 1)) >> 31
                if taken[u] >= matched[u]:
                    taken[u] += 1
            u = owner[right[u * degree + taken[u]]]
        u = start
        while u >= 0:  # along the last edges, without the walk's loops
            matched[u] = taken[u]
            v = right[u * degree + taken[u]]
            following = owner[v]
            owner[v] = u
            u = following
    place = 0
    for u in range(nodes):
        for i in range(degree):
            e = edge[u * degree + i]
            if i == matched[u]:
                colours[e] = colour
            else:
                right[place] = right[u * degree + i]
                edge[place] = e
                place += 1


@compiled
def halve(
    right: Numbers,
    edge: Numbers,
    nodes: int,
    degree: int,
    colour: int,
    colours: Numbers,
    half_right: Numbers,
    half_edge: Numbers,
) -> None:
    """Split a graph of any degree > 1; if it is odd, a matching gets `colour` first."""
    if degree % 2 == 1:
        peel(right, edge, nodes, degree, colour, colours)
    size = nodes * (degree - degree % 2)
    split(right[:size], edge[:size], nodes, half_right[:size], half_edge[:size])


@compiled
def paint(
    right: Numbers,
    edge: Numbers,
    nodes: int,
    degree: int,
    colour: int,
    colours: Numbers,
    spare_right: Numbers,
    spare_edge: Numbers,
) -> None:
    """Colour a graph with the colours from `colour` on; its own arrays and `spare_*` are used up.

    It halves all graphs of one level before the next level, so they have one degree.
    """
    graphs = 1
    while degree > 1:
        size = nodes * degree
        even = nodes * (degree - degree % 2)
        for g in range(graphs):
            halve(
                right[g * size : (g + 1) * size],
                edge[g * size : (g + 1) * size],
                nodes,
                degree,
                colour + g,
                colours,
                spare_right[g * even : (g + 1) * even],
                spare_edge[g * even : (g + 1) * even],
            )
        if degree % 2 == 1:
            colour += graphs
        right, spare_right = spare_right, right
        edge, spare_edge = spare_edge, edge
        graphs *= 2
        degree //= 2
    for g in range(graphs):
        for e in edge[g * nodes * degree : (g + 1) * nodes * degree]:  # nothing for degree 0
            colours[e] = colour + g


@compiled
def paint_many(left: Numbers, right: Numbers, nodes: int, colours: Numbers) -> int:
    """Colour graphs of one size, a row each; return the first irregular one, or -1."""
    graphs, edges = left.shape
    degree = edges // nodes
    memory = np.empty((4, edges), np.int32)
    for g in range(graphs):
        if not is_regular(left[g], right[g], nodes, degree):
            return g
        sort_by_left(left[g], right[g], nodes, memory[0], memory[1])
        paint(memory[0], memory[1], nodes, degree, 0, colours[g], memory[2], memory[3])
    return -1


@compiled
def first_wrong(left: Numbers, right: Numbers, nodes: int, colours: Numbers) -> int:
    """Return the first of many regular graphs, a row each, without a proper colouring, or -1.

    Each node must have an edge of each colour 0 .. degree-1: one bit for each colour and node. One
    side comes first, then the other, so that for 2^24 edges the bits take 2 MiB and stay in the
    cache.
    """
    graphs, edges = left.shape
    degree = edges // nodes
    seen = np.empty((edges + 63) // 64, np.uint64)
    for g in range(graphs):
        for side in range(2):
            node = left[g] if side == 0 else right[g]
            seen[:] = 0
            for e in range(edges):
                c = colours[g, e]
                if c < 0 or c >= degree:
                    return g
                cell = np.int64(c) * nodes + node[e]
                mask = np.uint64(1) << np.uint64(cell & 63)
                if seen[cell >> 6] & mask:
                    return g
                seen[cell >> 6] |= mask
    return -1
