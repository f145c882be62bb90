"""The global memory of `mm.Cached`, once more, as docs/machines.md states it.

It consists of dictionaries and lists, and shares nothing with the engines: of the machine it reads
only the numbers. The names are the docs'.
"""

from collections import Counter, defaultdict


def spread(number, count):
    """The docs' hash of a number: one of 0 to count - 1."""
    return count * (2654435769 * number % 2**32) // 2**32


class Sector:
    """One sector in a half: whether all of it is there, and what memory lacks."""

    def __init__(self):
        self.whole, self.written = False, set()


class Cache:
    """The global memory: what a request counts, and when it has passed all resources."""

    def __init__(self, machine):
        self.m = machine
        self.line = machine.width * (machine.bank_bytes or 1)  # in places, as all sizes
        self.size = self.line // machine.sectors
        self.sets = machine.capacity // (self.line * machine.ways * machine.halves)
        self.ways = defaultdict(lambda: [None] * machine.ways)  # (half, set): (line, sectors)
        self.new_lines = self.lines_awaited = 0
        self.own_sets = machine.own_capacity // (self.line * machine.own_ways)
        self.own = defaultdict(lambda: [None] * machine.own_ways)  # (DMM, set): (line, completions)
        self.own_lines = 0
        self.open_rows, self.pages = {}, defaultdict(list)
        self.latest = {}  # the sector of the last atomic on floats, by slice
        self.free = Counter()  # resource: when it is free
        sizes = machine.clusters_of(machine.dmms)
        self.cluster = [number for number, size in enumerate(sizes) for _ in range(size)]

    def half(self, number):
        return number.bit_count() % 2 if self.m.halves == 2 else 0

    def half_of(self, dmm):
        cluster = self.cluster[dmm]
        return self.half(cluster) if self.m.half_of is None else self.m.half_of[cluster]

    # A request.

    def serve(self, now, dmm, kind, stages, asked, floats=False, merged=False, own=False):
        """The completion of a request, and its counts. `asked` has the places of each lane.

        An atomic may be on `floats`, or `merged`. A read may look in its DMM's `own` cache first.
        """
        m, self.count, self.awaited = self.m, Counter(), []
        self.brought, self.crossed = set(), set()
        places, often = defaultdict(set), Counter()
        for place in (place for own in asked for place in own):
            places[place // self.size].add(place)
        for place, times in Counter(place for own in asked for place in own).items():
            sector = place // self.size
            turns = kind == "atomic" and not merged
            often[sector] = max(often[sector], times if turns else 1)
        words = {place // (m.bank_bytes or 1) for own in asked for place in own}
        own_lines = {sector // m.sectors for sector in places}
        banks = (
            Counter(word % m.width for word in words),
            Counter(spread(one, 4) for one in own_lines),
        )
        at_port = max((number for one in banks for number in one.values()), default=0)
        at, known = [], []
        for sector in sorted(places) if own else ():
            line, number = divmod(sector, m.sectors)
            at.append((self.own_line(dmm, line), number))
            if number in at[-1][0]:
                known.append(at[-1][0][number])
                del places[sector], often[sector]
        lines = {sector // m.sectors for sector in places}
        at_port = max(at_port, len(lines))
        asks = len(lines) if m.capacity else stages
        self.count["tags"] = asks
        self.count["sectors"] = often.total()
        for page in sorted({sector * self.size // m.page for sector in places} if m.page else ()):
            self.use_page(dmm, page)
        serve_one = getattr(self, kind if m.capacity else f"{kind}_without_cache")
        for sector in sorted(places):
            for _ in range(often[sector]):
                serve_one(self.half_of(dmm), *divmod(sector, m.sectors), places[sector])
        done = max(
            self.passed(now, *one)
            for one in self.items(dmm, kind, at_port if own else asks, often, floats)
        )
        if not self.count["tags"]:
            done = max(done, self.passed(now, "tags", 1, 1))
        later = 0
        if kind != "write":
            later = m.cross_latency if self.count["crossings"] else 0
            if self.awaited:
                late = max(self.late() for line in self.awaited)
                later = m.miss_latency + m.spread_latency * late
        latency = m.own_latency if own and not places else m.global_latency + later
        done += latency - 1
        if own:
            done = max(done, *known, 0) + (at_port - 1) * m.port_time
        for line, number in at:
            line[number] = done
        return done, self.count

    def late(self):
        """How late memory sends one more line."""
        self.lines_awaited += 1
        return 32 - spread(self.lines_awaited, 2**32).bit_length()

    def own_line(self, dmm, line):
        """When the last read of each sector of a line completes; a DMM's own cache has it now."""
        ways = self.own[dmm, spread(line, self.own_sets)]
        known = next((way[1] for way in ways if way and way[0] == line), None)
        if known is None:
            self.own_lines += 1
            at = ways.index(None) if None in ways else spread(self.own_lines, self.m.own_ways)
            ways[at] = line, (known := {})
        return known

    def items(self, dmm, kind, asks, often, floats):
        """For each resource how many items of what time a request has, and what they take more."""
        m, count = self.m, self.count
        tag_time, port_time, wire_time = m.tag_time, m.port_time, m.wire_time
        if kind != "read":
            tag_time = or_else(m.write_time, tag_time)
            port_time = or_else(m.write_port_time, port_time)
            wire_time = or_else(m.write_wire_time, wire_time)
        yield "tags", count["tags"], tag_time, count["fills"] * m.fill_time
        yield "sectors", count["sectors"], m.sector_time
        yield "crossings", count["crossings"], m.cross_time
        yield "memory", count["memory_reads"] + count["memory_writes"], m.memory_time
        yield "rows", count["activations"], m.row_time
        yield "pages", count["translations"], m.page_time
        yield ("port", dmm), asks, port_time
        yield ("wire", dmm), count["sectors"], wire_time
        if kind == "atomic":
            again = or_else(m.float_time, m.atomic_time) if floats else m.atomic_time
            lines = defaultdict(dict)
            for sector, times in often.items() if again else ():
                first = again if self.latest.get(self.slice_of(sector)) == sector else m.atomic_time
                lines[sector // m.sectors][sector] = first + (times - 1) * again
            for line, times in lines.items():
                number = sum(often[sector] for sector in times)
                time = max(number * m.atomic_time, *times.values(), 0)
                yield self.slice(line), 1 if time else 0, time
            if floats:
                self.latest |= {self.slice_of(sector): sector for sector in sorted(often)}
        if kind == "read" and m.line_time:
            for line in {sector // m.sectors for sector in often}:
                yield self.slice(line), 1, m.line_time

    def slice_of(self, sector):
        return self.slice(sector // self.m.sectors)

    def slice(self, line):
        """The resource of the slice in which a line lies: `near` has the bits that don't count."""
        bits = [bit for bit in range(line.bit_length()) if not self.m.near >> bit & 1]
        left = sum((line >> bit & 1) << place for place, bit in enumerate(bits))
        return "slice", spread(left, self.m.slices)

    def passed(self, now, resource, items, time, more=0):
        """The time at which a request has passed a resource; `now` if it has no item for it."""
        if items:
            self.free[resource] = now = max(now, self.free[resource]) + items * time + more
        return now

    def use_page(self, dmm, page):
        known = self.pages[dmm]
        if page in known:
            known.remove(page)
        else:
            self.count["translations"] += 1
        known.append(page)
        del known[: -self.m.pages]

    def move(self, line, way):
        """A sector comes from memory ("memory_reads") or goes there ("memory_writes")."""
        self.count[way] += 1
        row = line // self.m.channels // self.m.row
        bank = line % self.m.channels, spread(row, self.m.banks)
        self.count["activations"] += self.open_rows.get(bank) != row
        self.open_rows[bank] = row

    def fetch(self, line):
        """A sector that a request waits for comes from memory."""
        self.count["misses"] += 1
        if line not in self.awaited:
            self.awaited.append(line)
        self.move(line, "memory_reads")

    def read_without_cache(self, half, line, number, places):
        self.fetch(line)

    def write_without_cache(self, half, line, number, places):
        self.move(line, "memory_writes")

    def atomic_without_cache(self, half, line, number, places):
        self.fetch(line)
        self.move(line, "memory_writes")

    # The cache.

    def kept(self, half, line):
        """The sectors that a half knows of a line, by number; None if it hasn't the line."""
        ways = self.ways[half, spread(line, self.sets)]
        return next((way[1] for way in ways if way and way[0] == line), None)

    def sector(self, half, line, number):
        return (self.kept(half, line) or {}).get(number) or Sector()

    def entered(self, half, line, copy=False):
        """The sectors of a line, for which a half makes room if it hasn't the line."""
        if self.kept(half, line) is None:
            ways = self.ways[half, spread(line, self.sets)]
            self.new_lines += 1
            if None in ways:
                at = ways.index(None)
            else:
                at = spread(self.new_lines, self.m.ways)
                self.count["tags"] += copy
                self.leave(*ways[at])
            ways[at] = line, defaultdict(Sector)
        return self.kept(half, line)

    def leave(self, line, sectors):
        for _, sector in sorted(sectors.items()):
            if sector.written and not sector.whole:
                self.count["fills"] += 1
                self.count["tags"] += 1
                self.move(line, "memory_reads")
            if sector.written:
                self.move(line, "memory_writes")

    def cross(self, line):
        self.count["crossings"] += 1
        self.count["tags"] += line not in self.crossed
        self.crossed.add(line)

    def look(self, half, line, number):
        """The home looks for a sector, and fetches those around it that it hasn't."""
        if self.sector(half, line, number).whole:
            self.count["hits"] += 1
            return
        sectors = self.entered(half, line)
        for one in self.around(number):
            self.brought.add((half, line, one))
            if not sectors[one].whole:
                self.fetch(line)
                sectors[one].whole = True

    def around(self, number):
        first = number - number % self.m.fetch
        return range(first, first + self.m.fetch)

    def read(self, half, line, number, places):
        home = self.half(line)
        if (half, line, number) in self.brought:
            return
        if half == home:
            self.look(home, line, number)
        elif self.sector(half, line, number).whole:
            self.count["hits"] += 1
        else:
            sectors = self.entered(half, line, copy=True)
            for one in self.around(number):
                self.brought.add((half, line, one))
                if not sectors[one].whole:
                    self.cross(line)
                    self.count["misses"] += 1
                    sectors[one].whole = True
                    if (home, line, one) not in self.brought:
                        self.look(home, line, one)

    def write(self, half, line, number, places):
        home = self.half(line)
        if half != home:
            self.cross(line)
            self.entered(half, line, copy=True).pop(number, None)
        elif self.m.halves == 2 and self.kept(1 - home, line) is not None:
            self.count["crossings"] += 1
            self.count["tags"] += 1
            ways = self.ways[1 - home, spread(line, self.sets)]
            ways[:] = [None if way and way[0] == line else way for way in ways]
        self.put(home, line, number, places)

    def atomic(self, half, line, number, places):
        home = self.half(line)
        if half != home:
            self.cross(line)
        (self.kept(1 - home, line) or {}).pop(number, None)
        self.look(home, line, number)
        self.put(home, line, number, places)

    def put(self, home, line, number, places):
        sector = self.entered(home, line)[number]
        sector.written |= places
        sector.whole |= len(sector.written) == self.size


def or_else(number, other):
    return other if number is None else number
