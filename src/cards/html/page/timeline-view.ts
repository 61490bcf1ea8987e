import { computeTimelineLayout } from "../layout/timeline-layout.ts";
import { truncateLine } from "../../views/text-width.ts";
import { createSvgElement } from "./dom.ts";
import { createCardButtonProperties, type SampleViewProps } from "./sequence-view.ts";
import { formatDuration } from "./text-format.ts";

const TIMELINE_HEADER_HEIGHT_PX = 34;
const LANE_ROW_HEIGHT_PX = 40;
const TIMELINE_LEFT_MARGIN_PX = 112;
const TIMELINE_RIGHT_MARGIN_PX = 24;

export function renderTimelineView(shown: SampleViewProps): SVGSVGElement {
  const layout = computeTimelineLayout(shown.cards);
  const width = Math.max(560, shown.width);
  const scale = width - TIMELINE_LEFT_MARGIN_PX - TIMELINE_RIGHT_MARGIN_PX;
  const rows = layout.lanes.reduce((sum, lane) => sum + lane.rowCount, 0);
  const height = TIMELINE_HEADER_HEIGHT_PX + rows * LANE_ROW_HEIGHT_PX + layout.lanes.length * 12 + 12;
  const root = createSvgElement("svg", {
    class: "timeline",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "Timeline: a lane for each role, a bar for the work on each card",
  });
  for (const tick of layout.ticks) {
    const x = TIMELINE_LEFT_MARGIN_PX + (tick / layout.totalMs) * scale;
    root.append(
      createSvgElement("line", {
        class: "tick",
        x1: x,
        x2: x,
        y1: TIMELINE_HEADER_HEIGHT_PX - 6,
        y2: height - 8,
      }),
      createSvgElement(
        "text",
        { class: "after", x, y: TIMELINE_HEADER_HEIGHT_PX - 12, "text-anchor": "middle" },
        formatDuration(tick),
      ),
    );
  }
  const place = new Map(shown.cards.map((seen, at) => [seen, at]));
  let top = TIMELINE_HEADER_HEIGHT_PX;
  for (const lane of layout.lanes) {
    const bottom = top + lane.rowCount * LANE_ROW_HEIGHT_PX;
    root.append(
      createSvgElement("rect", {
        class: "lane",
        x: TIMELINE_LEFT_MARGIN_PX,
        y: top,
        width: scale,
        height: bottom - top,
        rx: 8,
      }),
      createSvgElement(
        "text",
        {
          class: "role-name",
          x: TIMELINE_LEFT_MARGIN_PX - 14,
          y: (top + bottom) / 2 + 4,
          "text-anchor": "end",
        },
        truncateLine(lane.role, 13),
      ),
    );
    for (const { pageCard: seen, row, start, length } of lane.bars) {
      const at = place.get(seen) ?? 0;
      const x = TIMELINE_LEFT_MARGIN_PX + start * scale;
      const size = Math.max(3, length * scale);
      const y = top + row * LANE_ROW_HEIGHT_PX + 6;
      root.append(
        createSvgElement(
          "g",
          createCardButtonProperties(shown, seen, at),
          createSvgElement("rect", {
            class: "work",
            x,
            y,
            width: size,
            height: LANE_ROW_HEIGHT_PX - 12,
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
