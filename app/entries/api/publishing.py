"""The requirements for publishing, to be read before an entry is made."""

from typing import Annotated

from fastapi import APIRouter, Query

from aegis_sdk import wire
from app.edge.dependencies import FactoryDependency, PublisherDependency
from app.edge.state import State, StateDependency
from app.entries.api.mapping import head_answer
from app.entries.service.publishing import Terms
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers

router = APIRouter(tags=["entries"])


@router.get(
    "/v1/publishing",
    summary="Read the requirements for publishing",
    responses=answers(200, wire.PublishingTerms, "The requirements for the caller's entries", 403, 422),
)
async def read_terms(
    caller: PublisherDependency,
    state: StateDependency,
    factory: FactoryDependency,
    name: Annotated[wire.EntryName | None, Query(description="Name of the future entry")] = None,
) -> JsonResponse:
    """Returns the requirements that do not depend on the counts, so that providers know them before they make an
    entry.
    """
    return JsonResponse(_answer(state, await factory.catalogue().terms(caller, name, state.admission)))


def _answer(state: State, terms: Terms) -> wire.PublishingTerms:
    return wire.PublishingTerms(
        tenant=terms.tenant,
        named=None if terms.named is None else head_answer(terms.named),
        require=terms.required.numbers,
        small_counts=state.admission.small_counts.rule,
        min_cell=state.policy.min_cell,
        require_noise=state.policy.demands_noise,
        max_epsilon=state.policy.max_epsilon,
        sign_off=terms.demands_sign_off,
        max_bytes=state.max_body_bytes,
    )
