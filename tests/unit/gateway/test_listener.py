"""The address of a gateway, and the checks before it starts."""

from __future__ import annotations

import pytest

from matchrec.errors import MatchRecognizePlanError
from matchrec.gateway.listener import Listener


@pytest.mark.parametrize("token", ["", " ", "two words", "line\n", "schlüssel"])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_that_protects_nothing_or_cannot_be_sent(host: str, token: str) -> None:
    with pytest.raises(MatchRecognizePlanError) as raised:
        Listener(host, token=token).check()
    assert raised.value.code == "token-not-allowed"


def test_other_machines_need_a_token() -> None:
    Listener("0.0.0.0", token="a-B_c~1!=").check()
    Listener("0.0.0.0", allow_anyone=True).check()
    Listener("127.0.0.1").check()
    with pytest.raises(MatchRecognizePlanError, match="without a token is not allowed"):
        Listener("0.0.0.0").check()
