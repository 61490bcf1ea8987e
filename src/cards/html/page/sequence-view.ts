import { ROW, sequenceLayout } from "../layout/sequence.ts";
import type { SeenCard } from "../run-model.ts";
import { statusOf, tokensOf } from "../summary.ts";
import { fit, oneLine } from "../../views/text-width.ts";
import { svg } from "./dom.ts";
import { count, duration } from "./words.ts";

/** Pixels that a column of text takes at most, at the size of the labels. */
const COLUMN = 6.6;
const SMALL_COLUMN = 5.6;

/** What a view of one problem is given. */
export interface Shown {
  readonly cards: readonly SeenCard[];
  readonly chosen: SeenCard | undefined;
  readonly critical: ReadonlySet<SeenCard>;
  readonly choose: (seen: SeenCard) => void;
  /** Pixels that there are. */
  readonly room: number;
}

/** The kinds that have a colour of their own. */
export function kindOf({ message_type }: SeenCard["card"]): string {
  return ["task", "result", "query", "control", "error"].includes(message_type) ? message_type : "other";
}

export function sequenceView(shown: Shown): SVGSVGElement {
  const layout = sequenceLayout(shown.cards, shown.room);
  const root = svg("svg", {
    class: "sequence",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "group",
    "aria-label": "Sequence diagram; each card is a button",
  });
  for (const { name, x } of layout.roles)
    root.append(
      svg("line", { class: "life", x1: x, x2: x, y1: 44, y2: layout.height - 8 }),
      svg("rect", { class: "role", x: x - 64, y: 10, width: 128, height: 34, rx: 8 }),
      svg("text", { class: "role-name", x, y: 32, "text-anchor": "middle" }, fit(oneLine(name), 15).trim()),
    );
  for (const { x, top, bottom, depth } of layout.bars)
    root.append(
      svg("rect", { class: "bar", x: x - 4 + depth * 5, y: top, width: 8, height: bottom - top, rx: 3 }),
    );
  for (const [at, { seen, y, from, to, after }] of layout.arrows.entries()) {
    const { card } = seen;
    const way = to >= from ? 1 : -1;
    const [left, right] = [Math.min(from, to), Math.max(from, to)];
    const tokens = tokensOf(card);
    const status = statusOf(card);
    const notes = [
      card.message_type,
      ...(status ? [status] : []),
      ...(card.metadata["forced"] === true ? ["forced"] : []),
      ...(tokens > 0 ? [`${count(tokens)} tok`] : []),
      ...(card.metadata.duration_ms ? [duration(card.metadata.duration_ms)] : []),
    ].join(" · ");
    const columns = (width: number): number => Math.max(12, Math.floor((right - left - 40) / width));
    const isSelf = from === to;
    const end = isSelf ? from + 6 : to - way * 6;
    const line = isSelf
      ? svg("path", { class: "arrow", d: `M ${from + 5} ${y} h 34 v 12 h -28` })
      : svg("path", { class: "arrow", d: `M ${from + way * 5} ${y} H ${end - way * 6}` });
    const tip = isSelf ? y + 12 : y;
    const head = isSelf ? -1 : way;
    const words = isSelf ? from + 46 : (from + to) / 2;
    const anchor = isSelf ? "start" : "middle";
    root.append(
      svg(
        "g",
        {
          ...cardButton(shown, seen, at),
          class: `card ${kindOf(card)}${shown.critical.has(seen) ? " critical" : ""}${shown.chosen === seen ? " chosen" : ""}`,
        },
        svg("rect", {
          class: "hit",
          x: 4,
          y: y - ROW / 2 + 1,
          width: layout.width - 8,
          height: ROW - 2,
          rx: 6,
        }),
        svg("text", { class: "number", x: 14, y: y - 2 }, String(at + 1)),
        svg("text", { class: "after", x: 14, y: y + 12 }, at === 0 ? "" : `+${duration(after)}`),
        line,
        svg("path", { class: "head", d: `M ${end} ${tip} l ${-head * 9} -4.5 v 9 z` }),
        svg(
          "text",
          { class: "label", x: words, y: y - 7, "text-anchor": anchor },
          fit(oneLine(card.content), columns(COLUMN)).trim(),
        ),
        svg(
          "text",
          { class: "notes", x: words, y: y + 14, "text-anchor": anchor },
          fit(oneLine(notes), columns(SMALL_COLUMN)).trim(),
        ),
      ),
    );
  }
  return root;
}

/** What makes a card in a picture a button. */
export function cardButton(
  { choose, chosen }: Shown,
  seen: SeenCard,
  at: number,
): Record<string, string | number | ((event: never) => void)> {
  const { sender, recipient, message_type, content } = seen.card;
  return {
    role: "button",
    tabindex: seen === chosen || (chosen === undefined && at === 0) ? 0 : -1,
    "data-card": at + 1,
    "aria-pressed": String(seen === chosen),
    "aria-label": oneLine(
      `Card ${at + 1}, ${message_type} from ${sender} to ${recipient}: ${content.slice(0, 200)}`,
    ),
    onclick: () => choose(seen),
    onkeydown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(seen);
    },
  };
}
