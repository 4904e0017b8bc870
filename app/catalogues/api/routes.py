"""The catalogue and its entries in the terms of other catalogues, for harvesters with a key of their own."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Annotated, Any, Final
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from app.catalogues.api.dcat import Form, Paging, Place, Profile, catalogue_text, dataset_text
from app.catalogues.api.rdf import is_web_address
from app.catalogues.model import StoredOffers
from app.edge.dependencies import CallerDependency, FactoryDependency
from app.edge.state import State, StateDependency, services_of
from app.entries.api.routes import SMALL
from app.pages.origins import own_origin
from app.platform.callers import Caller
from app.platform.http.conditional import NOT_MODIFIED, REVALIDATED, KnownTags, KnownTagsDependency, etag_of
from app.platform.http.negotiation import preferred
from app.platform.http.operations import PageLimit, PageToken, answers
from app.platform.http.refusals import MalformedRequestError

router = APIRouter(tags=["catalogues"])

_TYPES: Final[Mapping[Form, str]] = {Form.TURTLE: "text/turtle", Form.JSON_LD: "application/ld+json"}


def get_place(
    request: Request,
    state: StateDependency,
    profile: Annotated[Profile, Query(description="`healthdcat-ap`: with the further terms of that profile")] = (
        Profile.DCAT_AP
    ),
) -> Place:
    """Where the description stands, and in which terms and form.

    Raises:
        MalformedRequestError: the header `Host` names no host.
    """
    origin = own_origin(request, state)
    if not is_web_address(origin) or urlsplit(origin).netloc != origin.partition("://")[2]:
        raise MalformedRequestError("The header Host names no host.")
    return Place(origin, profile, Form(request.url.path.rpartition(".")[2]))


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
    return _answer(known, body, place)


async def read_dataset(
    entry_id: str, caller: CallerDependency, state: StateDependency, place: _Place, known: KnownTagsDependency
) -> Response:
    """Describes an entry in DCAT-AP, with a distribution for each configuration that may be requested."""
    async with state.database.transaction() as session:
        stored = await services_of(state, session).harvests().entry(caller, entry_id, None, state.admission.required)
    return _answer(known, await _made(state, caller, [stored], dataset_text, stored, place), place)


async def _made(
    state: State, caller: Caller, items: Sequence[StoredOffers], write: Callable[..., bytes], *given: object
) -> bytes:
    """What `write` makes. A child process makes large answers; call this outside of transactions."""
    cells = sum(prod(item.table.codes.shape) for item in items)
    if cells <= SMALL:
        return write(*given)
    return await state.making.run(write, *given, on_behalf_of=caller.tenant)


def _answer(known: KnownTags, body: bytes, place: Place) -> Response:
    headers = {"ETag": etag_of(body), "Cache-Control": REVALIDATED}
    return known.unchanged(headers["ETag"], headers) or Response(body, media_type=_TYPES[place.form], headers=headers)


def _responses(description: str, form: Form, *refusals: int) -> dict[int | str, dict[str, Any]]:
    described = answers(200, None, description, *refusals, headers=("ETag",))
    described[200]["content"] = {_TYPES[form]: {"schema": {"type": "string"}}}
    return described | NOT_MODIFIED


for _form, _called in ((Form.TURTLE, "Turtle"), (Form.JSON_LD, "JSON-LD")):
    router.add_api_route(
        f"/catalog.{_form}",
        read_catalogue,
        name=f"read_catalogue_{_form}",
        summary=f"Harvest the catalogue as {_called}",
        response_class=Response,
        responses=_responses("One page of datasets", _form),
    )
    router.add_api_route(
        f"/datasets/{{entry_id}}.{_form}",
        read_dataset,
        name=f"read_dataset_{_form}",
        summary=f"Read an entry as a dataset in {_called}",
        response_class=Response,
        responses=_responses("The dataset", _form, 404),
    )


_Accept = Annotated[str | None, Header(description="`application/ld+json` for JSON-LD instead of Turtle")]


@router.get(
    "/catalog",
    summary="Find the catalogue",
    status_code=303,
    response_class=Response,
    responses=answers(303, None, "Where the catalogue is", headers=("Location",)),
)
async def find_catalogue(_: CallerDependency, accept: _Accept = None) -> Response:
    """Redirects from the permanent address of the catalogue to the preferred form."""
    return _see("/catalog", accept)


@router.get(
    "/datasets/{entry_id}",
    summary="Find the description of a dataset",
    status_code=303,
    response_class=Response,
    responses=answers(303, None, "Where the description is", 404, headers=("Location",)),
)
async def find_dataset(
    entry_id: str, caller: CallerDependency, factory: FactoryDependency, accept: _Accept = None
) -> Response:
    """Redirects from the permanent address of an entry to the preferred form."""
    head = await factory.catalogue().head(caller, entry_id)
    return _see(f"/datasets/{head.id}", accept)


def _see(path: str, accept: str | None) -> Response:
    best = preferred(accept, tuple(_TYPES.values()))
    form = Form.JSON_LD if best == _TYPES[Form.JSON_LD] else Form.TURTLE
    return Response(status_code=303, headers={"Location": f"{path}.{form}", "Vary": "Accept"})
