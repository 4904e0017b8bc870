"""Commands for connectors of the Eclipse Dataspace Components."""

import os
from typing import Annotated, Final

import httpx
import typer

from aegis_sdk._errors import SettingsError
from aegis_sdk._sending import DEFAULT_URL, checked_key, checked_url
from aegis_sdk.cli.options import EntryIdArgument, JsonOption
from aegis_sdk.cli.terminal import InputError, print_result, stage
from aegis_sdk.dataspace import Connector
from aegis_sdk.dataspace.edc import Management, pushed
from aegis_sdk.reading import shown, some
from aegis_sdk.wire import dataspace as dsp

_SECONDS: Final = 60.0


def push(
    entry_id: EntryIdArgument,
    management: Annotated[str, typer.Option(metavar="URL", help="The management API, without its version.")],
    configuration: Annotated[
        list[str] | None, typer.Option(help="Only this configuration; repeatable.  [all]", show_default=False)
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Offer an entry in a connector of the Eclipse Dataspace Components.

    Makes an asset, a policy and a contract definition for each configuration that may be requested, or renews them. The
    connector gets no table: hand over what `aegis requests fulfil` delivers. AEGIS_EDC_KEY has the connector's key.
    """
    at, address = _management(management), checked_url(os.environ.get("AEGIS_URL") or DEFAULT_URL)
    chosen = _chosen(_dataset(address, entry_id), configuration or [])
    documents = list(pushed(chosen, address))
    key = os.environ.get("AEGIS_EDC_KEY")
    with httpx.Client(headers={"X-Api-Key": key} if key else {}, timeout=_SECONDS) as http:
        connector = Management(at, http)
        with stage("telling the connector") as progress:
            for place, one in enumerate(documents, 1):
                connector.push(one)
                progress(place, len(documents))
    assets = [one.asset["@id"] for one in documents]
    print_result(
        {"assets": assets}, [f"{len(assets)} offers of {shown(chosen.title or chosen.id)}", *assets], as_json=as_json
    )


def _management(url: str) -> str:
    try:
        return checked_url(url)
    except SettingsError as error:
        raise InputError(
            f"--management: give an address such as https://connector.example/management: {shown(url)}"
        ) from error


def _dataset(address: str, entry_id: str) -> dsp.Dataset:
    key = checked_key(os.environ.get("AEGIS_API_KEY") or "")
    with httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=_SECONDS) as http:
        return Connector.at(address, http).dataset(entry_id)


def _chosen(dataset: dsp.Dataset, configurations: list[str]) -> dsp.Dataset:
    """The dataset with the offers of these configurations; with all if none is named.

    Raises:
        InputError: One of them is not offered.
    """
    offered = {offer.id.rpartition(":")[2]: offer for offer in dataset.policies}
    for name in configurations:
        if name not in offered:
            raise InputError(f"--configuration: {shown(name)} is not offered; use one of {some(list(offered), 10)}")
    return dataset.model_copy(update={"policies": [offered[name] for name in configurations or offered]})
