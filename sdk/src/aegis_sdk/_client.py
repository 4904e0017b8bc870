"""The client of the service."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

import httpx
from pydantic import RootModel

from aegis_sdk._administration import Administration, AsyncAdministration, AsyncAudit, AsyncWebhooks, Audit, Webhooks
from aegis_sdk._answers import (
    ServiceFlows,
    acceptance_params,
    entry_path,
    json_bytes,
    located_id,
    read_answer,
    read_nothing,
    refuse_unique,
    required_text,
    version_params,
    without_none,
)
from aegis_sdk._data_requests import AsyncDataRequests, DataRequests
from aegis_sdk._errors import SettingsError, UnexpectedAnswerError
from aegis_sdk._flows import Awaiting, Blocking, Flow, Pages, listing, method
from aegis_sdk._sending import DEFAULT_URL, Sender, TimeLimit, checked_key, checked_url, follow, pause_before_retry
from aegis_sdk.wire import (
    Advice,
    AdviceAnswer,
    CoarseAdvice,
    EntryDocument,
    EntryHead,
    Head,
    HeadPage,
    Measure,
    MeasureList,
    Preview,
    PublishedHead,
    PublishingTerms,
    SavedSearch,
    SavedSearchList,
    Visibility,
    VisibilityPatch,
    WorthList,
)

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LONGEST_HOLD = 10.0
_SEARCHES = "/v1/searches"


class _Published(RootModel[dict[str, Any]]):
    """An entry as published."""


class ClientFlows(ServiceFlows):
    """Methods of both clients."""

    @method
    def measures(self) -> Flow[list[Measure]]:
        """The measures available for advice."""
        return (yield from self._call(MeasureList, "GET", "/v1/measures")).items

    @method
    def publishing(self, name: str | None = None) -> Flow[PublishingTerms]:
        """The requirements for entries that this caller publishes, and its entry of this name, if any.

        `ForbiddenError` if the caller may not publish.
        """
        return self._call(PublishingTerms, "GET", "/v1/publishing", params=without_none({"name": name}))

    @method
    def publish(
        self,
        entry: EntryDocument | Mapping[str, Any] | bytes,
        *,
        accept_small_counts: bool = False,
        accept_unique: bool = False,
    ) -> Flow[PublishedHead]:
        """Publish a new entry; bytes are sent unchanged. `ConflictError` if the name is taken.

        With `accept_small_counts`, exact counts of 1 to 4 are published unchanged, for everyone who may read the
        entry's counts. Without it, most services refuse them (`InvalidError` with the code `small_counts`).

        An entry that declares a configuration with more than 1 % of its records alone on all shared columns is sent
        only with `accept_unique`; otherwise `UniqueRecordsError`.
        """
        params, body = acceptance_params(accept_small_counts), json_bytes(entry)
        refuse_unique(body, accept_unique)
        return self._call(PublishedHead, "POST", "/v1/entries", body, params=params)

    @method
    def update(
        self,
        entry_id: str,
        entry: EntryDocument | Mapping[str, Any] | bytes,
        *,
        if_match: str | None = None,
        accept_small_counts: bool = False,
        accept_unique: bool = False,
    ) -> Flow[PublishedHead]:
        """Publish a new version of an entry, unless its content is the same.

        `if_match` is the `etag` of the version to replace, by default the current latest one. `accept_small_counts` and
        `accept_unique` are as in `publish`. `PreconditionFailedError` if the entry has a newer version.
        """
        body = json_bytes(entry)
        refuse_unique(body, accept_unique)
        headers = {"If-Match": if_match or (yield from self._tag(entry_id, None))}
        params = acceptance_params(accept_small_counts)
        path = entry_path(entry_id)
        return (yield from self._call(PublishedHead, "PUT", path, body, headers=headers, params=params))

    @listing
    def entries(
        self,
        query: str | None = None,
        keyword: str | None = None,
        label: str | None = None,
        *,
        attribute: str | None = None,
        license: str | None = None,  # noqa: A002 -- as documents have it
        require: Mapping[str, float] | None = None,
        unit: str | None = None,
        needs: Sequence[str] = (),
        sort: str | None = None,
    ) -> Pages[Head]:
        """All entries that the caller may see, newest first or by `sort`.

        Each word of `query` is a part of the name, the title, a keyword, or the name of a label or an attribute;
        `keyword`, `label` (any of an entry's), `attribute` and `license` are whole texts. `require` has one privacy
        criterion, promised by at least one configuration; with the `unit` `person`, of people. `needs` are attributes
        that it must all have, by name or by the URI of their concept. With `sort="worth"`, the entries come first on
        whose best table a model should do best for the `label`, by the lower end (`Head.worth`).
        """
        wanted = {"query": query, "keyword": keyword, "label": label, "attribute": attribute, "license": license}
        wanted |= {"needs": ",".join(needs) or None, "sort": sort}
        wanted["require"] = required_text(require, unit) if require else None
        return self._pages(HeadPage, "/v1/entries", wanted)

    @method
    def entry(self, entry_id: str, version: int | None = None) -> Flow[EntryHead]:
        """The head and schema of an entry, at its latest version or at the given one."""
        return self._call(EntryHead, "GET", entry_path(entry_id), params=version_params(version))

    @method
    def save_search(self, /, *, tenant: str | None = None, **search: str) -> Flow[SavedSearch]:
        """Save a search, so that the webhooks of the caller's tenant are sent `entry.found` when something matches.

        `search` has parameters of `GET /v1/entries`, as in `sort="worth", label="income", require="k=10"`; by worth,
        only what is worth more than all before is found. For administrators; operators may name another tenant.
        """
        return self._call(SavedSearch, "POST", _SEARCHES, without_none({**search, "tenant": tenant}))

    @method
    def saved_searches(self, tenant: str | None = None) -> Flow[Sequence[SavedSearch]]:
        """The saved searches of a tenant, by default the caller's own, oldest first."""
        return (yield from self._call(SavedSearchList, "GET", _SEARCHES, params=without_none({"tenant": tenant}))).items

    @method
    def delete_search(self, search_id: str) -> Flow[None]:
        """Delete a saved search."""
        read_nothing((yield from self._send("DELETE", f"{_SEARCHES}/{quote(search_id, safe='')}")))

    @method
    def worth(self, entry_id: str, version: int | None = None) -> Flow[WorthList]:
        """What a model should reach on the best tables of an entry, by label and by k."""
        return self._call(WorthList, "GET", f"{entry_path(entry_id)}/worth", params=version_params(version))

    @method
    def preview(
        self, entry_id: str, configuration: str, *, rows: int = 100, version: int | None = None
    ) -> Flow[Preview]:
        """Made-up rows that look like the table of a masked configuration, with a Data Package of its columns.

        At most 100 rows, which are always the same for a version.
        """
        params = {"configuration": configuration, "rows": str(rows), **(version_params(version) or {})}
        return self._call(Preview, "GET", f"{entry_path(entry_id)}/preview", params=params)

    @method
    def etag(self, entry_id: str, version: int | None = None) -> Flow[str]:
        """The `if_match` that allows `update` to replace, or `sign_off` to show others, only this version.

        By default, the current latest version.
        """
        return self._tag(entry_id, version)

    def _tag(self, entry_id: str, version: int | None) -> Flow[str]:
        response = yield from self._send("GET", entry_path(entry_id), params=version_params(version))
        read_answer(Head, response)  # other servers' files may have an ETag, too
        tag = response.headers.get("ETag")
        if tag is None:
            raise UnexpectedAnswerError("The service's answer has no ETag for the entry")
        return str(tag)

    @method
    def summaries(self, entry_id: str, version: int | None = None) -> Flow[dict[str, Any]]:
        """The entry as published, with its counts. For providers and reviewers of its tenant, and for operators."""
        path = entry_path(entry_id, "summaries")
        return (yield from self._call(_Published, "GET", path, params=version_params(version))).root

    @method
    def set_visibility(self, entry_id: str, visibility: Visibility) -> Flow[Head]:
        """Change who sees an entry, without a new version. `ValueError` if `visibility` is invalid."""
        patch = VisibilityPatch(visibility=visibility)
        return self._call(Head, "PATCH", entry_path(entry_id), patch)

    @method
    def sign_off(self, entry_id: str, if_match: str, version: int | None = None) -> Flow[Head]:
        """Show others a version that awaits its sign-off; `if_match` is the `etag` of the version that was read.

        For operators, and for reviewers of its tenant who did not publish it. `PreconditionFailedError` if the version
        has changed since it was read.
        """
        path, params = entry_path(entry_id, "sign-off"), version_params(version)
        return self._call(Head, "PUT", path, headers={"If-Match": if_match}, params=params)

    @method
    def delete(self, entry_id: str) -> Flow[None]:
        """Delete an entry with all its versions and advice, and free its name."""
        read_nothing((yield from self._send("DELETE", entry_path(entry_id))))

    @method
    def advise(
        self,
        entry_id: str,
        measure: str | None = None,
        *,
        label: str | None = None,
        target: str | None = None,
        version: int | None = None,
        attributes: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        require: Mapping[str, float] | None = None,
        reference: str = "pooled",
        rounding_seed: int | None = None,
        limit: int | None = 20,
        bias_correction: bool | None = None,
        kinds: Sequence[str] | None = None,
        unit: str | None = None,
        frontier: Sequence[str] | None = None,
        wait: float = 300.0,
        on_progress: Callable[[Advice | CoarseAdvice], None] | None = None,
    ) -> Flow[Advice | CoarseAdvice]:
        """Ask which configuration of an entry loses the least predictive utility, and wait for the answer.

        `AdviceRequest` documents the parameters. Providers and reviewers of the entry's tenant, and operators, get the
        full answer (`Advice`), all others the coarse one (`CoarseAdvice`).

        Args:
            measure: By default the usual one of the entry, which the answer names.
            label: The label to predict, of those that the entry lists; by default its first. Of another column, the
                answer is estimated from the counts of pairs, if the entry has them.
            target: The masking of the label to predict, if it is to be a coarser one.
            kinds: The kinds of configurations to rank, `masked` (the default) and `generated`.
            unit: `person` if what `require` names must count people.
            frontier: Two or three axes, such as `k` and `price`: the answer then has the configurations that no other
                beats on these and in utility (`Advice.frontier`).
            wait: The total number of seconds to wait.
            on_progress: Called with the unfinished advice after each poll.

        Raises:
            AdviceFailedError: The advice could not be computed.
            AdviceTimeoutError: The advice was not ready in time; the error has its id.
        """
        question = {
            "measure": measure,
            "attributes": None if attributes is None else list(attributes),
            "weights": None if weights is None else dict(weights),
            "require": None if require is None else dict(require),
            "reference": reference,
            "rounding_seed": rounding_seed,
            "limit": limit,
            "bias_correction": bias_correction,
        }
        if_given = {
            "label": label,
            "target": target,
            "kinds": None if kinds is None else list(kinds),
            "unit": unit,
            "frontier": None if frontier is None else list(frontier),
        }
        question |= {name: value for name, value in if_given.items() if value is not None}
        return self._answered(entry_id, version, question, wait, on_progress)

    def _answered(
        self,
        entry_id: str,
        version: int | None,
        question: Mapping[str, object],
        wait: float,
        on_progress: Callable[[Advice | CoarseAdvice], None] | None,
    ) -> Flow[Advice | CoarseAdvice]:
        """Ask a question, in the contract's names, and wait for its answer."""
        deadline = TimeLimit(wait)
        hold = int(max(0.0, min(wait, _LONGEST_HOLD)))  # the service waits for the result before it responds
        response = yield from self._send(
            "POST",
            entry_path(entry_id, "advice"),
            content=json_bytes(question),
            params=version_params(version),
            headers={"Prefer": f"wait={hold}" if hold else "respond-async"},
            longer=hold,
        )
        finished = response.status_code != httpx.codes.ACCEPTED
        advice = read_answer(AdviceAnswer, response).root if finished else (yield from self._look(located_id(response)))
        return (
            yield from follow(
                advice,
                lambda: self._look(advice.id),
                pause=pause_before_retry(response),
                deadline=deadline,
                on_progress=on_progress,
            )
        )

    @method
    def advice(self, advice_id: str) -> Flow[Advice | CoarseAdvice]:
        """The current state of an advice, finished or not."""
        return self._look(advice_id)

    def _look(self, advice_id: str) -> Flow[Advice | CoarseAdvice]:
        return (yield from self._call(AdviceAnswer, "GET", f"/v1/advice/{quote(advice_id, safe='')}")).root


def _settings(url: str | None, api_key: str | None, timeout: float, retries: int) -> tuple[str, dict[str, Any]]:
    """The address of the service, and the settings of the HTTP client.

    Raises:
        SettingsError: A setting is invalid.
    """
    address = checked_url(url or os.environ.get("AEGIS_URL") or DEFAULT_URL)
    key = checked_key(api_key or os.environ.get("AEGIS_API_KEY") or "")
    if retries < 0:
        raise SettingsError(f"retries must be 0 or more, not {retries}")
    # For a proxy from the environment, a loopback address would be its own machine.
    proxied = httpx.URL(address).host not in _LOOPBACK
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return address, {"headers": headers, "timeout": timeout, "trust_env": proxied}


class Client(ClientFlows, Blocking):
    """A connection to the service.

    `url` and `api_key` default to the environment variables AEGIS_URL and AEGIS_API_KEY. `timeout` is in seconds, for
    each step of a request (connecting, sending, each read). `transport` replaces the network, as in
    `aegis_sdk.testing`.

    GET calls, and POST calls, which the service carries out only once, are repeated up to `retries` times: if no
    response comes, and after 429, 502, 503 and 504. The pause is that of `Retry-After`, at most 30 s, or else a random
    one that doubles, from 0.2 s on. All pauses of a call together take at most `timeout` seconds. Other changes are
    repeated only after a refusal by the tenant's rate limit.

        with Client() as client:
            head = client.publish(Path("entry.json").read_bytes())
            advice = client.advise(head.id, "mutual_information", require={"k": 5})
            other = client.advise(head.id, "joint", label="smoker")

    `administration` has the keys, policies and quotas of tenants, `webhooks` their webhooks (for administrators and
    operators both), `requests` the data requests, and `audit` the audit log (for operators) and the keys of receipts.

    Every method raises `ProblemError` if the service refuses the call, `ServiceUnreachableError` if no response comes,
    and `UnexpectedAnswerError` if the response is not from the service. `KeyExpiresWarning` is issued if the key
    expires soon.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, own = _settings(url, api_key, timeout, retries)
        super().__init__(Sender(self.url, timeout, retries).send, httpx.Client(transport=transport, **own))
        self.administration = Administration(self._send, self._http)
        self.webhooks = Webhooks(self._send, self._http)
        self.requests = DataRequests(self._send, self._http)
        self.audit = Audit(self._send, self._http)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class AsyncClient(ClientFlows, Awaiting):
    """The same as `Client` for asynchronous programs (asyncio or Trio): every method is awaited.

        async with AsyncClient() as client:
            advice = await client.advise(entry_id, "mutual_information", require={"k": 5})
            async for head in client.entries():
                print(head.name)

    `on_progress` is called, not awaited.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 2,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url, own = _settings(url, api_key, timeout, retries)
        super().__init__(Sender(self.url, timeout, retries).send, httpx.AsyncClient(transport=transport, **own))
        self.administration = AsyncAdministration(self._send, self._http)
        self.webhooks = AsyncWebhooks(self._send, self._http)
        self.requests = AsyncDataRequests(self._send, self._http)
        self.audit = AsyncAudit(self._send, self._http)

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
