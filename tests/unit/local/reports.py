"""What a supervisor said, to wait on."""

import asyncio

WITHIN_SECONDS = 30


class Reports:
    def __init__(self) -> None:
        self.said: list[str] = []
        self._more = asyncio.Event()

    def __call__(self, event: str) -> None:
        self.said.append(event)
        self._more.set()

    async def until(self, part: str) -> str:
        """The first report with `part` in it, now or later; it and all before it are then forgotten."""
        async with asyncio.timeout(WITHIN_SECONDS):
            while not (found := [number for number, event in enumerate(self.said) if part in event]):
                self._more.clear()
                await self._more.wait()
        event = self.said[found[0]]
        del self.said[: found[0] + 1]
        return event
