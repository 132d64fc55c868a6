"""Certificates for the proxy, made on the fly by an authority that lives as long as the server."""

import datetime
import ipaddress
import ssl
from collections import OrderedDict
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gossamer.state.scratch import Scratch

__all__ = ["Authority"]

_LIFE = datetime.timedelta(days=30)
MOST_KEPT = 1_000


class Authority:
    """Signs for every name; its own key is nowhere but in memory.

    Who trusts its certificate trusts this server for all names, and no other: it ends with it.
    """

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Gossamer archive replay")])
        self._certificate = self._signed(self._name, self._key.public_key(), None)
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()

    @property
    def pem(self) -> bytes:
        """Its certificate, for those who are to trust it."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def context(self, host: str) -> ssl.SSLContext:
        """What a server of that name or address shows."""
        if host not in self._contexts:
            if len(self._contexts) >= MOST_KEPT:
                self._contexts.popitem(last=False)
            self._contexts[host] = self._made(host)
        return self._contexts[host]

    def _made(self, host: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        certificate = self._signed(name, key.public_key(), _general(host))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with Scratch() as folder:  # OpenSSL takes files alone
            file = Path(folder) / "both.pem"
            file.touch(0o600)
            file.write_bytes(
                certificate.public_bytes(serialization.Encoding.PEM)
                + key.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
            context.load_cert_chain(file)
        return context

    def _signed(
        self, name: x509.Name, key: ec.EllipticCurvePublicKey, host: x509.GeneralName | None
    ) -> x509.Certificate:
        """A certificate of a host, or of the authority itself."""
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + _LIFE)
            .add_extension(
                x509.BasicConstraints(ca=host is None, path_length=0 if host is None else None), True
            )
        )
        own = self._key.public_key()
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), False)
        builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own), False)
        if host is not None:
            builder = builder.add_extension(x509.SubjectAlternativeName([host]), False)
        return builder.sign(self._key, hashes.SHA256())


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
