"""Ports for servers that cannot choose their own."""

import random
import socket

# Below those that the kernel gives to connections: one of them may have the port by the time that a server starts.
_PORTS = range(20_000, 32_000)
# Reserved until this process ends: an abstract socket can be bound once on a machine, and nobody has to remove it.
_reserved: list[socket.socket] = []


def free_ports(count: int) -> list[int]:
    """Neighbouring ports that nothing listens on, and that no other process gets from here."""
    while True:
        first = random.choice(_PORTS[:-count])
        ports = list(range(first, first + count))
        reserved = [item for port in ports if (item := _reserve(port))]
        if len(reserved) == count:
            _reserved.extend(reserved)
            return ports
        for item in reserved:
            item.close()


def listens_at(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _reserve(port: int) -> socket.socket | None:
    item = socket.socket(socket.AF_UNIX)
    try:
        item.bind(f"\0ultracluster-tests-port-{port}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        item.close()
        return None
    return item
