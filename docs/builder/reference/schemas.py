"""JSON schemas of plans and manifests, to download, and their fields as tables."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import microagg
from docs.builder.reference.docstrings import Docstring
from microagg.plans.manifest import SCHEMA_VERSION
from microagg.plans.plan import ALIASES

_MODELS = {"plan": microagg.Plan, "manifest": microagg.Manifest}
_ABOUT = {
    "plan": "What was asked: a plan file (TOML), `Plan.as_dict()`, or the entry `plan` of a "
    "manifest. [Plans](../guides/plan.md) shows how to write one. Only `k` is required.",
    "manifest": "What was done: the JSON file beside a released table, `Manifest.as_dict()`, or "
    f"what `microagg protect --json` prints. This is schema version {SCHEMA_VERSION}; "
    "`Manifest.load` reads all earlier ones, too.",
}


def pages() -> dict[str, str]:
    """Return the page of schemas, and the schemas."""
    schemas = {name: schema(model) for name, model in _MODELS.items()}
    files = {
        f"{name}.schema.json": json.dumps(found, indent=2, ensure_ascii=False) + "\n"
        for name, found in schemas.items()
    }
    return {"schemas.md": "\n\n".join(_page(schemas)) + "\n"} | files


def schema(model: Any) -> dict[str, Any]:
    """Return the schema of a model as files of it are: without what only the command line needs."""
    found = _plain(model.model_json_schema())
    plan = found if model is microagg.Plan else found["$defs"]["Plan"]
    for alias, name in ALIASES.items():
        meaning = f"Another name for {name}, in plan files."
        plan["properties"][alias] = {**plan["properties"][name], "description": meaning}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def _plain(node: Any) -> Any:
    """Return a schema without examples, and without what options have for the command line."""
    if isinstance(node, dict):
        if isinstance(text := node.get("description"), str):
            node = {**node, "description": " ".join(Docstring.of(text).head.split())}
        if "flag" in node and "metavar" in node:
            unused = ("flag", "metavar", "section", "studies", "kind")
            node = {key: value for key, value in node.items() if key not in unused}
        return {key: _plain(value) for key, value in node.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node


def _page(schemas: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    yield "# JSON schemas"
    yield (
        "Other programs can check plans and manifests against these schemas:\n\n"
        + "\n".join(f"- [`{name}.schema.json`]({name}.schema.json)" for name in schemas)
    )
    yield (
        "```python\nimport microagg\n\n"
        "microagg.Plan.model_json_schema()[\"required\"]  # ['k']\n"
        'microagg.Manifest.model_json_schema()["properties"].keys()\n```'
    )
    for name, found in schemas.items():
        yield f"## {name.capitalize()} {{#{name}}}"
        yield _ABOUT[name]
        yield _table(found)
        for part, own in sorted(found.get("$defs", {}).items()):
            if part == "Plan" or (name == "manifest" and part in schemas["plan"].get("$defs", {})):
                continue  # a plan is described above
            yield f"### {part} {{#{name}-{part.lower()}}}"
            yield _words(own.get("description", ""))
            yield _table(own) if "properties" in own else _choices(own)


def _table(found: Mapping[str, Any]) -> str:
    required = set(found.get("required", ()))
    rows = [
        f"| `{key}` | {_type(own)} | {_default(key, own, required)} | "
        f"{_words(own.get('description', ''))} |"
        for key, own in found["properties"].items()
    ]
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])


def _choices(found: Mapping[str, Any]) -> str:
    return "One of " + ", ".join(f"`{json.dumps(own)}`" for own in found.get("enum", ())) + "."


def _default(key: str, own: Mapping[str, Any], required: set[str]) -> str:
    if "default" in own:
        return f"`{json.dumps(own['default'], ensure_ascii=False)}`"
    return "required" if key in required else ""


def _type(own: Mapping[str, Any]) -> str:
    """Return the type of an entry in a few words."""
    if "$ref" in own:
        return own["$ref"].rpartition("/")[2]
    if "const" in own:
        return f"`{json.dumps(own['const'])}`"
    if "anyOf" in own:
        return " or ".join(dict.fromkeys(_type(choice) for choice in own["anyOf"]))
    kind = own.get("type", "any")
    if kind == "array" and "items" in own:
        items = _type(own["items"])
        return f"array of ({items})" if " or " in items else f"array of {items}"
    if kind == "object" and isinstance(own.get("additionalProperties"), dict):
        return f"object of {_type(own['additionalProperties'])}"
    return str(kind)


def _words(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
