"""validate.py SCHEMA FILE...: are the JSON documents valid? Status 1 with every reason when one is not,
2 when that could not be found out (no validator, no such file): a check that cannot be made has not
passed. Needs Debian's python3-jsonschema.
"""
import json
import sys


def unique(pairs):
    """JSON says nothing of a key that comes twice; here it is an error."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key comes twice: " + str([key for key, _ in pairs]))
    return members


def valid(validator, path):
    with open(path) as file:
        text = file.read()
    try:
        document = json.loads(text, object_pairs_hook=unique)
    except ValueError as error:
        print(path + ": no JSON:", error)
        return False
    errors = list(validator.iter_errors(document))
    for error in errors:
        print("%s: %s: %s" % (path, "/".join(map(str, error.absolute_path)), error.message))
    return not errors


def main():
    try:
        import jsonschema
        with open(sys.argv[1]) as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        validator = jsonschema.Draft7Validator(schema)
        results = [valid(validator, path) for path in sys.argv[2:]]
    except Exception as error:
        print("validate.py: cannot check:", error)
        return 2
    return 0 if results and all(results) else 1


sys.exit(main())
