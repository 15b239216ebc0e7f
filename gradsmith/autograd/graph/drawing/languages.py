"""A picture in the languages that other programs draw from, and as plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradsmith.autograd.graph.drawing.picture import Arrow, Kind, Picture

_DOT_STYLES = {
    Kind.OUTPUT: 'shape=box, style="rounded,filled", fillcolor="#fef0c7", color="#b54708"',
    Kind.OP: 'shape=box, style="filled", fillcolor="#f2f4f7", color="#667085"',
    Kind.LEAF: 'shape=box, style="rounded,filled", fillcolor="#dbeafe", color="#2563eb"',
    Kind.REST: 'shape=box, style="dashed", color="#667085"',
}
_MERMAID_STYLES = {
    Kind.OUTPUT: "fill:#fef0c7,stroke:#b54708,color:#101828",
    Kind.OP: "fill:#f2f4f7,stroke:#667085,color:#101828",
    Kind.LEAF: "fill:#dbeafe,stroke:#2563eb,color:#101828",
    Kind.REST: "fill:#ffffff,stroke:#667085,color:#101828,stroke-dasharray:4",
}


# ---- DOT, of Graphviz


def dot(picture: Picture) -> str:
    lines = [
        "digraph gradients {",
        '  node [fontname="sans-serif", fontsize=11, height=0.3]',
        '  edge [fontname="sans-serif", fontsize=9, color="#667085", arrowsize=0.7]',
    ]
    if picture.note:
        lines.append(f'  label={_dot_text([picture.note])}; labelloc=t; fontname="sans-serif"; fontsize=11')
    lines += [f"  n{n} [label={_dot_text(box.lines)}, {_DOT_STYLES[box.kind]}]" for n, box in enumerate(picture.boxes)]
    for arrow in picture.arrows:
        label = f" [label={_dot_text([arrow.label])}]" if arrow.label else ""
        lines.append(f"  n{arrow.start} -> n{arrow.end}{label}")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(lines: tuple[str, ...] | list[str]) -> str:
    r"""A quoted string of DOT. Of a backslash and a letter it would make something else: ``\N`` is a node's name."""
    escaped = [_one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'


# ---- Mermaid


def mermaid(picture: Picture) -> str:
    lines = ["flowchart TD"]
    for n, box in enumerate(picture.boxes):
        left, right = ("(", ")") if box.kind in (Kind.LEAF, Kind.OUTPUT) else ("[", "]")
        lines.append(f'  n{n}{left}"{_mermaid_text(box.lines)}"{right}:::{box.kind.value}')
    if picture.note:
        lines.append(f'  note["{_mermaid_text((picture.note,))}"]:::{Kind.REST.value}')
    for arrow in picture.arrows:
        label = f'|"{_mermaid_text((arrow.label,))}"|' if arrow.label else ""
        lines.append(f"  n{arrow.start} -->{label} n{arrow.end}")
    lines += [f"  classDef {kind.value} {style}" for kind, style in _MERMAID_STYLES.items()]
    return "\n".join(lines) + "\n"


def _mermaid_text(lines: tuple[str, ...]) -> str:
    """Characters that Mermaid, Markdown or HTML give a meaning become numbers, as Mermaid writes them."""
    return "<br/>".join("".join(map(_mermaid_character, _one_line(line))) for line in lines)


def _mermaid_character(character: str) -> str:
    return f"#{ord(character)};" if character in "#;&<>\"'`*_\\[](){}|~" else character


# ---- text


def text(picture: Picture) -> str:
    """A tree for terminals: what has one follower stands above it, and several are its branches."""
    lines = list(_tree(picture))
    return "\n".join([*lines, picture.note] if picture.note else lines)


def _tree(picture: Picture) -> Iterator[str]:
    below: dict[int, Counter[Arrow]] = {n: Counter() for n in range(len(picture.boxes))}
    for arrow in picture.arrows:
        below[arrow.start][arrow] += 1
    reached = {arrow.end for arrow in picture.arrows}
    seen: set[int] = set()
    waiting = [(n, "", "", "") for n in reversed(range(len(picture.boxes))) if n not in reached]
    while waiting:
        number, first, indent, remark = waiting.pop()
        name, *facts = map(_one_line, picture.boxes[number].lines)
        again = ", as above" if number in seen and below[number] else ""
        yield f"{first}{name} {', '.join(facts)}".rstrip() + remark + again
        if number not in seen:
            seen.add(number)
            waiting += reversed(list(_branches(below[number], indent)))


def _branches(arrows: Counter[Arrow], indent: str) -> Iterator[tuple[int, str, str, str]]:
    """(box, text before it, text before what is below it, remark) of each follower."""
    for place, (arrow, count) in enumerate(arrows.items(), start=1):
        remark = (f", {arrow.label}" if arrow.label else "") + (f", {count} times" if count > 1 else "")
        if len(arrows) == 1:
            yield arrow.end, indent, indent, remark
        elif place < len(arrows):
            yield arrow.end, f"{indent}├─ ", f"{indent}│  ", remark
        else:
            yield arrow.end, f"{indent}╰─ ", f"{indent}   ", remark


def _one_line(line: str) -> str:
    return " ".join(line.split())
