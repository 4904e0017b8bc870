"""All pages of the console in all states: their addresses, viewers and texts."""

from dataclasses import dataclass
from typing import Any

from tests.app.console.publishing import large_counts
from tests.browser.reaching import (
    FAULTY,
    VOUCHED_TOO_LITTLE,
    Reach,
    folded,
    forged,
    give_latest_version,
    give_next_version,
    giving,
    make_key,
    make_key_twice,
    pressing,
    raw_table,
    replace_key,
    request_in_vain,
    send_table,
    show_to_no_name,
)
from tests.browser.world import hostile, survey


@dataclass(frozen=True)
class State:
    """A page in a state.

    Attributes:
        name: its name for people.
        path: its address, with `{NAME}` for an id of the world.
        says: a text of the page in this state.
        who: its viewer, by a key; `nobody` has none.
        reach: the actions that lead to the state.
        status: the status of the response at `path`.
        then: another status that follows.
        is_main: whether it is the page's main state; every page has one.
        scripts: whether the browser runs scripts.
    """

    name: str
    path: str
    says: str
    who: str = "provider"
    reach: Reach | None = None
    status: int = 200
    then: int = 200
    is_main: bool = False
    scripts: bool = True


def main(name: str, path: str, says: str, who: str = "provider", reach: Reach | None = None, **more: Any) -> State:
    """The main state of a page."""
    return State(name, path, says, who, reach, is_main=True, **more)


