"""Picture of the losses of a run that was killed and requeued, over those of a run without faults."""

import re
from collections.abc import Sequence

WIDTH, HEIGHT, LEFT, TOP = 760, 300, 56, 42
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c")
_ENDS = ("killed after step {}", "requeued after step {}", "ended with step {}")
Losses = Sequence[tuple[int, float]]


def picture(whole: Losses, starts: Sequence[Losses]) -> str:
    """Return an SVG: the run without faults as a line, and each start of the other run as points."""
    highest = max(loss for _, loss in whole)
    lowest = min(loss for _, loss in whole)
    inner = HEIGHT - TOP - 36

    def place(step: int, loss: float) -> str:
        x = LEFT + (step - 1) * (WIDTH - LEFT - 20) / (whole[-1][0] - 1)
        return f"{x:.0f},{TOP + (highest - loss) * inner / (highest - lowest):.0f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="Loss of each step">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT - 8}" y="{TOP + 4}" text-anchor="end">{highest:.2f}</text>',
        f'<text x="{LEFT - 8}" y="{TOP + inner + 4}" text-anchor="end">{lowest:.2f}</text>',
        f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">step 1 to {whole[-1][0]}</text>',
        f'<polyline id="whole" fill="none" stroke="#999" stroke-width="6" stroke-opacity="0.5" '
        f'points="{" ".join(place(*item) for item in whole)}"/>',
        f'<text x="{LEFT}" y="18" fill="#777">line: without faults</text>',
    ]
    for number, (start, colour, end) in enumerate(zip(starts, _COLOURS, _ENDS, strict=True)):
        about = f"start {number}: {end.format(start[-1][0])}"
        lines.append(f'<text x="{LEFT + 130 + 200 * number}" y="18" fill="{colour}">{about}</text>')
        for item in start:
            x, y = place(*item).split(",")
            lines.append(f'<circle cx="{x}" cy="{y}" r="{5 - number}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def line(svg: str) -> list[tuple[float, float]]:
    """Return the points of the line of a picture."""
    (points,) = re.findall(r'id="whole".*points="([^"]+)"', svg)
    return [(float(x), float(y)) for x, y in (point.split(",") for point in points.split())]
