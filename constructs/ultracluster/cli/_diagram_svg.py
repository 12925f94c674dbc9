"""Draw stacks as SVG: the same values give the same bytes. Pure Python."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH = 960
_MARGIN = 20
_PADDING = 16
_HEAD = 164
_GAP = 14
_COLUMNS = 3
_BADGE = 22
_LINE = 15
# Mean width of a character, as a share of the size of the font: system fonts differ by a few percent.
_TEXT = 0.54
_NODE = 9
_NODE_GAP = 3
_MOST_NODES = 128

_GLYPHS = {
    # Shapes of a badge of 22 pixels, drawn in white.
    "compute": '<path d="M7 7h8v8H7zM9.5 4v3M12.5 4v3M9.5 15v3M12.5 15v3M4 9.5h3M4 12.5h3M15 9.5h3M15 12.5h3"/>',
    "storage": '<path d="M5 7c0-3 12-3 12 0s-12 3-12 0v8c0 3 12 3 12 0V7M5 11c0 3 12 3 12 0"/>',
    "network": '<path d="M11 4v5M6 18v-4h10v4M11 9v5"/><circle cx="11" cy="5" r="2"/>'
    '<circle cx="6" cy="17" r="2"/><circle cx="16" cy="17" r="2"/>',
    "monitoring": '<path d="M4 13h3l2-7 4 11 2-6h3"/>',
    "security": '<path d="M7 10V8a4 4 0 0 1 8 0v2M6 10h10v7H6z"/>',
}
_COLORS = {
    "compute": "#d86613",
    "storage": "#5a8a1f",
    "network": "#7d4fd1",
    "monitoring": "#c7417b",
    "security": "#c43b46",
}
_STYLE = """
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:12px;fill:#1f2933}
.page{fill:#ffffff}.box{fill:#f6f8fa;stroke:#d0d7de}.head{font-size:16px;font-weight:600}
.title{font-weight:600}.detail{fill:#57606a;font-size:11px}.name{font-size:20px;font-weight:600}
.node{fill:#d86613}.idle{fill:none;stroke:#d86613}.rule{stroke:#d0d7de}
.glyph{fill:none;stroke:#ffffff;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.box{fill:#161b22;stroke:#30363d}
.detail{fill:#9198a1}.node{fill:#f0883e}.idle{stroke:#f0883e}.rule{stroke:#30363d}}
""".strip()


@dataclass(frozen=True, kw_only=True)
class Item:
    """Resource, or several of one type."""

    category: str
    title: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class NodeItem:
    """Node group: `least` to `most` instances of a type."""

    title: str
    type: str
    least: int
    most: int
    gpus: int
    efa: int
    option: str


@dataclass(frozen=True, kw_only=True)
class StackBox:
    """Stack with its resources, the names of the stacks it refers to, and a line with all that is not drawn."""

    title: str
    uses: tuple[str, ...]
    nodes: tuple[NodeItem, ...]
    items: tuple[Item, ...]
    rest: str


def draw(title: str, subtitle: str, stacks: Sequence[StackBox]) -> str:
    """SVG of the stacks, those that others refer to below them."""
    body, y = [], 84
    for stack in stacks:
        height, parts = _stack(stack, y)
        body += parts
        y += height + _GAP
    height = y + 6
    label = escape(f"{title}: {', '.join(stack.title for stack in stacks)}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'role="img" aria-label="{label}">',
            f"<style>{_STYLE}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="10"/>',
            _text(_MARGIN, 36, title, "name"),
            _text(_MARGIN, 58, subtitle, "detail"),
            *body,
            "</svg>\n",
        ]
    )


def _stack(stack: StackBox, top: int) -> tuple[int, list[str]]:
    left = _MARGIN + _HEAD
    inner = WIDTH - _MARGIN - _PADDING - left
    y = top + _PADDING
    parts: list[str] = []
    for node in stack.nodes:
        height, drawn = _nodes(node, left, y, inner)
        parts += drawn
        y += height + 10
    column = inner / _COLUMNS
    for row in _rows(stack.items):
        heights = []
        for index, item in enumerate(row):
            height, drawn = _item(item, left + index * column, y, column - 12)
            parts += drawn
            heights.append(height)
        y += max(heights) + 8
    if stack.rest:
        lines = textwrap.wrap(f"and {stack.rest}", _fit(inner), break_long_words=False)
        for line in lines:
            parts.append(_text(left, y + 11, line, "detail"))
            y += _LINE
        y += 2
    uses = textwrap.wrap(f"uses {', '.join(stack.uses)}", _fit(_HEAD - _PADDING - 12)) if stack.uses else []
    height = max(y - top + _PADDING - 8, 2 * _PADDING + 24 + _LINE * len(uses))
    head = [
        f'<rect class="box" x="{_MARGIN}" y="{top}" width="{WIDTH - 2 * _MARGIN}" height="{height}" rx="8"/>',
        _text(_MARGIN + _PADDING, top + _PADDING + 15, stack.title, "head"),
        *(
            _text(_MARGIN + _PADDING, top + _PADDING + 36 + _LINE * index, line, "detail")
            for index, line in enumerate(uses)
        ),
        f'<path class="rule" d="M{left - 14} {top + 12}v{height - 24}"/>',
    ]
    return height, [*head, *parts]


def _rows(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _COLUMNS):
        yield items[start : start + _COLUMNS]


def _item(item: Item, x: float, y: int, width: float) -> tuple[int, list[str]]:
    lines = textwrap.wrap(item.detail, _fit(width - _BADGE - 8), break_long_words=True)
    parts = [_badge(item.category, x, y), _text(x + _BADGE + 8, y + (10 if lines else 15), item.title, "title")]
    parts += [_text(x + _BADGE + 8, y + 10 + _LINE * (index + 1), line, "detail") for index, line in enumerate(lines)]
    return max(_BADGE, 12 + _LINE * len(lines)), parts


def _nodes(node: NodeItem, x: int, y: int, width: int) -> tuple[int, list[str]]:
    """Badge, text, and a square for each node; filled if the node always runs."""
    count = f"{node.most}" if node.least == node.most else f"{node.least} to {node.most}"
    facts = [
        node.option,
        f"{node.most * node.gpus:,} GPUs" if node.gpus else "",
        f"{node.efa} EFA interface{'s' * (node.efa > 1)} for each node" if node.efa else "",
    ]
    text = x + _BADGE + 8
    parts = [
        _badge("compute", x, y),
        _text(text, y + 10, f"{node.title}: {count} x {node.type}", "title"),
        _text(text, y + 10 + _LINE, ", ".join(filter(None, facts)), "detail"),
    ]
    if not node.gpus or node.most > _MOST_NODES:
        return 12 + _LINE, parts
    step = _NODE + _NODE_GAP
    columns = min(32, (width - _BADGE - 8) // step)
    top = y + 12 + _LINE + 6
    for index in range(node.most):
        column, row = index % columns, index // columns
        kind = "node" if index < node.least else "idle"
        parts.append(
            f'<rect class="{kind}" x="{text + column * step}" y="{top + row * step}" '
            f'width="{_NODE}" height="{_NODE}" rx="2"/>'
        )
    return top - y + math.ceil(node.most / columns) * step, parts


def _badge(category: str, x: float, y: int) -> str:
    return (
        f'<g transform="translate({_number(x)} {y})"><rect width="{_BADGE}" height="{_BADGE}" rx="5" '
        f'fill="{_COLORS[category]}"/><g class="glyph">{_GLYPHS[category]}</g></g>'
    )


def _text(x: float, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{y}">{escape(text)}</text>'


def _fit(width: float) -> int:
    """Characters of the 11 px of details that fit into a width."""
    return max(8, int(width / (11 * _TEXT)))


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
