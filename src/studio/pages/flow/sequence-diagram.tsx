import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { truncateLabel } from "./truncate-label.ts";
import { formatDuration } from "../cards/text-format.ts";
import { buildSelectionButtonProps } from "./selection-button-props.ts";
import {
  computeSequenceColumns,
  nestActivations,
  SEQUENCE_HEADER_HEIGHT,
  SEQUENCE_ROW_HEIGHT,
  type SequenceActivation,
  type SequenceMessage,
} from "./sequence-layout.ts";
import { useElementWidth } from "./use-element-width.ts";
import { useVirtualRows } from "./use-virtual-rows.ts";

/** Maximum width of a character column at the label font size, in pixels. */
const LABEL_CHARACTER_WIDTH_PX = 6.6;
const NOTE_CHARACTER_WIDTH_PX = 5.6;
/** Rows that are rendered above and below the visible rows, so that short diagrams print completely. */
const OVERSCAN_ROWS = 40;

interface SequenceDiagramProps {
  readonly participants: readonly string[];
  readonly messages: readonly SequenceMessage[];
  readonly activations: readonly SequenceActivation[];
  readonly selectedKey: string | undefined;
  readonly onSelect: (key: string) => void;
  /** Name of the diagram for screen readers. */
  readonly label: string;
  /** Whether the diagram scrolls to new messages while its end is visible. Default: `false`. */
  readonly isFollowing?: boolean;
}

/** Sequence diagram in which each message is a button. Renders only the visible rows. */
export function SequenceDiagram(props: SequenceDiagramProps): JSX.Element {
  const { participants, messages, activations, selectedKey, onSelect, label, isFollowing = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { width, centers, boxWidth } = computeSequenceColumns(participants, useElementWidth(scroller));
  const { rows, totalHeight, scrollToRow } = useVirtualRows({
    count: messages.length,
    rowHeight: SEQUENCE_ROW_HEIGHT,
    scroller,
    overscan: OVERSCAN_ROWS,
    headerHeight: SEQUENCE_HEADER_HEIGHT,
    isFollowing,
  });
  const bars = useMemo(() => nestActivations(activations), [activations]);
  const selectedRow = messages.findIndex(({ key }) => key === selectedKey);
  useLayoutEffect(() => {
    if (selectedRow >= 0) scrollToRow(selectedRow);
    // Only a new selection scrolls, because the user can scroll away from the selected message.
  }, [selectedKey]);

  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? -1];
  const top = first * SEQUENCE_ROW_HEIGHT;
  const height = (last - first + 1) * SEQUENCE_ROW_HEIGHT;
  const toY = (row: number): number => (row + 0.5) * SEQUENCE_ROW_HEIGHT - top;
  const isSelectionRendered = selectedRow >= first && selectedRow <= last;
  return (
    <div class="sequence-scroll" ref={scroller}>
      <svg class="sequence-participants" width={width} height={SEQUENCE_HEADER_HEIGHT} aria-hidden="true">
        {participants.map((name) => (
          <g key={name}>
            <rect
              class="role"
              x={(centers.get(name) ?? 0) - boxWidth / 2}
              y={8}
              width={boxWidth}
              height={34}
              rx={8}
            />
            <text class="role-name" x={centers.get(name)} y={30} text-anchor="middle">
              {truncateLabel(name, Math.floor(boxWidth / 8.5))}
            </text>
          </g>
        ))}
      </svg>
      <div class="sequence-rows" style={{ height: `${totalHeight}px`, width: `${width}px` }}>
        <svg
          class="sequence"
          style={{ top: `${top}px` }}
          width={width}
          height={Math.max(0, height)}
          role="group"
          aria-label={label}
        >
          {participants.map((name) => (
            <line key={name} class="life" x1={centers.get(name)} x2={centers.get(name)} y1={0} y2={height} />
          ))}
          {bars
            .filter(({ fromRow, toRow }) => fromRow <= last && toRow >= first)
            .map(({ participant, fromRow, toRow, depth }) => (
              <rect
                key={`${participant} ${fromRow} ${toRow} ${depth}`}
                class="bar"
                x={(centers.get(participant) ?? 0) - 4 + depth * 5}
                y={toY(Math.max(fromRow, first - 1))}
                width={8}
                height={(Math.min(toRow, last + 1) - Math.max(fromRow, first - 1)) * SEQUENCE_ROW_HEIGHT}
                rx={3}
              />
            ))}
          {rows.map(({ index }) => {
            const message = messages[index];
            if (!message) return undefined;
            const isFocusable = isSelectionRendered ? index === selectedRow : index === first;
            return (
              <SequenceRow
                key={message.key}
                message={message}
                row={index}
                y={toY(index)}
                diagramWidth={width}
                from={centers.get(message.from) ?? 0}
                to={centers.get(message.to) ?? 0}
                isSelected={index === selectedRow}
                tabIndex={isFocusable ? 0 : -1}
                onSelect={onSelect}
              />
            );
          })}
        </svg>
      </div>
    </div>
  );
}

