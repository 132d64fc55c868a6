"""Settings of search forms."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.policy.places.known import BY_URL

Word = Annotated[str, Meta(min_length=1, max_length=100)]


class FormsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words search forms are asked, and when a form is left.

    What differs by place goes by the address that a form sends to.
    """

    words: Annotated[
        tuple[Word, ...],
        Meta(
            description="Words that search forms (GET, one field of text) are asked, after all links, each form"
            " once. None: no form is asked.",
            max_length=10_000,
        ),
        BY_URL,
    ] = ()
    fields: Annotated[
        tuple[str, ...],
        Meta(
            description="Names of the fields that may be filled in, e.g. `q`; of forms with several fields of text,"
            " the others stay as they are. Empty: whichever it is, where there is one."
        ),
        BY_URL,
    ] = ()
    min_yield: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Share of its words that must bring something new; a form that falls below is asked no"
            " more.",
        ),
        BY_URL,
    ] = 0.2
