"""What tests change of a dissection: run.sh lets their scripts import it."""


def named(things, name):
    return next(one for one in things if one["id"] == name)


def cache(root, name):
    return named(root["caches"], name)


def tlb(root, name):
    return named(root["tlbs"], name)


def put(value, unit="1"):
    """An attribute that was measured."""
    return {"value": value, "unit": unit, "confidence": 0.95, "evidence": "l2.1"}


def missing(owner, *keys):
    for key in keys:
        owner[key] = {"status": "not measured", "reason": "the test's"}
