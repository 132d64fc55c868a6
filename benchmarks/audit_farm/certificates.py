"""Certificates for the farm's hosts: good ones, and every kind of bad."""

import datetime
import ssl
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


class Authority(NamedTuple):
    """Who signs."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


class Certificates:
    """Contexts of servers by the kind of their certificate.

    Attributes:
        authority: file (PEM) of the one authority that clients are to trust.
    """

    def __init__(self, folder: Path, domain: str) -> None:
        """Files go into `folder`; the good certificates are for all hosts right below `domain`."""
        self._folder, self._domain = folder, domain
        ours, stranger = _authority("The farm's authority"), _authority("Nobody knows this one")
        self.authority = folder / "authority.pem"
        self.authority.write_bytes(ours.certificate.public_bytes(serialization.Encoding.PEM))
        names = [f"*.{domain}", domain]
        self._contexts = {
            "good": self._make("good", names, ours, -1, 90),
            "soon": self._make("soon", names, ours, -80, 5),
            "expired": self._make("expired", names, ours, -90, -2),
            "wrong-name": self._make("wrong-name", ["somewhere.else.test"], ours, -1, 90),
            "stranger": self._make("stranger", names, stranger, -1, 90),
            "self-signed": self._make("self-signed", names, None, -1, 90),
        }

    def context(self, kind: str) -> ssl.SSLContext:
        """Of a server."""
        return self._contexts[kind]

    def _make(
        self, kind: str, names: list[str], signer: Authority | None, begin: int, end: int
    ) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(names[0])
        by = signer or Authority(key, _sign(subject, key, key, subject, names, (begin, end)))
        certificate = _sign(subject, key, by.key, by.certificate.subject, names, (begin, end))
        place = self._folder / f"{kind}.pem"
        place.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(place)
        return context


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _authority(common: str) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    return Authority(key, _sign(_name(common), key, key, _name(common), [], (-100, 3_650)))


def _sign(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    names: list[str],
    days: tuple[int, int],
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * _DAY)
        .not_valid_after(now + days[1] * _DAY)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
    )
    if names:
        alternatives = [x509.DNSName(name) for name in names]
        made = made.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        made = made.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    else:
        made = made.add_extension(x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        ), critical=True)  # fmt: skip
        made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return made.sign(signer, hashes.SHA256())
