import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { getCardTypeClass, toSingleLine } from "../../../cards/index.ts";
import { useVirtualRows } from "../flow/use-virtual-rows.ts";
import { AgentText } from "./agent-text.tsx";
import { getSampleName, type PageCard, type PageSample } from "./model/run-model.ts";
import { countCardTokens, findCardStatusOrErrorType } from "./model/sample-summary.ts";
import { formatCount, formatDuration } from "./text-format.ts";

/** Row in the table of message cards. */
export interface CardTableRow {
  readonly sample: PageSample;
  readonly pageCard: PageCard;
  /** Number of the message card within its problem, starting at 1. */
  readonly cardNumber: number;
}

const ROW_HEIGHT_PX = 32;
const OVERSCAN_ROWS = 8;
const COLUMN_NAMES = ["problem", "#", "type", "from", "to", "content", "status", "tokens", "time"] as const;

interface CardTableProps {
  readonly rows: readonly CardTableRow[];
  readonly selectedCard: PageCard | undefined;
  readonly onSelect: (row: CardTableRow) => void;
}

/** Table of the message cards of one problem or of the entire run. Renders only the visible rows. */
export function CardTable({ rows, selectedCard, onSelect }: CardTableProps): VNode {
  const grid = useRef<HTMLDivElement>(null);
  const selectedRow = rows.findIndex(({ pageCard }) => pageCard === selectedCard);
  const [activeRow, setActiveRow] = useState(0);
  const virtual = useVirtualRows({
    count: rows.length,
    rowHeight: ROW_HEIGHT_PX,
    scroller: grid,
    overscan: OVERSCAN_ROWS,
    headerHeight: ROW_HEIGHT_PX,
  });
  const goTo = (row: number): void => {
    const target = Math.min(rows.length - 1, Math.max(0, row));
    setActiveRow(target);
    virtual.scrollToRow(target);
  };
  useLayoutEffect(() => {
    if (selectedRow >= 0) goTo(selectedRow);
    // Only a new selection scrolls, because the user can scroll away from the selected card.
  }, [selectedCard]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: virtual.rowsPerPage,
      PageUp: -virtual.rowsPerPage,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    };
    const [step, row] = [steps[event.key], rows[activeRow]];
    if (step !== undefined) goTo(activeRow + step);
    else if (event.key === "Enter" && row) onSelect(row);
    else return;
    event.preventDefault();
  };
  const isActiveRendered = virtual.rows.some(({ index }) => index === activeRow);
  return (
    <div
      ref={grid}
      class="card-table"
      role="grid"
      tabIndex={0}
      aria-label="Cards"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={isActiveRendered ? `row-${activeRow}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="table-row table-head" role="row" aria-rowindex={1}>
        {COLUMN_NAMES.map((name) => (
          <span key={name} role="columnheader" class={`c-${name === "#" ? "number" : name}`}>
            {name}
          </span>
        ))}
      </div>
      <div class="virtual-rows" role="rowgroup" style={{ height: `${virtual.totalHeight}px` }}>
        {virtual.rows.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return undefined;
          const states = [row.pageCard === selectedCard && "chosen", index === activeRow && "active"].filter(
            Boolean,
          );
          return (
            <div
              key={index}
              id={`row-${index}`}
              class={["table-row", getCardTypeClass(row.pageCard.card.message_type), ...states].join(" ")}
              style={{ top: `${start}px`, height: `${ROW_HEIGHT_PX}px` }}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={row.pageCard === selectedCard}
              onClick={() => onSelect(row)}
            >
              {listCells(row).map(([name, text]) => (
                <span key={name} role="gridcell" class={`c-${name}`}>
                  <AgentText text={text} />
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function listCells({ sample, pageCard: { card }, cardNumber }: CardTableRow): [name: string, text: string][] {
  const tokens = countCardTokens(card);
  return [
    ["problem", getSampleName(sample)],
    ["number", String(cardNumber)],
    ["type", card.message_type],
    ["from", card.sender],
    ["to", card.recipient],
    ["content", toSingleLine(card.content.slice(0, 300))],
    ["status", findCardStatusOrErrorType(card) ?? ""],
    ["tokens", tokens > 0 ? formatCount(tokens) : ""],
    ["time", card.metadata.duration_ms ? formatDuration(card.metadata.duration_ms) : ""],
  ];
}
