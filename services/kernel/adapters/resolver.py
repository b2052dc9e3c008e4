"""What the machine's own resolver answers."""

import asyncio
import socket
from ipaddress import ip_address

from services.kernel.addresses import Address
from services.kernel.errors import Unavailable


class SystemResolver:
    """Implements `ports.Resolver` by getaddrinfo(3), in the event loop's threads."""

    async def resolve(self, host: str) -> tuple[Address, ...]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Unavailable(f"{host} cannot be resolved") from error
        return tuple(dict.fromkeys(ip_address(where[0]) for *_, where in found))
