"""Many small cases in one test."""

import functools
import inspect
from collections.abc import Callable, Iterable


def every(name: str, cases: Iterable[object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`pytest.mark.parametrize` as one test: for cases of microseconds, each of which costs pytest 7 ms.

    All cases are tried. Those that fail are one `ExceptionGroup`: its message names them, and the error of each has
    its own traceback. Fixtures are made once, so a case must leave them as they were; there is nothing to skip.
    """
    cases = list(cases)
    assert cases, f"a test without any {name} could not fail"

    def of(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def checked(**fixtures: object) -> None:
            wrong: dict[str, Exception] = {}
            for number, case in enumerate(cases):
                try:
                    check(**fixtures, **{name: case})
                except Exception as error:  # noqa: BLE001 (whatever it is, it is raised below)
                    error.add_note(f"{name}: {case}")
                    wrong[f"#{number} {case}"] = error
            if wrong:
                raise ExceptionGroup(f"{len(wrong)} of {len(cases)}: {'; '.join(wrong)}", [*wrong.values()])

        asked = inspect.signature(check)
        others = [one for one in asked.parameters.values() if one.name != name]
        checked.__signature__ = asked.replace(parameters=others)  # type: ignore[attr-defined]
        return checked

    return of
