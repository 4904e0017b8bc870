"""The catalogue and its entries in the terms of other catalogues, for harvesters with a key of their own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from aegis_sdk.reading import CROISSANT
from app.catalogues.api.croissant import croissant_text
from app.catalogues.api.dcat import Form, Paging, Place, Profile, catalogue_text, dataset_text
from app.catalogues.api.rdf import is_web_address
from app.catalogues.model import StoredOffers
from app.edge.dependencies import CallerDependency, Version
from app.edge.state import State, StateDependency, services_of
from app.entries.api.routes import JSON_LD, SMALL
from app.entries.model.documents import is_small
from app.pages.origins import own_origin
from app.platform.callers import Caller
from app.platform.http.conditional import NOT_MODIFIED, REVALIDATED, KnownTags, KnownTagsDependency, etag_of
from app.platform.http.negotiation import preferred
from app.platform.http.operations import PageLimit, PageToken, answers
from app.platform.http.refusals import MalformedRequestError

router = APIRouter(tags=["catalogues"])


def _responses(kinds: Sequence[str], description: str, *refusals: int) -> dict[int | str, dict[str, Any]]:
    described = answers(200, None, description, *refusals, headers=("ETag",))
    described[200]["content"] = {
        kind: {"schema": {"type": "object" if kind == JSON_LD else "string"}} for kind in kinds
    }
    return described | NOT_MODIFIED


#: Up to this many offers, this process writes them itself, in a few milliseconds.
FEW_OFFERS: Final = 100

_TYPES: Final[Mapping[Form, str]] = {Form.TURTLE: "text/turtle", Form.JSON_LD: JSON_LD}


def get_origin(request: Request, state: StateDependency) -> str:
    """The origin of the service, with which permanent addresses begin.

    Raises:
        MalformedRequestError: the header `Host` names no host.
    """
    origin = own_origin(request, state)
    if not is_web_address(origin) or urlsplit(origin).netloc != origin.partition("://")[2]:
        raise MalformedRequestError("The header Host names no host.")
    return origin


_Origin = Annotated[str, Depends(get_origin)]


def get_place(
    request: Request,
    origin: _Origin,
    profile: Annotated[Profile, Query(description="`healthdcat-ap`: with the further terms of that profile")] = (
        Profile.DCAT_AP
    ),
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Place:
    """Where the description stands, in which terms, and in the form that the path names, else in the preferred one."""
    ending = request.url.path.rpartition(".")[2]
    is_json = preferred(accept, tuple(_TYPES.values())) == JSON_LD
    preference = Form.JSON_LD if is_json else Form.TURTLE
    return Place(origin, profile, Form(ending) if ending in _TYPES else preference)


_Place = Annotated[Place, Depends(get_place)]


async def read_catalogue(
    caller: CallerDependency,
    state: StateDependency,
    place: _Place,
    known: KnownTagsDependency,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Describes the entries that the caller may see in DCAT-AP, in the order of their ids. `hydra:next` is the next
    page.
    """
    async with state.database.transaction() as session:
        harvests = services_of(state, session).harvests()
        page = await harvests.page(caller, page_token, limit, state.admission.required)

    def address(token: str | None) -> str:
        asked = {"limit": limit, "profile": place.profile.value} | ({} if token is None else {"page_token": token})
        return f"{place.catalogue}.{place.form}?{urlencode(asked)}"

    paging = Paging(address(page_token), address(None), page.last_id and address(page.last_id))
    body = await _made(state, caller, page.items, catalogue_text, page.items, place, paging)
    return _answer(known, body, _TYPES[place.form])


async def read_dataset(
    entry_id: str, caller: CallerDependency, state: StateDependency, place: _Place, known: KnownTagsDependency
) -> Response:
    """Describes an entry in DCAT-AP, with a distribution for each configuration that may be requested."""
    async with state.database.transaction() as session:
        stored = await services_of(state, session).harvests().entry(caller, entry_id, None, state.admission.required)
    body = await _made(state, caller, [stored], dataset_text, stored, place)
    return _answer(known, body, _TYPES[place.form])


@router.get(
    "/datasets/{entry_id}.croissant.json",
    summary="Read an entry in Croissant",
    response_class=Response,
    responses=_responses((JSON_LD,), "The tables that may be requested, with made-up rows", 404, 422),
)
async def read_croissant(
    entry_id: str,
    caller: CallerDependency,
    state: StateDependency,
    known: KnownTagsDependency,
    origin: _Origin,
    version: Version = None,
) -> Response:
    """Describes an entry in Croissant 1.1, which loaders of training data read. Its licence must be stated."""
    async with state.database.transaction() as session:
        services = services_of(state, session)
        stored = await services.harvests().entry(caller, entry_id, version, state.admission.required)
        schema = await services.catalogue().schema(stored.head)
    address = f"{origin}/datasets/{stored.head.id}"
    body = await _made(state, caller, [stored], croissant_text, stored, *schema, address)
    return _answer(known, body, f'{JSON_LD}; profile="{CROISSANT}"')


async def _made(
    state: State, caller: Caller, items: Sequence[StoredOffers], write: Callable[..., bytes], *given: object
) -> bytes:
    """What `write` makes. A child process makes large answers; call this outside of transactions."""
    offers = sum(item.table.codes.shape[0] for item in items)
    stored = [*(item.configurations for item in items), *(part for part in given if isinstance(part, bytes))]
    if offers <= FEW_OFFERS and all(is_small(part, SMALL) for part in stored):
        return write(*given)
    return await state.making.run(write, *given, on_behalf_of=caller.tenant)


def _answer(known: KnownTags, body: bytes, media_type: str) -> Response:
    headers = {"ETag": etag_of(body), "Cache-Control": REVALIDATED, "Vary": "Accept"}
    return known.unchanged(headers["ETag"], headers) or Response(body, media_type=media_type, headers=headers)


for _ending, _called, _kinds in (
    (f".{Form.TURTLE}", "Turtle", (_TYPES[Form.TURTLE],)),
    (f".{Form.JSON_LD}", "JSON-LD", (_TYPES[Form.JSON_LD],)),
    ("", "the preferred form", tuple(_TYPES.values())),  # last, since an id might have an ending
):
    router.add_api_route(
        f"/catalog{_ending}",
        read_catalogue,
        name=f"harvest_catalogue{_ending.replace('.', '_')}",
        summary=f"Harvest the catalogue in {_called}",
        response_class=Response,
        responses=_responses(_kinds, "One page of datasets"),
    )
    router.add_api_route(
        f"/datasets/{{entry_id}}{_ending}",
        read_dataset,
        name=f"describe_entry{_ending.replace('.', '_')}",
        summary=f"Read an entry as a dataset in {_called}",
        response_class=Response,
        responses=_responses(_kinds, "The dataset", 404),
    )
