"""validate.py SCHEMA FILE: is the JSON document valid? Status 1 with every reason when it is not,
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


def main():
    try:
        import jsonschema
        with open(sys.argv[1]) as file:
            schema = json.load(file)
        with open(sys.argv[2]) as file:
            text = file.read()
        jsonschema.Draft7Validator.check_schema(schema)
    except Exception as error:
        print("validate.py: cannot check:", error)
        return 2
    try:
        document = json.loads(text, object_pairs_hook=unique)
    except ValueError as error:
        print(sys.argv[2] + ": no JSON:", error)
        return 1
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    for error in errors:
        print("%s: %s: %s" % (sys.argv[2], "/".join(map(str, error.absolute_path)), error.message))
    return 1 if errors else 0


sys.exit(main())
