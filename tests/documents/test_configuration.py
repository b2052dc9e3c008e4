"""The page about configuration says what the services read."""

import pytest

from services.kernel.settings import ServiceSettings
from tests.documents.configuration import PAGE, SERVICES, page

ROWS = """\
| `ANVIL_AUDIENCE` | text | required | This service's own audience: what a token must be made out to, exactly. |
| `ANVIL_PARTS` | list of `hooks` or `console`, at least 1 of them | `["console","hooks"]` | What is served here. |
| `ANVIL_LOG_LINE_BYTES` | whole number, at least 1024, at most 65536 | `65536` | The longest line of a log. |
| `ANVIL_SERVICE_EMAIL` | text | none | What this service calls itself in the tokens that it mints. |
| `ANVIL_STORE` | `sqlite` or `firestore` | `firestore` | Where everything durable is kept. *Dev only: `sqlite`.* |
| `ANVIL_LOCAL_KEY_FILE` | path | none | The private key (PEM) that mints this service's own tokens. *Dev only.* |
""".splitlines()


def test_the_page_is_what_the_settings_make_of_it() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


@pytest.mark.parametrize("kind", SERVICES.values(), ids=SERVICES.keys())
def test_every_setting_says_what_it_means(kind: type[ServiceSettings]) -> None:
    assert [name for name, declared in kind.model_fields.items() if not declared.description] == []


@pytest.mark.parametrize("row", ROWS)
def test_a_setting_is_shown_with_type_bounds_default_and_meaning(row: str) -> None:
    assert row in page().splitlines()
