"""Lists the licences of what an environment holds, and refuses those that do not go with Apache-2.0.

`pip-licenses --python=PYTHON --from=mixed --format=json | python scripts/licences.py`. A package may be used under
any licence of a choice (`OR`), and must be usable under each of a sum (`AND`, `;`, `,`). What cannot be read ends with
status 1 as well, so that somebody looks at it once and writes it down here.
"""

import json
import re
import sys

FREE = re.compile(
    r"apache(-| software|$| licen[cs]e)|apache[ -]2|mit( licen[cs]e|-0|-cmu|$)|bsd|isc|0bsd|zlib|unlicense|cc0|public domain"
    r"|3-clause bsd|oldap-2\.8|psf|python software foundation|python-2|cnri-python|hpnd|mpl[ -]2|mozilla public licen[cs]e 2",
    re.IGNORECASE,
)
"""Permissive, or copyleft of single files that we do not change (MPL-2.0)."""
LOOKED_UP = {"chardetng_py": "MIT", "pypdfium2": "BSD-3-Clause, Apache-2.0, BSD, MIT, Zlib"}
"""Licences of packages that say theirs in a file alone; of pypdfium2 those of what PDFium brings (FreeType under its
BSD-like licence, libjpeg-turbo, OpenJPEG, Little CMS, zlib, ICU), which it names "dependency licenses"."""


def allowed(licence: str) -> bool:
    """Whether what has this licence, an expression of SPDX or names from classifiers, may be installed with us."""
    plain = (
        licence.replace("(", " ").replace(")", " ") if " OR " in licence or " AND " in licence else licence
    )
    sums = [part for part in re.split(r"\s+AND\s+|;|,", plain) if part.strip()]
    return bool(sums) and all(
        any(FREE.match(one.strip()) or FREE.match(one.strip().removeprefix("the ")) for one in choice)
        for choice in (re.split(r"\s+OR\s+", part) for part in sums)
    )


def main() -> int:
    """Print a line for each package; 1 if one is refused."""
    refused = 0
    for package in sorted(json.load(sys.stdin), key=lambda one: one["Name"].lower()):
        name = package["Name"]
        licence = LOOKED_UP.get(name, package["License"])
        licence = " ".join(licence.split())[:100]
        well = allowed(licence)
        refused += not well
        print(
            f"{name} {package['Version']}: {licence}{'' if well else '  <-- does not go with Apache-2.0, or cannot be read'}"
        )
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
