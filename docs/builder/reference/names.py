"""Every public name: its signature with types, its docstring, its members."""

import dataclasses
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel

import microagg
from docs.builder.reference.docstrings import Context, Docstring, as_markdown
from microagg import orderings, partitions, requirements
from microagg.measures.measure import Risk, Utility
from microagg.studies.comparison import Row
from microagg.studies.sweep_result import Sweep

_WIDTH = 92
_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")


class Page(NamedTuple):
    """A page of the reference: its title, what it is about, and the objects on it, by name."""

    title: str
    about: str
    names: Mapping[str, Any]


def _public(*names: str) -> dict[str, Any]:
    return {name: getattr(microagg, name) for name in names}


def _estimators() -> dict[str, Any]:
    """Return the classes of all methods, in the order of the registry."""
    return {method.class_name: method.cls for method in microagg.methods().values()}


PAGES = {
    "protect.md": Page(
        "Protecting tables",
        "From a DataFrame to a release. [Tables](../guides/tables.md) explains roles and types, "
        "[requirements](../guides/requirements.md) what else can be required of groups.",
        _public("protect", "Release"),
    ),
    "files.md": Page(
        "Protecting files and datasets",
        "From file to file, or from folder to folder, larger than memory. See "
        "[files](../guides/files.md) and [datasets](../guides/datasets.md).",
        _public("protect_file", "protect_dataset"),
    ),
    "verify.md": Page(
        "Verifying",
        "Does a table satisfy what was asked of it? See [verify](../guides/verify.md).",
        _public("verify", "Verification"),
    ),
    "measure.md": Page(
        "Measuring",
        "How safe and how useful a protected table is; [figures](figures.md) defines what is "
        "measured, and [risk](risk.md) and [utility](utility.md) how.",
        _public("measure", "Measures")
        | {"Risk": Risk, "Utility": Utility}
        | _public("information_loss", "lower_bound"),
    ),
    "studies.md": Page(
        "Comparing methods and values of k",
        "Before anything is released: see [compare](../guides/compare.md) and "
        "[sweep](../guides/sweep.md).",
        _public("compare", "Comparison")
        | {"Row": Row}
        | _public("risk_utility_map", "sweep")
        | {"Sweep": Sweep},
    ),
    "plans.md": Page(
        "Plans and manifests",
        "What was asked, and what was done. Their files are described by "
        "[JSON schemas](schemas.md).",
        _public("Plan", "Manifest"),
    ),
    "transformer.md": Page(
        "The scikit-learn transformer",
        "For pipelines: see [scikit-learn](../guides/scikit-learn.md).",
        _public("Microaggregator"),
    ),
    "partitions.md": Page(
        "Methods as estimators",
        "Every method is a scikit-learn clusterer in `microagg.partitions`. The "
        "[table of methods](methods.md) compares them, and [methods](../methods/index.md) "
        "explains them.",
        _public("partitions", "methods")
        | {"get": partitions.get}
        | _public("cut_path")
        | {"Partitioner": partitions.Partitioner, "GroupRule": requirements.GroupRule}
        | _estimators(),
    ),
    "orderings.md": Page(
        "Orderings",
        "Sequences of records in which neighbours are similar, to be cut by "
        "[`cut_path`](partitions.md#cut_path).",
        _public("orderings")
        | {name: getattr(orderings, name) for name in orderings.__all__ if name != "ORDERINGS"},
    ),
}
# What examples use without importing it, as they are tested inside the package.
_IMPORTED = {
    "microagg": [name for name in microagg.__all__ if name not in ("partitions", "orderings")],
    "microagg.orderings": [name for name in orderings.__all__ if name != "get"],
    "microagg.partitions": ["Partitioner", *_estimators()],
    "microagg.requirements": requirements.__all__,
}
# Where a name is described, for links.
HOMES = {name: page for page, own in reversed(PAGES.items()) for name in own.names} | {
    "errors": "errors.md",
    "__version__": "index.md",
}


def pages() -> dict[str, str]:
    """Return the text of every page by its file."""
    return {file: "\n\n".join(_page(file, page)) + "\n" for file, page in PAGES.items()}