interface SequenceRowProps {
  readonly message: SequenceMessage;
  readonly row: number;
  readonly y: number;
  readonly diagramWidth: number;
  readonly from: number;
  readonly to: number;
  readonly isSelected: boolean;
  readonly tabIndex: number;
  readonly onSelect: (key: string) => void;
}

function SequenceRow(props: SequenceRowProps): JSX.Element {
  const { message, row, y, diagramWidth, from, to, isSelected, tabIndex, onSelect } = props;
  const isSelf = from === to;
  const direction = to >= from ? 1 : -1;
  const room = Math.abs(to - from) - 40;
  const fitText = (text: string, characterWidth: number): string =>
    truncateLabel(text, Math.max(12, Math.floor(room / characterWidth)));
  const end = isSelf ? from + 6 : to - direction * 6;
  const tipY = isSelf ? y + 12 : y;
  const tipDirection = isSelf ? -1 : direction;
  const labelX = isSelf ? from + 46 : (from + to) / 2;
  const anchor = isSelf ? "start" : "middle";
  const states = [
    message.isDashed === true && "dashed",
    message.isCritical === true && "critical",
    message.isBroken === true && "broken-off",
    isSelected && "chosen",
  ].filter(Boolean);
  return (
    <g
      class={["message", message.colorClass, ...states].join(" ")}
      {...buildSelectionButtonProps(message.key, message.description, isSelected, onSelect)}
      tabindex={tabIndex}
      data-row={row + 1}
    >
      <rect
        class="hit"
        x={4}
        y={y - SEQUENCE_ROW_HEIGHT / 2 + 1}
        width={Math.max(0, diagramWidth - 8)}
        height={SEQUENCE_ROW_HEIGHT - 2}
        rx={6}
      />
      <text class="number" x={14} y={y - 2}>
        {row + 1}
      </text>
      {message.delayMs !== undefined && (
        <text class="after" x={14} y={y + 12}>
          +{formatDuration(message.delayMs)}
        </text>
      )}
      <path
        class="arrow"
        d={
          isSelf
            ? `M ${from + 5} ${y} h 34 v 12 h -28`
            : `M ${from + direction * 5} ${y} H ${end - direction * 6}`
        }
      />
      <path
        class="head"
        d={
          message.isBroken === true
            ? `M ${end - direction * 10} ${tipY - 5} l 9 10 m 0 -10 l -9 10`
            : `M ${end} ${tipY} l ${-tipDirection * 9} -4.5 v 9 z`
        }
      />
      <text class="label" x={labelX} y={y - 7} text-anchor={anchor}>
        {fitText(message.label, LABEL_CHARACTER_WIDTH_PX)}
      </text>
      <text class="notes" x={labelX} y={y + 14} text-anchor={anchor}>
        {fitText(message.notes, NOTE_CHARACTER_WIDTH_PX)}
      </text>
    </g>
  );
}
