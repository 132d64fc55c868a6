"""The sections `[place."..."]`: what of the other sections can differ by place."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from gossamer.config.dotted import join_path
from gossamer.config.shape import settings_of
from gossamer.fetch.access import speaks
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.own_headers import header_problems
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of
from gossamer.policy.places.known import BY_URL, Known
from gossamer.policy.scope.scope import ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.policy.visits.retry import RetryConfig


class CredentialsConfig(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What one origin wants to know of us.

    Its `repr` hides the secrets.
    """

    username: Annotated[
        str | None,
        Meta(
            description="Name for HTTP authentication; sent to the scheme, host and port of the place"
            " alone: https and its own port, if it names none."
        ),
        BY_URL,
    ] = None
    password: Annotated[
        str | None, Meta(extra={"secret": True}, description="Password that belongs to `username`."), BY_URL
    ] = None
    scheme: Annotated[
        Literal["basic", "digest", "ntlm", "negotiate"] | None,
        Meta(
            description="How name and password are proven; none: basic, sent at once. The others answer a"
            " challenge; negotiate takes the Kerberos ticket of whoever runs the crawl, without a name."
        ),
        BY_URL,
    ] = None
    token: Annotated[
        str | None,
        Meta(extra={"secret": True}, description="Bearer token, in place of name and password."),
        BY_URL,
    ] = None
    headers: Annotated[
        dict[str, str] | None,
        Meta(
            extra={"secret": True},
            description='Further header fields, such as "X-Api-Key" = "env:KEY"; the archive says that they'
            " were sent, never their values.",
        ),
        BY_URL,
    ] = None
    certificate: Annotated[
        str | None,
        Meta(description="File with the certificate (PEM) that we prove to be ours in TLS."),
        BY_URL,
    ] = None
    key: Annotated[
        str | None,
        Meta(description="File with the private key of `certificate` (PEM); none: it is in the same file."),
        BY_URL,
    ] = None
    key_password: Annotated[
        str | None, Meta(extra={"secret": True}, description="Password that opens `key`."), BY_URL
    ] = None

    def __post_init__(self) -> None:
        if self.password is not None and self.username is None:
            raise ValueError("a password needs a username beside it")
        if self.token is not None and self.username is not None:
            raise ValueError("give either username and password or a token, not both")
        problems = [
            of(join_path(["headers", name] if name else ["headers"]), why)
            for name, why in header_problems(self.headers or {})
        ]
        if self.scheme not in (None, "negotiate") and self.username is None:
            problems.append(of("scheme", because(ProblemCode.SCHEME_USER, self.scheme)))
        if self.scheme is not None and not speaks(self.scheme):
            problems.append(of("scheme", because(ProblemCode.SCHEME_MISSING, self.scheme)))
        if self.certificate is None and (self.key or self.key_password) is not None:
            problems.append(of("key", because(ProblemCode.KEY_ALONE)))
        if problems:
            raise WrongValueError(*problems)

    def __repr__(self) -> str:
        return f"CredentialsConfig({', '.join(f'{name}={value!r}' for name, value in self._shown())})"

    def _shown(self) -> Iterator[tuple[str, object]]:
        for setting in settings_of(type(self)):
            if (value := getattr(self, setting.name)) is not None:
                yield setting.name, "***" if setting.shape.secret else value

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return list(self._shown())


SECTIONS: Final[dict[str, type[msgspec.Struct]]] = {
    "scope": ScopeConfig,
    "politeness": PolitenessConfig,
    "budget": BudgetConfig,
    "retry": RetryConfig,
    "traps": TrapConfig,
    "fetch": FetchConfig,
    "forms": FormsConfig,
}
"""The sections of which a part can differ by place."""


KNOWN: Final[dict[str, dict[str, Known]]] = {
    name: {one.name: one.by_place for one in settings_of(section) if one.by_place is not None}
    for name, section in {**SECTIONS, "credentials": CredentialsConfig}.items()
}
"""What is known when a setting is asked for, by section and name."""


ONCE: Final = frozenset({"scope", "traps", "forms"})
"""Sections that are asked once for each URL, when it is found: no part of the day can be a condition of theirs."""


def _part(name: str, section: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The settings of a section that may differ by place, none of them given.

    Made of the section itself, so that a setting is described once, and is made to differ by its mark alone.
    """
    elsewhere = frozenset(setting.key for setting in settings_of(section))
    differing = ", ".join(f"{name}.{key}" for key in KNOWN[name])

    def unknown(_cls: type, key: str, _root: type) -> Reason | None:
        return because(ProblemCode.PLACE_EVERYWHERE, differing) if key in elsewhere else None

    return msgspec.defstruct(
        f"Placed{section.__name__}",
        [
            (setting.name, setting.shape.annotation | None, None)
            for setting in settings_of(section)
            if setting.name in KNOWN[name]
        ],
        namespace={
            "__doc__": section.__doc__,
            "unknown_setting": classmethod(unknown),
            "told_elsewhere": True,  # with the section that it is a part of
        },
        module=__name__,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
        omit_defaults=True,
    )


class Placed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What differs at one place; what is not given stays as it is in wider ones, and everywhere."""

    credentials: CredentialsConfig | None = None

    def said(self, section: str) -> dict[str, Any]:
        """The settings of a section that are given. Credentials are given together or not at all."""
        part = getattr(self, section)
        if part is None:
            return {}
        if section == "credentials":
            return msgspec.structs.asdict(part)
        return {name: value for name, value in msgspec.structs.asdict(part).items() if value is not None}

    @classmethod
    def unknown_setting(cls, key: str, root: type[msgspec.Struct]) -> Reason | None:
        """Why a name is not among them: of a section of the whole crawl, or a setting without its section."""
        if key in root.__struct_fields__:
            return because(ProblemCode.PLACE_SECTION, ", ".join(KNOWN))
        found = [f"{section}.{key}" for section, names in KNOWN.items() if key in names]
        return because(ProblemCode.NOT_SETTING_NEAR, " or ".join(found)) if found else None


if TYPE_CHECKING:
    PlaceConfig = Placed
else:
    PlaceConfig = msgspec.defstruct(
        "PlaceConfig",
        [(name, _part(name, section) | None, None) for name, section in SECTIONS.items()],
        bases=(Placed,),
        namespace={"__doc__": Placed.__doc__},
        module=__name__,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
        omit_defaults=True,
    )