def _page(file: str, page: Page) -> Iterator[str]:
    yield f"# {page.title}"
    yield page.about
    for name, item in page.names.items():
        yield from described(name, item, file)


def described(name: str, item: Any, file: str) -> Iterator[str]:
    """Return the section of one name: a function, a class with its members, or a module."""
    doc = Docstring.of(item.__doc__)
    yield f"## {name} {{#{name}}}"
    parameters: Mapping[str, inspect.Parameter] = {}
    if not inspect.ismodule(item):
        found = _signature(item)
        parameters = found.parameters
        if not _is_made_elsewhere(item):
            yield signature(_qualified(name, item), found)
            doc = _with_fields(doc, item)
        elif _is_model(item):
            doc = _with_fields(doc, item, "Attributes")
    yield as_markdown(doc, _context(file, parameters, item))
    if "Attributes" not in doc.sections:
        yield from _attributes(item)
    if inspect.isclass(item):
        for member, value in members(item):
            yield from _member(f"{name}.{member}", value, file)


def _signature(item: Any) -> inspect.Signature:
    """Return a signature; that of a model has its fields, without their checks."""
    if not _is_model(item):
        return inspect.signature(item)
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=field.annotation,
                default=inspect.Parameter.empty
                if field.is_required()
                else field.get_default(call_default_factory=True),
            )
            for name, field in item.model_fields.items()
        ]
    )


def _with_fields(doc: Docstring, item: Any, section: str = "Parameters") -> Docstring:
    """Return a docstring with the fields of a model in a section, in the words of its help."""
    if not _is_model(item):
        return doc
    fields = item.model_fields.items()
    listed = "\n".join(f"{name} : {field.description}" for name, field in fields)
    return Docstring(doc.head, {section: listed, **doc.sections})


def _attributes(item: Any) -> Iterator[str]:
    """Return the attributes of a result with their types, if they are those of a dataclass."""
    if dataclasses.is_dataclass(item):
        public = [own for own in dataclasses.fields(item) if not own.name.startswith("_")]
        listed = "\n".join(f"- `{own.name}: {annotation(own.type)}`" for own in public)
        yield f"**Attributes**\n\n{listed}"


def _is_model(item: Any) -> bool:
    return inspect.isclass(item) and issubclass(item, BaseModel)


def _context(file: str, parameters: Mapping[str, inspect.Parameter], cls: Any = None) -> Context:
    return Context(
        typed=lambda name: typed(name, parameters, cls),
        link=lambda code: _link(code, file),
        complete=with_imports,
    )


def with_imports(example: str) -> str:
    """Return an example that runs on its own: names of the package are imported.

    >>> print(with_imports(">>> MDAV(k=2)"))
    >>> from microagg.partitions import MDAV
    >>> MDAV(k=2)
    """
    lines = {}
    for home, names in _IMPORTED.items():
        used = [n for n in names if re.search(rf"(?<![\w.\"']){n}(?=[(.\[])", example)]
        used = [n for n in used if not re.search(rf"import .*\b{n}\b", example)]
        if used:
            lines[home] = f">>> from {home} import {', '.join(used)}"
    if re.search(r"(?<![\w.])microagg\.", example) and "import microagg" not in example:
        lines[""] = ">>> import microagg"
    return "\n".join([*lines.values(), example])


def _is_made_elsewhere(item: Any) -> bool:
    """Whether users get objects of a class from functions, and never call it."""
    return dataclasses.is_dataclass(item) or item is microagg.Manifest


