"""What schemathesis cannot guess: addresses, ids and cursors that the chain under test has."""

import json
import os
import random
import re

import schemathesis
from hypothesis import strategies as st

with open(os.environ["KASGRES_KNOWN"], encoding="utf8") as file:
    KNOWN = json.load(file)

# An address has a checksum: texts made up at random are never any.
schemathesis.openapi.format("kaspa-address", st.sampled_from(KNOWN["addresses"]))
schemathesis.openapi.format(
    "kaspa-holder",
    st.builds("{}:{}".format, st.integers(0, 10**18), st.sampled_from(KNOWN["addresses"])),
)

# Ids have a form that is easily met, and never by an id that exists: by parameter or field, what to put in its place.
IDS = {
    "hash": "blocks",
    "startHash": "blocks",
    "lowHash": "blocks",
    "transactionId": "transactions",
    "transactionIds": "transactions",
    "covenantId": "covenants",
    "covenantIds": "covenants",
    "template": "templates",
    "start": "daaScores",
    "end": "daaScores",
    "daaScores": "daaScores",
}

# A cursor is the id of an item of its listing.
CURSORS = {
    "/v1/blocks": "blocks",
    "/v1/transactions": "transactions",
    "/v1/addresses/{address}/transactions": "transactions",
    "/v1/addresses/{address}/utxos": "utxos",
    "/v1/addresses/{address}/covenants": "covenants",
    "/v1/covenants": "positions",
    "/v1/covenants/{covenantId}/utxos": "covenantUtxos",
    "/v1/covenants/{covenantId}/events": "events",
    "/v1/covenant-events": "events",
    "/v1/templates": "templates",
    "/v1/templates/{hash}/covenants": "positions",
}

FORM = re.compile(r"(\d{1,15}:)?(0x)?[0-9a-fA-F]{64}(:\d+|:(0x)?[0-9a-fA-F]{64})?|\d{1,20}")
RANDOM = random.Random(0)


def exchange(value, source):
    """Every second value of the right form; what is wrong on purpose stays."""
    if isinstance(value, list):
        return [exchange(item, source) for item in value]
    if isinstance(value, str) and KNOWN[source] and FORM.fullmatch(value) and RANDOM.random() < 0.5:
        return RANDOM.choice(KNOWN[source])
    return value


def fill(context, values):
    if not isinstance(values, dict):
        return values
    path = context.operation.path
    # Hashes of paths are those of blocks, unless the path says otherwise.
    hashes = next((kind for kind in ("programs", "templates") if path.startswith(f"/v1/{kind}/")), "blocks")
    filled = dict(values)
    for name, value in values.items():
        source = CURSORS.get(path) if name in ("starting_after", "ending_before") else IDS.get(name)
        if name == "hash":
            source = hashes
        if source is not None:
            filled[name] = exchange(value, source)
    return filled


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return fill(context, path_parameters)


@schemathesis.hook
def map_query(context, query):
    return fill(context, query)


@schemathesis.hook
def map_body(context, body):
    return fill(context, body)
