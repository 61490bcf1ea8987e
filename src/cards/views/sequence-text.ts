import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type MessageCard, parseCardTime } from "../message-card/index.ts";
import { truncateToColumns, fitToColumns, toSingleLine, measureColumns } from "./text-width.ts";
import { escapeMermaidLabel as escaped, renderMermaidSequence } from "../../observe/trace/index.ts";

/** Options of `renderSequenceText`. */
export interface SequenceTextOptions {
  /**
   * Width of the diagram in terminal columns. Default: 100. The diagram is wider if its roles require more
   * space. Each role requires at least 16 columns.
   */
  readonly width?: number;
}

const assertKnownOptions = defineOptionNames<SequenceTextOptions>()("renderSequenceText", "width");

/** Width of the time column in terminal columns, including the preceding space. */
const TIME_COLUMNS = 13;
/** Minimum distance between the lifelines of two roles in terminal columns. */
const MIN_LANE_COLUMNS = 16;
const MAX_LANE_COLUMNS = 40;
const MAX_NAME_COLUMNS = 16;

/**
 * Renders a text diagram that shows message cards as arrows between the lifelines of the roles. Arrows of
 * tasks are solid, and arrows of replies are dashed. The rightmost column shows the time since the previous
 * message card.
 */
export function renderSequenceText(cards: readonly MessageCard[], options: SequenceTextOptions = {}): string {
  assertKnownOptions(options);
  const { width = 100 } = options;
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  const names = roles.map((role) => truncateToColumns(toSingleLine(role).toUpperCase(), MAX_NAME_COLUMNS));
  const left = Math.ceil(measureColumns(names.at(0) ?? "") / 2);
  const right = Math.floor(measureColumns(names.at(-1) ?? "") / 2);
  // A card from a role to itself is drawn to the right of its line, even for the last role.
  const hasSelf = cards.some(({ sender, recipient }) => sender === recipient);
  const gaps = Math.max(1, roles.length - (hasSelf ? 0 : 1));
  const room = Math.floor((width - left - right - TIME_COLUMNS) / gaps);
  const gap = Math.min(MAX_LANE_COLUMNS, Math.max(MIN_LANE_COLUMNS, room));
  const places = roles.map((_, at) => left + at * gap);
  const end = (places.at(-1) ?? 0) + (hasSelf ? gap : right + 1);
  const answers = mapConcurrentRepliesToTaskNumbers(cards);

  const rows = cards.map((card, at) => {
    const from = roles.indexOf(card.sender);
    const to = roles.indexOf(card.recipient);
    const line = new DiagramLine(end, places);
    const start = places[Math.min(from, to)] ?? 0;
    const columns = from === to ? gap - 1 : Math.abs(from - to) * gap - 1;
    const label = `${at + 1} ${formatArrowLabel(card, columns, answers.get(card))}`;
    line.putText(start + 1, renderTextCardArrow(card, label, columns, to - from));
    return `${line.finish()}   ${formatTimeSincePreviousCard(cards[at - 1], card)}`;
  });
  const header = new DiagramLine(end, []);
  for (const [at, name] of names.entries()) {
    const shown = truncateToColumns(name, gap - 1);
    header.putText((places[at] ?? 0) - Math.floor(measureColumns(shown) / 2), shown);
  }
  return [header.finish(), ...rows].map((line) => line.trimEnd()).join("\n");
}

/** Text line of a sequence diagram. Where a line has no other text, it shows the lifelines of the roles. */
class DiagramLine {
  readonly #width: number;
  readonly #laneColumns: readonly number[];
  #text = "";
  #column = 0;

  constructor(end: number, places: readonly number[]) {
    this.#width = end;
    this.#laneColumns = places;
  }

  putText(at: number, text: string): void {
    this.#fillToColumn(at);
    this.#text += text;
    this.#column += measureColumns(text);
  }

  finish(): string {
    this.#fillToColumn(this.#width);
    return this.#text;
  }

  #fillToColumn(end: number): void {
    for (; this.#column < end; this.#column++)
      this.#text += this.#laneColumns.includes(this.#column) ? "│" : " ";
  }
}

/**
 * Renders a labeled arrow of the given width. The arrow direction is 0 if a role sent the message card to
 * itself.
 */
