"""Signing in by the pages of the console."""


def text_of(key):
    return key["Authorization"].split()[1]


def leads_to(answer):
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


async def is_signed_in(browser):
    answer = await browser.get("/session")
    assert answer.status_code == 200 or leads_to(answer) == "/sign-in?next=%2Fsession"
    return answer.status_code == 200
