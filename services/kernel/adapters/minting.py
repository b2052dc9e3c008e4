"""Who mints a service's identity tokens: the local stack's key where there is one, else Google."""

from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.ports import Clock, Minter
from services.kernel.settings import ServiceSettings, SettingsError


def minter(settings: ServiceSettings, *, email: str | None, email_setting: str, clock: Clock) -> Minter:
    """Mints as `email`, which `email_setting` gives; on Google as the service account that the service runs as.

    Raises:
        SettingsError: there is a key, but it cannot be used, or nobody to mint as.
    """
    if settings.local_key_file is None:
        # Here, because the local stack runs without Google's libraries.
        from services.kernel.adapters.google_minter import GoogleMinter

        return GoogleMinter(clock=clock)
    if email is None:
        raise SettingsError(f"{settings.variable(email_setting)}: needed to mint tokens with a key of one's own")
    try:
        return LocalMinter(settings.local_key_file, email=email, issuer=settings.issuer, clock=clock)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{settings.variable('local_key_file')}: not a usable key: {error}") from error
