"""One call on Powertools' side, as a process of its own: an order on the command line, a finding on stdout.

Run by the interpreter of the environment that has Powertools; it imports nothing of Anvil.
"""

import json
import os
import signal
import sys
import urllib.request

import boto3
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    exceptions,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import STATUS_CONSTANTS, DataRecord

TABLE = "idempotency"


class Context:
    """What Lambda tells a function of the time it has left, after which its record may be taken over."""

    def __init__(self, seconds):
        self._seconds = seconds

    def get_remaining_time_in_millis(self):
        return int(self._seconds * 1000)


def main(order):
    client = boto3.client("dynamodb", endpoint_url=order["store"])
    layer = DynamoDBPersistenceLayer(table_name=TABLE, boto3_client=client)
    if order["verb"] == "call":
        return call(order, layer)
    return settle(order, layer)


def call(order, layer):
    config = IdempotencyConfig(
        event_key_jmespath="key",
        payload_validation_jmespath=order["validates"],
        expires_after_seconds=order["keep"],
    )
    config.register_lambda_context(Context(order["lease"]))
    called = []

    @idempotent_function(data_keyword_argument="event", config=config, persistence_store=layer)
    def charge(event):
        called.append(True)
        asked = urllib.request.Request(
            order["upstream"],
            data=json.dumps({"payer": event["payer"]}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            result = json.load(answer)
        if order["dies"]:
            os._exit(9)
        if order["stops"]:
            os.kill(os.getpid(), signal.SIGSTOP)
        return result

    try:
        result = charge(event={"key": order["key"], "payer": order["payer"]})
    except exceptions.IdempotencyAlreadyInProgressError:
        return {"got": "in progress"}
    except exceptions.IdempotencyValidationError:
        return {"got": "conflict"}
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what the caller got)
        return {"got": f"an error ({type(error).__name__})"}
    return {"got": "executed" if called else "replayed", "number": result["number"], "payer": result["payer"]}


def settle(order, layer):
    """The library has no verb for it; these are the calls of its persistence layer that would do it."""
    charge = "__main__.call.<locals>.charge"
    layer.configure(config=IdempotencyConfig(event_key_jmespath="key"), function_name=charge)
    key = layer._get_hashed_idempotency_key(data={"key": order["key"]})
    record = DataRecord(
        idempotency_key=key,
        status=STATUS_CONSTANTS["COMPLETED"],
        expiry_timestamp=layer._get_expiry_timestamp(),
        response_data=json.dumps({"number": 1, "payer": order["payer"]}),
    )
    try:
        layer._delete_record(record) if order["verb"] == "release" else layer._update_record(record)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what the caller got)
        return {"got": f"an error ({type(error).__name__})"}
    return {"got": "applied"}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))) + "\n")
