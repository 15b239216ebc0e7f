"""The JSON Schema knows the keys that the generator knows, and takes the table."""

import json
from pathlib import Path

import yaml

from codegen.entries import reader
from codegen.write.json_schema import KEYS, table_schema

ROOT = Path(__file__).parents[3]


def test_every_key_is_described() -> None:
    assert set(KEYS) == set(reader.KEYS)


def test_shapes_of_values_are_those_of_the_table() -> None:
    properties = json.loads(table_schema())["$defs"]["entry"]["properties"]
    table = yaml.safe_load((ROOT / "derivatives.yaml").read_text(encoding="utf-8"))
    for entry in (entry for family in table.values() for entry in family):
        for key, value in entry.items():
            assert fits(value, properties.get(key, {"type": "string"})), (entry["name"], key)


def fits(value: object, shape: dict) -> bool:
    """As much of JSON Schema as the schema uses."""
    if "anyOf" in shape:
        return any(fits(value, part) for part in shape["anyOf"])
    if "enum" in shape and value not in shape["enum"]:
        return False
    kinds = {"string": str, "boolean": bool, "array": list, "object": dict}
    wanted = shape.get("type", list(kinds))
    if not any(isinstance(value, kinds[kind]) for kind in ([wanted] if isinstance(wanted, str) else wanted)):
        return False
    return not isinstance(value, list) or all(fits(item, shape.get("items", {})) for item in value)


def test_the_table_names_its_schema() -> None:
    first = (ROOT / "derivatives.yaml").read_text(encoding="utf-8").splitlines()[0]
    path = first.partition("$schema=")[2]
    assert (ROOT / path).read_text(encoding="utf-8") == table_schema()
