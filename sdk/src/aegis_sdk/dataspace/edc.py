"""The offers of an entry in a connector of the Eclipse Dataspace Components, by its management API, version 4.

Each configuration that may be requested is an asset of its own, since a connector hands over assets: with a policy that
has the rules of the offer, and a contract definition that joins both. The connector gets no table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx

from aegis_sdk._errors import ServiceUnreachableError
from aegis_sdk.dataspace.connector import DataspaceError
from aegis_sdk.printable import one_line
from aegis_sdk.wire import dataspace as dsp

CONTEXT: Final = "https://w3id.org/edc/connector/management/v2"
"""The context of version 4 of the management API."""

_ID: Final = "https://w3id.org/edc/v0.0.1/ns/id"
_LONGEST_REASON: Final = 300

Document = dict[str, Any]


@dataclass(frozen=True)
class Pushed:
    """What a connector is told of an offer: an asset, a policy, and the contract definition that joins them."""

    asset: Document
    policy: Document
    definition: Document


def pushed(dataset: dsp.Dataset, service: str) -> Iterator[Pushed]:
    """The documents of each offer of a dataset.

    Args:
        service: The address of the service that has the entry.
    """
    for offer in dataset.policies:
        policy_id = f"{offer.id}:policy"
        properties = {
            "name": f"{dataset.title or dataset.id}: {offer.id.rpartition(':')[2]}",
            "description": dataset.description or "",
            "contenttype": "text/csv",
            "version": offer.id.split(":")[-2],
            "urn:aegis:service": service,
            "urn:aegis:dataset": dataset.id,
        }
        rules = offer.written()
        ruled: Document = {"@type": "Set"}
        ruled |= {name: rules[name] for name in ("permission", "prohibition", "obligation") if name in rules}
        selector = {"@type": "Criterion", "operandLeft": _ID, "operator": "=", "operandRight": offer.id}
        joined: Document = {"accessPolicyId": policy_id, "contractPolicyId": policy_id, "assetsSelector": [selector]}
        yield Pushed(
            _document("Asset", offer.id, properties=properties),
            _document("PolicyDefinition", policy_id, policy=ruled),
            _document("ContractDefinition", f"{offer.id}:contract", **joined),
        )


def _document(kind: str, name: str, **members: object) -> Document:
    return {"@context": [CONTEXT], "@type": kind, "@id": name, **members}


@dataclass(frozen=True)
class Management:
    """The management API of a connector.

    Attributes:
        base: Its address, without the version.
    """

    base: str
    http: httpx.Client

    def push(self, one: Pushed) -> None:
        """Tell the connector of an offer, or renew what it knows. Nothing is offered until all three are there.

        Raises:
            DataspaceError: The connector refuses a document.
            ServiceUnreachableError: Nothing answers there.
        """
        self._put("assets", one.asset, at_id=False)
        self._put("policydefinitions", one.policy)
        self._put("contractdefinitions", one.definition, at_id=False)

    def _put(self, kind: str, document: Document, *, at_id: bool = True) -> None:
        """Create a document; if it is there already, replace it, which the API has at its id for policies only."""
        answer = self._send("POST", kind, document)
        if answer.status_code == httpx.codes.CONFLICT:
            place = f"{kind}/{quote(document['@id'], safe='')}" if at_id else kind
            answer = self._send("PUT", place, document)
        if not answer.is_success:
            said = one_line(answer.text)[:_LONGEST_REASON]
            raise DataspaceError(f"the connector refuses {document['@id']}: {answer.status_code} {said}")

    def _send(self, method: str, place: str, document: Document) -> httpx.Response:
        url = f"{self.base.rstrip('/')}/v4/{place}"
        try:
            return self.http.request(method, url, json=document)
        except httpx.HTTPError as error:
            raise ServiceUnreachableError(f"{url}: {one_line(str(error))}") from error
