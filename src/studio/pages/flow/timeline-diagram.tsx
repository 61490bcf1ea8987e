import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import { measureLabel, truncateLabel } from "./truncate-label.ts";
import { formatDuration } from "../cards/text-format.ts";
import { buildSelectionButtonProps } from "./selection-button-props.ts";
import { computeTimelineLayout, listVisibleBars, type TimelineWork } from "./timeline-layout.ts";
import { useElementWidth } from "./use-element-width.ts";

const HEADER_HEIGHT_PX = 34;
const ROW_HEIGHT_PX = 40;
const LANE_GAP_PX = 12;
const LEFT_MARGIN_PX = 112;
const RIGHT_MARGIN_PX = 24;
const MIN_WIDTH_PX = 560;
const CHARACTER_WIDTH_PX = 7;

interface TimelineDiagramProps {
  readonly works: readonly TimelineWork[];
  /** Names of the lanes, from top to bottom. */
  readonly lanes: readonly string[];
  /** End of the timeline in milliseconds, if it is later than the end of the last work. */
  readonly endMs?: number;
  readonly selectedKey: string | undefined;
  readonly onSelect: (key: string) => void;
  /** Name of the diagram for screen readers. */
  readonly label: string;
}

/** Timeline with one lane for each agent or role, in which each bar is a button. */
export function TimelineDiagram(props: TimelineDiagramProps): JSX.Element {
  const { works, lanes, endMs, selectedKey, onSelect, label } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const width = Math.max(MIN_WIDTH_PX, useElementWidth(scroller));
  const layout = useMemo(() => computeTimelineLayout(works, lanes, endMs), [works, lanes, endMs]);
  const scale = width - LEFT_MARGIN_PX - RIGHT_MARGIN_PX;
  const firstKey = works.some(({ key }) => key === selectedKey) ? selectedKey : works[0]?.key;
  let height = HEADER_HEIGHT_PX;
  const tops = layout.lanes.map(({ rowCount }) => {
    const top = height;
    height += rowCount * ROW_HEIGHT_PX + LANE_GAP_PX;
    return top;
  });
  return (
    <div class="scroll" ref={scroller}>
      <svg class="timeline" width={width} height={height} role="group" aria-label={label}>
        {layout.ticks.map((tick) => {
          const x = LEFT_MARGIN_PX + (tick / layout.totalMs) * scale;
          return (
            <g key={tick}>
              <line class="tick" x1={x} x2={x} y1={HEADER_HEIGHT_PX - 6} y2={height - 8} />
              <text class="after" x={x} y={HEADER_HEIGHT_PX - 12} text-anchor="middle">
                {formatDuration(tick)}
              </text>
            </g>
          );
        })}
        {layout.lanes.map(({ name, rowCount, bars }, index) => {
          const top = tops[index] ?? 0;
          return (
            <g key={name}>
              <rect
                class="lane"
                x={LEFT_MARGIN_PX}
                y={top}
                width={scale}
                height={rowCount * ROW_HEIGHT_PX}
                rx={8}
              />
              <text
                class="role-name"
                x={LEFT_MARGIN_PX - 14}
                y={top + (rowCount * ROW_HEIGHT_PX) / 2 + 4}
                text-anchor="end"
              >
                {truncateLabel(name, 13)}
              </text>
              {listVisibleBars(bars, scale, selectedKey).map(({ work, row, start, length }) => {
                const x = LEFT_MARGIN_PX + start * scale;
                const barWidth = Math.max(3, length * scale);
                const y = top + row * ROW_HEIGHT_PX + 6;
                const isLabelShown = barWidth > measureLabel(work.label) * CHARACTER_WIDTH_PX + 12;
                const states = [
                  work.isCritical === true && "critical",
                  work.isWaiting === true && "waiting",
                  work.key === selectedKey && "chosen",
                ].filter(Boolean);
                return (
                  <g
                    key={work.key}
                    class={["message", work.colorClass, ...states].join(" ")}
                    {...buildSelectionButtonProps(
                      work.key,
                      work.description,
                      work.key === selectedKey,
                      onSelect,
                    )}
                    aria-label={isLabelShown ? undefined : toSingleLine(work.description)}
                    tabindex={work.key === firstKey ? 0 : -1}
                  >
                    <rect
                      class="work"
                      x={x}
                      y={y}
                      width={barWidth}
                      height={ROW_HEIGHT_PX - 12}
                      rx={Math.min(6, barWidth / 2)}
                    />
                    {isLabelShown && (
                      <text class="number" x={x + barWidth / 2} y={y + 18} text-anchor="middle">
                        {toSingleLine(work.label)}
                      </text>
                    )}
                  </g>
                );
              })}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
