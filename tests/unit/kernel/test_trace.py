"""W3C Trace Context: a caller's trace goes on, and whatever is not one is replaced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel import trace
from services.kernel.trace import Trace
from tests.unit.kernel.world import CountingIds

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def continued(**headers: str) -> Trace:
    return trace.continued({name.replace("_", "-"): value for name, value in headers.items()}, CountingIds())


def test_a_callers_trace_goes_on_in_a_span_of_our_own() -> None:
    assert continued(traceparent=f"00-{TRACE}-{SPAN}-01") == Trace(
        trace_id=TRACE, span_id="0000000000000001", sampled=True
    )


def test_a_later_version_of_the_header_is_read_as_far_as_it_is_known() -> None:
    assert continued(traceparent=f"01-{TRACE}-{SPAN}-00").trace_id == TRACE


def test_the_header_of_google_cloud_is_understood() -> None:
    assert continued(x_cloud_trace_context=f"{TRACE}/123;o=1") == Trace(
        trace_id=TRACE, span_id="0000000000000001", sampled=True
    )


def test_the_standard_header_wins() -> None:
    both = continued(traceparent=f"00-{TRACE}-{SPAN}-00", x_cloud_trace_context=f"{'1' * 32}/123;o=1")
    assert both.trace_id == TRACE


@pytest.mark.parametrize(
    "header",
    [
        "",
        f"00-{TRACE}-{SPAN}",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
    ],
)
def test_what_is_no_trace_starts_a_new_one(header: str) -> None:
    assert continued(traceparent=header) == Trace(trace_id=f"{1:032x}", span_id=f"{2:016x}")


@given(st.text())
def test_any_header_gives_a_valid_trace(header: str) -> None:
    header = continued(traceparent=header, x_cloud_trace_context=header).header()
    assert trace.continued({"traceparent": header}, CountingIds()).trace_id in header


def test_what_a_request_causes_carries_its_trace() -> None:
    assert trace.current_header() is None
    with trace.use(Trace(trace_id=TRACE, span_id=SPAN, sampled=True)):
        assert trace.current_header() == f"00-{TRACE}-{SPAN}-01"
    assert trace.current_header() is None
