"""Exporters of all nodes in one process: `python -m support.synthetic.exporters PORT`.

A stand-in, and named one: the names, labels and units are those of the real exporters, the values are made up.
"""

import asyncio
import json
import sys
import time
import urllib.parse

from support.synthetic.fleet import make_fleet
from support.synthetic.services import SERVICES, Services


class Exporters:
    """Answers `/node/NUMBER`, `/dcgm/NUMBER`, `/agent/NUMBER`, and one page for each service of the cluster."""

    def __init__(self) -> None:
        self.fleet = make_fleet()
        self.services = Services(self.fleet)
        self.start = time.time()

    def page(self, path: str) -> str | None:
        """The text of a page; None when there is none."""
        kind, _, rest = path.strip("/").partition("/")
        now = time.time()
        if kind in SERVICES:
            return self.services.page(kind, now - self.start, now)
        if kind == "control":
            return self.control(rest)
        node = self.fleet.get(int(rest)) if rest.isdigit() else None
        # A lost node answers until nobody asks it: its agent dies with its exporters, and none is seen to be down.
        if node is None:
            return None
        return {"node": node.node_page, "dcgm": node.dcgm_page, "agent": node.agent_page}[kind](now - self.start, now)

    def control(self, rest: str) -> str:
        """Put nodes into a state: `STATE/NUMBER,NUMBER`; `healthy` heals."""
        state, _, numbers = rest.partition("/")
        for number in numbers.split(","):
            node = self.fleet[int(number)]
            node.states = set() if state == "healthy" else node.states | {state}
            node.since = time.time() - self.start
            node.forget()
        return json.dumps({"state": state, "nodes": numbers})

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept open as Prometheus does."""
        try:
            while line := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                text = self.page(urllib.parse.urlsplit(line.split()[1].decode()).path)
                body = (text or "").encode()
                status = "200 OK" if text is not None else "404 Not Found"
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def main(port: int) -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(Exporters().answer, "127.0.0.1", port, backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
