"""Who the caller is."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.wire.model import Empty, Wire


class Me(Wire):
    """Who the caller is, and the highest role it has in any project."""

    principal: str
    role: str


ME = Endpoint(
    method="GET",
    path="/api/private/me",
    summary="Who am I",
    request=Empty,
    response=Me,
    audience=Audience.VIEWER,
)