#: The states of a full service with keys.
STATES = (
    # Signing in
    main("signing in", "/sign-in", "API key", "nobody"),
    State(
        "a wrong key",
        "/sign-in",
        "unknown, expired or revoked",
        "nobody",
        pressing("Sign in", **{"API key": "x"}),
        then=401,
    ),
    main("a session", "/session", "Sign out in all browsers"),
    State("an operator's session", "/session", "operator", "operator"),
    main("the glossary", "/glossary", "Glossary"),
    # The catalogue
    main("the catalogue", "/", "Predicts"),
    State("a consumer's catalogue", "/", "Predicts", "consumer"),
    State("a search in vain", "/?query=nothing-is-like-this", "No visible entry matches"),
    State("a search for privacy", "/?criterion=k&limit=5", "survey"),
    State("a wrong search", "/?criterion=k&limit=many", "Correct the marked fields", status=422),
    State("a wrong page", "/?page_token=none", "Show the first page", status=422),
    # Entries
    main("an own entry", "/entries/{entry}", "See the counts"),
    State("another's entry", "/entries/{entry}", "What it offers", "consumer"),
    State("an older version", "/entries/{old}?version=1", "not the latest"),
    State("an entry of generated tables", "/entries/{mixed}", "generated"),
    State("an entry with several labels", "/entries/{labels}", "Or, if asked"),
    State("an entry of many attributes", "/entries/{wide}", "Go to attribute"),
    State("further attributes and configurations", "/entries/{wide}?attributes=2&configurations=2", "attribute 30"),
    State("a hostile entry", "/entries/{hostile}", "<script>alert(1)</script>"),
    State("a hostile catalogue", "/?query=hostile", "<script>alert(1)</script>"),
    State("an entry to sign off", "/entries/{unsigned}", "Sign version 1 off", "ward's reviewer"),
    State("an entry that awaits its sign-off", "/entries/{unsigned}", "awaits sign-off", "ward's provider"),
    State("a preview", "/entries/{entry}?preview=c0", "Preview of c0", "consumer"),
    State("a hostile preview", "/entries/{hostile}?preview=c01{HOSTILE}", "alert(1)"),
    State("a preview of many attributes", "/entries/{wide}?preview=c39", "Preview of c39"),
    State("an entry of many, masked", "/entries/{wide}", "What the counts disclose", "consumer"),
    main("an attribute", "/entries/{entry}/attribute?name=age", "age-2"),
    State("an attribute that is not there", "/entries/{entry}/attribute?name=none", "404", status=404),
    State("a hostile attribute", "/entries/{hostile}/attribute?name={HOSTILE}", "alert(1)"),
    main("a configuration", "/entries/{entry}/configuration?place=0", "age-2"),
    State("a configuration of many attributes", "/entries/{wide}/configuration?place=39", "attribute 0"),
    State("a hostile configuration", "/entries/{hostile}/configuration?place=0", "alert(1)"),
    main("counts of a masking", "/entries/{entry}/counts?attribute=age&masking=age-2", "Records by value and class"),
    State("counts of the label", "/entries/{entry}/counts", "Show its counts"),
    State("counts of an attribute", "/entries/{entry}/counts?attribute=age", "unmasked"),
    State("hostile counts", "/entries/{hostile}/counts?attribute={HOSTILE}", "alert(1)"),
    main("who sees an entry", "/entries/{entry}/visibility", "Who else"),
    State("nobody who sees an entry", "/entries/{old}/visibility", "(line 1)", reach=show_to_no_name, then=422),
    main("an entry to delete", "/entries/{entry}/delete", "This cannot be undone"),
    # Advice
    main("a question", "/entries/{entry}/ask", "left for your tenant", "consumer"),
    State("a question without a budget", "/entries/{entry}/ask", "Only ticked attributes are scored"),
    State("a question on many attributes", "/entries/{wide}/ask", "Leave this empty to score all of them"),
    State("a question about one of several labels", "/entries/{labels}/ask?label=smoker", "never the label itself"),
    State("a question on generated tables", "/entries/{mixed}/ask", "Rank generated tables, too"),
    State("a hostile question", "/entries/{hostile}/ask", "alert(1)"),
    State(
        "a wrong question",
        "/entries/{entry}/ask",
        "give a number, such as 10",
        reach=pressing("Ask", **{"k, at least": "many"}),
        then=422,
    ),
    State(
        "a question too many",
        "/entries/{entry}/ask",
        "questions",
        "ward's consumer",
        pressing("Ask", **{"k, at least": "3"}),
        then=429,
    ),
    main("a coarse answer", "/advice/{coarse}", "What each", "consumer"),
    State("a full answer", "/advice/{full}", "What each"),
    main("two configurations side by side", "/advice/{full}?second=c3", "Facts"),
    State("two configurations as consumers see them", "/advice/{coarse}?second=c3", "Facts", "consumer"),
    State("an unknown configuration", "/advice/{full}?second=none", "The ranking has no configuration"),
    State("an answer about another label", "/advice/{labels_advice}", "About charges, one of 3 labels", "consumer"),
    State("an answer across k", "/advice/{full}?across=k", "c3"),
    State("an old answer", "/advice/{stale}", "The entry has a newer version", "consumer"),
    State("a long answer", "/advice/{wide_advice}?start=25", "First page"),
    State("an answer on generated tables", "/advice/{mixed_advice}", "g1", "consumer"),
    State("a hostile answer", "/advice/{hostile_advice}", "alert(1)", "consumer"),
    # Publishing
    main("publishing", "/publish", "How to get an entry file"),
    main("a check", "/publish", "FAIL", reach=giving(survey(name="checked"))),
    State("a check that passes", "/publish", "Content of the file", reach=giving(large_counts(name="checked"))),
    State("a check of hostile texts", "/publish", "alert(1)", reach=giving(hostile(name="checked"))),
    main("a faulty file", "/publish", "was refused, and nothing was stored", reach=giving(FAULTY), then=422),
    State("a file of another kind", "/publish", "This file is not an entry file", reach=raw_table),
    State("a table that was sent", "/publish", "This is not an entry file", reach=send_table, then=415, scripts=False),
    State(
        "too little privacy",
        "/publish",
        "which a policy requires here",
        "ward's provider",
        giving(VOUCHED_TOO_LITTLE),
    ),
    State("a new version", "/publish?version_of={old}", "Publish a new version of"),
    State(
        "a check of a new version",
        "/publish?version_of={old}",
        "This file becomes its version 3",
        reach=give_next_version,
    ),
    State(
        "a check of what is published",
        "/publish?version_of={old}",
        "There is nothing to publish",
        reach=give_latest_version,
    ),
    State("nobody who may publish", "/publish", "Only providers and operators may publish", "consumer", status=403),
    # Requests
    main("requests", "/requests", "asks"),
    State("requests in vain", "/requests?state=failed", "No visible request matches"),
    State("requests of a side", "/requests?side=consumer", "asks", "consumer"),
    State("no entry to request", "/requests/new", "Choose a table", "consumer"),
    main("a new request", "/requests/new?entry={entry}", "We accept these terms", "consumer"),
    State("a new request by an advice", "/requests/new?advice={coarse}", "We accept these terms", "consumer"),
    State("a hostile new request", "/requests/new?entry={hostile}", "alert(1)", "consumer"),
    State(
        "a wrong request",
        "/requests/new?entry={entry}",
        "give a number, such as 10",
        "consumer",
        request_in_vain,
        then=422,
    ),
    main("an advised request", "/requests/{advised}", "You agree to hand over"),
    State("an advised request of the consumer", "/requests/{advised}", "Withdraw", "consumer"),
    State(
        "a decline without a reason",
        "/requests/{advised}",
        "Why",
        reach=folded("Decline", "Decline", Why=" "),
        then=422,
    ),
    State(
        "an offer of nothing",
        "/requests/{advised}",
        "is not in the ranking",
        reach=folded("Offer another", "Offer", Configuration="none"),
        then=422,
    ),
    State("an approved request", "/requests/{approved}", "aegis requests fulfil"),
    State("an approved request of the consumer", "/requests/{approved}", "Withdraw", "consumer"),
    State("a countered request", "/requests/{countered}", "Counter-offer"),
    State("a countered request of the consumer", "/requests/{countered}", "Accept", "consumer"),
    main("a delivered request", "/requests/{delivered}", "aegis receive", "consumer"),
    State("a delivered request of the provider", "/requests/{delivered}", "Privacy in the delivered file"),
    main("a received request", "/requests/{received}", "none differ", "consumer"),
    State("a disputed request", "/requests/{disputed}", "Counts that differ"),
    State("a disputed request of the consumer", "/requests/{disputed}", "alert(1)", "consumer"),
    State("a declined request", "/requests/{declined}", "Not for this purpose"),
    State("a withdrawn request", "/requests/{withdrawn}", "withdrawn"),
    State("an expired request", "/requests/{forgotten}", "Nobody acted for 30 days"),
    State("an ended request", "/requests/{ended}", "Both have left", "operator"),
    # The operator
    main("the overview", "/operator", "Jobs by lane", "operator"),
    State("an administrator's overview", "/operator", "Overview", "administrator"),
    main("tenants", "/operator/tenants", "clinic", "operator"),
    State("more tenants", "/operator/tenants?after=zzz", "There are no more tenants", "operator"),
    main("a tenant", "/operator/tenant?name={ward}", "https://ward.example/hook", "operator"),
    State("a new tenant", "/operator/tenant?name=nobody-yet", "This tenant may not exist yet", "operator"),
    State("a changed tenant", "/operator/tenant?name={ward}&saved=quota", "The quota is set", "operator"),
    State("an administrator's tenant", "/operator/tenant", "Quota and current usage", "administrator"),
    State(
        "a wrong policy",
        "/operator/tenant?name={ward}",
        "k, at least",
        "operator",
        pressing("Set the policy", **{"k, at least": "many"}),
        then=422,
    ),
    State("a forged form", "/operator/tenant?name={ward}", "403", "operator", forged, then=403),
    main("keys", "/operator/keys", "Last used", "operator"),
    State("keys of a tenant", "/operator/keys?tenant={ward}", "replaced by", "operator"),
    State("an administrator's keys", "/operator/keys", "Last used", "administrator"),
    main("a key", "/operator/keys/{successor}", "Replace the key", "operator"),
    State("a replaced key", "/operator/keys/{replaced}", "Replaced by", "operator"),
    State("a revoked key", "/operator/keys/{revoked}", "revoked", "operator"),
    main("a key to revoke", "/operator/keys/{successor}/revoke", "this cannot be undone", "operator"),
    State("a revoked key to revoke", "/operator/keys/{revoked}/revoke", "It is already revoked", "operator"),
    main("a key to make", "/operator/keys/new", "The next page shows the key", "operator"),
    main("a new key", "/operator/keys/new", "export AEGIS_API_KEY=", "operator", make_key, then=201),
    State(
        "a key that was made before",
        "/operator/keys/new",
        "This key was already created",
        "operator",
        make_key_twice,
        then=201,
    ),
    State("a successor", "/operator/keys", "Replaces", "operator", replace_key, then=201),
    State(
        "a wrong key to make",
        "/operator/keys/new",
        "Create a key",
        "operator",
        pressing("Create the key", **{"Days until it expires": "many"}),
        then=422,
    ),
    main("the audit log", "/operator/audit", "Records, newest first", "operator"),
    State(
        "an audit log in vain",
        "/operator/audit?entry=00000000-0000-0000-0000-000000000000",
        "No record matches",
        "operator",
    ),
    State("a wrong search of the audit log", "/operator/audit?entry=none", "422", "operator", status=422),
    main("the check of the audit log", "/operator/audit/check", "The log is intact", "operator"),
    main("questions", "/operator/questions", "Distinct questions, newest first", "operator"),
    State("questions in vain", "/operator/questions?tenant=nobody", "No question matches", "operator"),
    main("settings", "/operator/settings", "Settings of the service", "operator"),
    # Errors
    main("nothing", "/entries/none", "404", status=404),
    State("a wrong version", "/entries/{entry}?version=none", "422", status=422),
    State("what others may do", "/operator/audit", "403", "consumer", status=403),
)

#: The states of an empty service in development mode without a worker.
NOTHING = (
    main("an empty catalogue", "/", "There are no entries yet"),
    State("no requests", "/requests", "There are no requests yet"),
    State("publishing in development mode", "/publish", "No file at hand?"),
    State("no tenants", "/operator/tenants", "There are no tenants yet"),
    State("no keys", "/operator/keys", "There are no keys here"),
    State("the first key", "/operator/keys/new", "This will be the first key"),
    State("no workers", "/operator", "No worker has sent a heartbeat"),
    State("an empty audit log", "/operator/audit", "Nothing has been done yet"),
    State("the check of an empty audit log", "/operator/audit/check", "There are no records yet"),
    State("no questions", "/operator/questions", "There are no questions yet"),
    State("a session in development mode", "/session", "Development mode needs no sign-in"),
    State("a quota in development mode", "/operator/tenant", "In development mode"),
)
