"""Answers a JSON list of vault questions on stdin with a JSON list on stdout."""
import base64
import json
import sys

from ansible.parsing.vault import VaultLib, VaultSecret


def answer(case):
    secret = VaultSecret(base64.b64decode(case["password"]))
    vault = VaultLib([(case["label"], secret)])
    data = base64.b64decode(case["data"])
    if case["action"] == "encrypt":
        return vault.encrypt(data, secret, vault_id=case["label"])
    return vault.decrypt(data)


def attempt(case):
    try:
        return {"data": base64.b64encode(bytes(answer(case))).decode()}
    except Exception as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}


json.dump([attempt(case) for case in json.load(sys.stdin)], sys.stdout)