function renderTextCardArrow(card: MessageCard, label: string, columns: number, direction: number): string {
  const isReply = card.message_type === "result" || card.message_type === "error";
  const dash = isReply ? "╌" : "─";
  if (direction === 0) return fitToColumns(`↺ ${label}`, columns);
  // The arrow has two dashes before the label, at least one after it, and the head.
  const shown = truncateToColumns(label, columns - 6);
  const rest = dash.repeat(columns - 5 - measureColumns(shown));
  return direction > 0 ? `${dash}${dash} ${shown} ${rest}▶` : `◀${rest} ${shown} ${dash}${dash}`;
}

/**
 * Formats an arrow label from the card type and, if the arrow is long enough, the content of the message
 * card.
 */
function formatArrowLabel(
  { message_type, content }: MessageCard,
  columns: number,
  taskNumber: number | undefined,
): string {
  const type = `${toSingleLine(message_type)}${taskNumber === undefined ? "" : ` to ${taskNumber}`}`;
  return columns < measureColumns(type) + 14 ? type : `${type} "${toSingleLine(content.slice(0, 500))}"`;
}

/** Formats the time since the previous message card as `+0.82s`, or as `0` for the first message card. */
function formatTimeSincePreviousCard(previous: MessageCard | undefined, card: MessageCard): string {
  if (!previous) return "0";
  const ms = parseCardTime(card) - parseCardTime(previous);
  return Number.isNaN(ms) ? "" : `${ms < 0 ? "-" : "+"}${formatDuration(Math.abs(ms))}`;
}

function formatDuration(ms: number): string {
  if (ms < 100_000) return `${(ms / 1_000).toFixed(2)}s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 600 ? `${minutes}min` : `${Math.round(minutes / 60)}h`;
}

/**
 * Returns the number of the task for each reply while several tasks between the same roles are open. The number is the
 * position of the task card, which starts at 1.
 */
export function mapConcurrentRepliesToTaskNumbers(cards: readonly MessageCard[]): Map<MessageCard, number> {
  const open = new Map<string, { readonly task: MessageCard; readonly number: number }>();
  const numbers = new Map<MessageCard, number>();
  for (const [at, card] of cards.entries()) {
    const { card_id = "", in_reply_to = "" } = card.metadata;
    const replied =
      card.message_type === "result" || card.message_type === "error" ? open.get(in_reply_to) : undefined;
    if (card.message_type === "task") open.set(card_id, { task: card, number: at + 1 });
    if (!replied) continue;
    const { sender, recipient } = replied.task;
    const concurrent = [...open.values()].filter(
      ({ task }) => task.sender === sender && task.recipient === recipient,
    );
    if (concurrent.length > 1) numbers.set(card, replied.number);
    open.delete(in_reply_to);
  }
  return numbers;
}

/** Mermaid arrow of each core card type. Custom card types use the Mermaid arrow of a task card. */
const ARROWS_BY_TYPE: ReadonlyMap<string, string> = new Map([
  ["result", "-->>"],
  ["control", "-)"],
  ["error", "-x"],
]);

/**
 * Renders message cards as a Mermaid sequence diagram, which GitHub and many editors display.
 * A reply contains the number of its task if several tasks of the role are open.
 */
export function renderSequenceMermaid(cards: readonly MessageCard[]): string {
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  const taskNumbers = mapConcurrentRepliesToTaskNumbers(cards);
  return renderMermaidSequence(roles, (ids) =>
    cards.flatMap((card) => {
      const { sender, recipient, message_type, content, metadata } = card;
      const task = taskNumbers.has(card) ? ` to ${taskNumbers.get(card)}` : "";
      const tokens = metadata.tokens === undefined ? "" : ` (${metadata.tokens} tok)`;
      const label = `${escaped(`[${message_type.toUpperCase()}${task}] ${content}`)}${tokens}`;
      const [from, to] = [ids.get(sender), ids.get(recipient)];
      const arrow = `    ${from}${ARROWS_BY_TYPE.get(message_type) ?? "->>"}${to}: ${label}`;
      const { options } = metadata;
      const hasOptions = message_type === "query" && Array.isArray(options) && options.length > 0;
      return hasOptions
        ? [arrow, `    Note over ${from},${to}: ${escaped(options.map(String).join(" | "))}`]
        : arrow;
    }),
  );
}
