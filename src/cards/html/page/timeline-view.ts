import { computeTimelineLayout } from "../layout/timeline-layout.ts";
import { truncateLine } from "../../views/text-width.ts";
import { createSvgElement } from "./dom.ts";
import { createCardButtonProperties, type SampleViewProps } from "./sequence-view.ts";
import { formatDuration } from "./text-format.ts";

const HEADER_HEIGHT = 34;
const LANE_HEIGHT = 40;
const LEFT_MARGIN = 112;
const RIGHT_MARGIN = 24;

export function renderTimelineView(shown: SampleViewProps): SVGSVGElement {
  const layout = computeTimelineLayout(shown.cards);
  const width = Math.max(560, shown.width);
  const scale = width - LEFT_MARGIN - RIGHT_MARGIN;
  const rows = layout.lanes.reduce((sum, lane) => sum + lane.rowCount, 0);
  const height = HEADER_HEIGHT + rows * LANE_HEIGHT + layout.lanes.length * 12 + 12;
  const root = createSvgElement("svg", {
    class: "timeline",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "Timeline: a lane for each role, a bar for the work on each card",
  });
  for (const tick of layout.ticks) {
    const x = LEFT_MARGIN + (tick / layout.totalMs) * scale;
    root.append(
      createSvgElement("line", { class: "tick", x1: x, x2: x, y1: HEADER_HEIGHT - 6, y2: height - 8 }),
      createSvgElement(
        "text",
        { class: "after", x, y: HEADER_HEIGHT - 12, "text-anchor": "middle" },
        formatDuration(tick),
      ),
    );
  }
  const place = new Map(shown.cards.map((seen, at) => [seen, at]));
  let top = HEADER_HEIGHT;
  for (const lane of layout.lanes) {
    const bottom = top + lane.rowCount * LANE_HEIGHT;
    root.append(
      createSvgElement("rect", {
        class: "lane",
        x: LEFT_MARGIN,
        y: top,
        width: scale,
        height: bottom - top,
        rx: 8,
      }),
      createSvgElement(
        "text",
        { class: "role-name", x: LEFT_MARGIN - 14, y: (top + bottom) / 2 + 4, "text-anchor": "end" },
        truncateLine(lane.role, 13),
      ),
    );
    for (const { pageCard: seen, row, start, length } of lane.bars) {
      const at = place.get(seen) ?? 0;
      const x = LEFT_MARGIN + start * scale;
      const size = Math.max(3, length * scale);
      const y = top + row * LANE_HEIGHT + 6;
      root.append(
        createSvgElement(
          "g",
          createCardButtonProperties(shown, seen, at),
          createSvgElement("rect", {
            class: "work",
            x,
            y,
            width: size,
            height: LANE_HEIGHT - 12,
            rx: Math.min(6, size / 2),
          }),
          size > 26 &&
            createSvgElement(
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
