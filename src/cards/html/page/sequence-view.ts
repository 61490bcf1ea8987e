import { SEQUENCE_ROW_HEIGHT, computeSequenceLayout } from "../layout/sequence-layout.ts";
import type { PageCard } from "../run-model.ts";
import { findCardStatusOrErrorType, countCardTokens } from "../sample-summary.ts";
import { getCardTypeClass } from "../../views/card-type-class.ts";
import { toSingleLine, truncateLine } from "../../views/text-width.ts";
import { createSvgElement } from "./dom.ts";
import { formatCount, formatDuration } from "./text-format.ts";

/** Maximum width of a character column at the label font size, in pixels. */
const LABEL_CHARACTER_WIDTH_PX = 6.6;
const NOTE_CHARACTER_WIDTH_PX = 5.6;

/** Input for the diagrams and the table of one problem. */
export interface SampleViewProps {
  readonly cards: readonly PageCard[];
  readonly selectedCard: PageCard | undefined;
  readonly criticalCards: ReadonlySet<PageCard>;
  readonly onSelect: (seen: PageCard) => void;
  /** Available width for the diagram in pixels. */
  readonly width: number;
}

export function renderSequenceView(shown: SampleViewProps): SVGSVGElement {
  const layout = computeSequenceLayout(shown.cards, shown.width);
  const root = createSvgElement("svg", {
    class: "sequence",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "group",
    "aria-label": "Sequence diagram; each card is a button",
  });
  for (const { name, x } of layout.roles)
    root.append(
      createSvgElement("line", { class: "life", x1: x, x2: x, y1: 44, y2: layout.height - 8 }),
      createSvgElement("rect", { class: "role", x: x - 64, y: 10, width: 128, height: 34, rx: 8 }),
      createSvgElement(
        "text",
        { class: "role-name", x, y: 32, "text-anchor": "middle" },
        truncateLine(name, 15),
      ),
    );
  for (const { x, top, bottom, depth } of layout.bars)
    root.append(
      createSvgElement("rect", {
        class: "bar",
        x: x - 4 + depth * 5,
        y: top,
        width: 8,
        height: bottom - top,
        rx: 3,
      }),
    );
  for (const [at, { pageCard: seen, y, from, to, delayMs }] of layout.arrows.entries()) {
    const { card } = seen;
    const way = to >= from ? 1 : -1;
    const [left, right] = [Math.min(from, to), Math.max(from, to)];
    const tokens = countCardTokens(card);
    const status = findCardStatusOrErrorType(card);
    const notes = [
      card.message_type,
      ...(status ? [status] : []),
      ...(card.metadata["forced"] === true ? ["forced"] : []),
      ...(tokens > 0 ? [`${formatCount(tokens)} tok`] : []),
      ...(card.metadata.duration_ms ? [formatDuration(card.metadata.duration_ms)] : []),
    ].join(" · ");
    const columns = (width: number): number => Math.max(12, Math.floor((right - left - 40) / width));
    const isSelf = from === to;
    const end = isSelf ? from + 6 : to - way * 6;
    const line = isSelf
      ? createSvgElement("path", { class: "arrow", d: `M ${from + 5} ${y} h 34 v 12 h -28` })
      : createSvgElement("path", { class: "arrow", d: `M ${from + way * 5} ${y} H ${end - way * 6}` });
    const tip = isSelf ? y + 12 : y;
    const head = isSelf ? -1 : way;
    const labelX = isSelf ? from + 46 : (from + to) / 2;
    const anchor = isSelf ? "start" : "middle";
    root.append(
      createSvgElement(
        "g",
        createCardButtonProperties(shown, seen, at),
        createSvgElement("rect", {
          class: "hit",
          x: 4,
          y: y - SEQUENCE_ROW_HEIGHT / 2 + 1,
          width: layout.width - 8,
          height: SEQUENCE_ROW_HEIGHT - 2,
          rx: 6,
        }),
        createSvgElement("text", { class: "number", x: 14, y: y - 2 }, String(at + 1)),
        createSvgElement(
          "text",
          { class: "after", x: 14, y: y + 12 },
          at === 0 ? "" : `+${formatDuration(delayMs)}`,
        ),
        line,
        createSvgElement("path", { class: "head", d: `M ${end} ${tip} l ${-head * 9} -4.5 v 9 z` }),
        createSvgElement(
          "text",
          { class: "label", x: labelX, y: y - 7, "text-anchor": anchor },
          truncateLine(card.content, columns(LABEL_CHARACTER_WIDTH_PX)),
        ),
        createSvgElement(
          "text",
          { class: "notes", x: labelX, y: y + 14, "text-anchor": anchor },
          truncateLine(notes, columns(NOTE_CHARACTER_WIDTH_PX)),
        ),
      ),
    );
  }
  return root;
}

/** Returns the attributes and event listeners of a clickable message card. */
export function createCardButtonProperties(
  { onSelect, selectedCard, criticalCards }: SampleViewProps,
  seen: PageCard,
  at: number,
): Record<string, string | number | ((event: never) => void)> {
  const { sender, recipient, message_type, content } = seen.card;
  return {
    class: `card ${getCardTypeClass(message_type)}${criticalCards.has(seen) ? " critical" : ""}${seen === selectedCard ? " chosen" : ""}`,
    role: "button",
    tabindex: seen === selectedCard || (selectedCard === undefined && at === 0) ? 0 : -1,
    "data-card": at + 1,
    "aria-pressed": String(seen === selectedCard),
    "aria-label": toSingleLine(
      `Card ${at + 1}, ${message_type} from ${sender} to ${recipient}: ${content.slice(0, 200)}`,
    ),
    onclick: () => onSelect(seen),
    onkeydown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      onSelect(seen);
    },
  };
}
