"""Documents held against a JSON schema, for scripts of tests."""
import json

import jsonschema


def load(path):
    schema = json.load(open(path))
    jsonschema.Draft7Validator.check_schema(schema)
    return schema


def tell(schema, what, document):
    """Prints whether the document is valid, or its first error."""
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    print("%s: %s" % (what, "valid" if not errors else errors[0].message[:90]))
