import { timelineLayout } from "../layout/timeline.ts";
import { fit, oneLine } from "../../views/text-width.ts";
import { svg } from "./dom.ts";
import { cardButton, kindOf, type Shown } from "./sequence-view.ts";
import { duration } from "./words.ts";

const HEAD = 34;
const LANE = 40;
const LEFT = 112;
const RIGHT = 24;

/** Who worked when. */
export function timelineView(shown: Shown): SVGSVGElement {
  const layout = timelineLayout(shown.cards);
  const width = Math.max(560, shown.room);
  const scale = width - LEFT - RIGHT;
  const rows = layout.lanes.reduce((sum, lane) => sum + lane.rows, 0);
  const height = HEAD + rows * LANE + layout.lanes.length * 12 + 12;
  const root = svg("svg", {
    class: "timeline",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "Timeline: a lane for each role, a bar for the work on each card",
  });
  for (const tick of layout.ticks) {
    const x = LEFT + (tick / layout.span) * scale;
    root.append(
      svg("line", { class: "tick", x1: x, x2: x, y1: HEAD - 6, y2: height - 8 }),
      svg("text", { class: "after", x, y: HEAD - 12, "text-anchor": "middle" }, duration(tick)),
    );
  }
  const place = new Map(shown.cards.map((seen, at) => [seen, at]));
  let top = HEAD;
  for (const lane of layout.lanes) {
    const bottom = top + lane.rows * LANE;
    root.append(
      svg("rect", { class: "lane", x: LEFT, y: top, width: scale, height: bottom - top, rx: 8 }),
      svg(
        "text",
        { class: "role-name", x: LEFT - 14, y: (top + bottom) / 2 + 4, "text-anchor": "end" },
        fit(oneLine(lane.role), 13).trim(),
      ),
    );
    for (const { seen, row, start, length } of lane.spans) {
      const at = place.get(seen) ?? 0;
      const x = LEFT + start * scale;
      const size = Math.max(3, length * scale);
      const y = top + row * LANE + 6;
      root.append(
        svg(
          "g",
          {
            ...cardButton(shown, seen, at),
            class: `card ${kindOf(seen.card)}${shown.critical.has(seen) ? " critical" : ""}${shown.chosen === seen ? " chosen" : ""}`,
          },
          svg("rect", { class: "work", x, y, width: size, height: LANE - 12, rx: Math.min(6, size / 2) }),
          size > 26 &&
            svg(
              "text",
              { class: "number", x: x + size / 2, y: y + 18, "text-anchor": "middle" },
              String(at + 1),
            ),
        ),
      );
    }
    top = bottom + 12;
  }
  return root;
}
