"""Checks whether a network address is on the public internet."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# Global unicast addresses (RFC 4291, section 2.4).
_UNICAST = IPv6Network("2000::/3")

# Addresses of protocols, tunnel relays and documentation (RFC 6890, 7526, 9637), which older versions of Python lack.
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))

# The prefix of translated IPv4 addresses (NAT64, RFC 6052).
_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether an address belongs to a single machine on the public internet.

    For an IPv6 address with an embedded IPv4 address, the latter decides.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in _SPECIAL):
        return False
    if isinstance(address, IPv6Address):
        embedded = _embedded(address)
        if embedded is not None:
            return is_public(str(embedded))
        return address.is_global and address in _UNICAST
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The embedded IPv4 address: mapped, translated or tunnelled (6to4)."""
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
