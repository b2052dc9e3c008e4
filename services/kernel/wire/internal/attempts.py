"""What a runner says of its attempt; each call carries the attempt token."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import OwnershipLost
from services.kernel.wire import runs
from services.kernel.wire.model import Empty

CLAIM = Endpoint(
    method="POST",
    path="/v1/runs/{run}:claim",
    summary="Take an executable run; the same token asked again gets the same answer",
    request=runs.Claim,
    response=runs.ClaimAnswer,
    audience=Audience.RUNNER,
)
START = Endpoint(
    method="POST",
    path="/v1/runs/{run}:start",
    summary="The commit is checked out; commands may begin",
    request=runs.Start,
    response=runs.Orders,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
HEARTBEAT = Endpoint(
    method="POST",
    path="/v1/runs/{run}:heartbeat",
    summary="Renew the lease",
    request=runs.Heartbeat,
    response=runs.Orders,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
APPEND_LOG = Endpoint(
    method="POST",
    path="/v1/runs/{run}:appendLog",
    summary="Store chunks of the log",
    request=runs.AppendLog,
    response=Empty,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
REPORT = Endpoint(
    method="POST",
    path="/v1/runs/{run}:report",
    summary="How the run ended; the first report stands",
    request=runs.Report,
    response=Empty,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
COMPLETE = Endpoint(
    method="POST",
    path="/v1/runs/{run}:complete",
    summary="The sandbox is gone: end the run and let the next one go",
    request=runs.Complete,
    response=Empty,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