def _qualified(name: str, item: Any) -> str:
    if name in microagg.__all__:
        return f"microagg.{name}"
    home = item.__module__.split(".")
    return f"microagg.{home[1]}.{name}"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Return the public methods and properties of a class that microagg defines."""
    for name in sorted(dir(cls)):
        value = inspect.getattr_static(cls, name)
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        plain = plain.fget if isinstance(plain, property) else plain
        if name.startswith("_") or not inspect.isfunction(plain):
            continue
        if plain.__module__.startswith("microagg.") and plain.__doc__:
            yield name, value


def _member(name: str, value: Any, file: str) -> Iterator[str]:
    anchor = name.replace(".", "-").lower()
    yield f"### {name} {{#{anchor}}}"
    if isinstance(value, property):
        doc, parameters = Docstring.of(value.fget.__doc__), {}
        kind = inspect.signature(value.fget).return_annotation
        yield f"`{name}: {annotation(kind)}`"
    else:
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        found = inspect.signature(function)
        parameters = found.parameters
        kept = [own for own in parameters.values() if own.name not in ("self", "cls")]
        doc = Docstring.of(function.__doc__)
        yield signature(name, found.replace(parameters=kept))
    yield as_markdown(doc, _context(file, parameters))


def signature(name: str, found: inspect.Signature) -> str:
    """Return a signature as a block of code, on one line or with one for each parameter."""
    shown: list[str] = []
    keyword_only = False
    for own in found.parameters.values():
        if own.kind is own.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            shown.append("*")
        shown.append(typed(own.name, found.parameters))
    result = found.return_annotation
    arrow = "" if result in (found.empty, None) else f" -> {annotation(result)}"
    line = f"{name}({', '.join(shown)}){arrow}"
    if len(line) > _WIDTH:
        inside = "".join(f"    {own},\n" for own in shown)
        line = f"{name}(\n{inside}){arrow}"
    return f"```python {{.signature}}\n{line}\n```"


def typed(name: str, parameters: Mapping[str, inspect.Parameter], cls: Any = None) -> str:
    """Return a parameter or attribute with its type and default, as they are written."""
    bare = name.lstrip("*")
    if bare in parameters:
        own = parameters[bare]
        kind = "" if own.annotation is own.empty else f": {annotation(own.annotation)}"
        default = "" if own.default is own.empty else f" = {_default(own.default)}"
        if not kind:
            default = default.replace(" ", "")
        stars = {own.VAR_POSITIONAL: "*", own.VAR_KEYWORD: "**"}.get(own.kind, "")
        return f"{stars}{bare}{kind}{default}"
    hints = getattr(cls, "__annotations__", {})
    return f"{name}: {annotation(hints[bare])}" if bare in hints else name


def _default(value: Any) -> str:
    return repr(str(value) if isinstance(value, Enum) else value)


def annotation(kind: Any) -> str:
    """Return a type as it is written: without modules and checks, and arrays by their names.

    >>> from collections.abc import Iterable
    >>> annotation(Iterable[str] | None)
    'Iterable[str] | None'
    >>> annotation(dict[str, ArrayLike | None]), annotation(np.typing.NDArray[np.int64])
    ('dict[str, ArrayLike | None]', 'ndarray')
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is None or kind is type(None):
        return "None"
    if origin is Annotated:
        return annotation(parts[0])
    if origin is np.ndarray:
        return "ndarray"
    if origin in (Union, types.UnionType):
        return " | ".join(_choices(parts))
    if origin in (None, Literal):
        return _MODULES.sub("", inspect.formatannotation(kind)).replace("'", "")
    return f"{getattr(kind, '__name__', None) or origin.__name__}[{', '.join(map(_part, parts))}]"


def _choices(kinds: tuple[Any, ...]) -> Iterator[str]:
    """Return the parts of a union; those that are what NumPy takes for an array are one."""
    arrays = get_args(ArrayLike)
    if set(arrays) <= set(kinds):
        yield "ArrayLike"
        kinds = tuple(kind for kind in kinds if kind not in arrays)
    yield from map(annotation, kinds)


def _part(kind: Any) -> str:
    if kind is Ellipsis:
        return "..."
    return f"[{', '.join(map(annotation, kind))}]" if isinstance(kind, list) else annotation(kind)


def _link(code: str, file: str) -> str:
    """Return a name in backticks, with a link if the reference has it on another page."""
    name = code.strip("`").removeprefix("microagg.").removesuffix("()")
    home = HOMES.get(name)
    if home is None or name not in microagg.__all__ or name == "methods":
        return code
    where = "" if home == file else home
    anchor = "" if home in ("index.md", "errors.md") else f"#{name}"
    return f"[{code}]({where}{anchor})"
