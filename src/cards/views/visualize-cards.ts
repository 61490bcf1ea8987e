import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  type MessageCard,
  type CardMetadata,
  type CardTokenUsage,
  type CardType,
  CORE_CARD_TYPES,
} from "../message-card/index.ts";
import {
  fitToColumns,
  toSingleLine,
  escapeControlCharacters,
  measureColumns,
  wrapText,
  truncateLine,
} from "./text-width.ts";
import { isObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

/** Options of `visualizeCards`. */
export interface VisualizeOptions extends CardBoxOptions {
  /**
   * Style of the output, either `boxes` or `classic`. The style `classic` is the plain list of 80 columns
   * from the specification. Default: `boxes`.
   */
  readonly style?: "boxes" | "classic";
}

const assertKnownOptions = defineOptionNames<VisualizeOptions>()("visualizeCards", "colors style width");

/** Renders a vertical list of message cards with direction, time, content, and metadata. */
export function visualizeCards(cards: readonly MessageCard[], options: VisualizeOptions = {}): string {
  assertKnownOptions(options);
  return options.style === "classic" ? renderPlainTextCardList(cards) : renderCardBoxes(cards, options);
}

/** Options of `renderCardBoxes`. */
export interface CardBoxOptions {
  /** Width of a box in terminal columns. Default: 78, minimum: 40. */
  readonly width?: number;
  /** Whether to color the box frames by card type with ANSI escape codes. Default: `false`. */
  readonly colors?: boolean;
}

/** Renders message cards as a vertical list of boxes. */
function renderCardBoxes(
  cards: readonly MessageCard[],
  { width = 78, colors = false }: CardBoxOptions = {},
): string {
  const numbers = new Map(cards.map(({ metadata }, at) => [metadata.card_id, at + 1]));
  return cards
    .map((card, at) =>
      renderCardBox(
        card,
        at + 1,
        numbers,
        Math.max(40, width),
        colors ? getCardTypeColorizer(card) : keepUncolored,
      ),
    )
    .join("\n");
}

type TextColorizer = (text: string) => string;

const keepUncolored: TextColorizer = (text) => text;

/** ANSI codes of cyan, green, yellow, magenta, and red, which are readable on light and dark backgrounds. */
const ANSI_COLORS: ReadonlyMap<string, number> = new Map([
  ["task", 36],
  ["result", 32],
  ["query", 33],
  ["control", 35],
  ["error", 31],
]);

function getCardTypeColorizer({ message_type }: MessageCard): TextColorizer {
  const color = ANSI_COLORS.get(message_type) ?? 34;
  return (text) => `\u001b[${color}m${text}\u001b[39m`;
}

/** Number of each rendered message card, by `card_id`. */
type CardNumbersById = ReadonlyMap<string | undefined, number>;

function renderCardBox(
  card: MessageCard,
  number: number,
  numbers: CardNumbersById,
  width: number,
  paint: TextColorizer,
): string {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  const inside = width - 4;
  const time = /\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?/.exec(timestamp)?.[0] ?? "";
  const heading = `${number} ${toSingleLine(message_type).toUpperCase()}  ${toSingleLine(sender)} → ${toSingleLine(recipient)}`;
  const room = inside - time.length - 3;
  const title = measureColumns(heading) > room ? fitToColumns(heading, room) : heading;
  const notes = formatMetadata(metadata, numbers);
  const side = paint("│");
  return [
    paint(`┌ ${title} ${"─".repeat(inside - measureColumns(title) - time.length - 2)} ${time} ┐`),
    ...[
      ...wrapText(escapeControlCharacters(content), inside),
      ...(notes === "" ? [] : wrapText(`· ${notes}`, inside)),
    ].map((line) => `${side} ${fitToColumns(line, inside)} ${side}`),
    paint(`└${"─".repeat(width - 2)}┘`),
  ].join("\n");
}

/** Metadata members that a box omits, because other text or the position of the box already shows them. */
const OMITTED_METADATA_MEMBERS: ReadonlySet<string> = new Set([
  "card_id",
  "run_id",
  "sample_id",
  "in_reply_to",
  "usage",
]);

function formatMetadata(metadata: CardMetadata, numbers: CardNumbersById): string {
  const { in_reply_to, tokens, usage } = metadata;
  const notes = Object.entries(metadata).flatMap(([name, value]) => {
    if (
      value === undefined ||
      OMITTED_METADATA_MEMBERS.has(name) ||
      (name === "tokens" && usage !== undefined)
    )
      return [];
    // A reply has the same dataset as its task.
    if (name === "dataset" && in_reply_to !== undefined) return [];
    if (name === "duration_ms") return `${Math.round(Number(value))} ms`;
    return value === true ? name : `${name}=${formatCardMetadataValue(name, value)}`;
  });
  if (usage !== undefined) notes.push(formatUsage(usage, tokens));
  if (in_reply_to !== undefined) notes.push(`re=${numbers.get(in_reply_to) ?? in_reply_to}`);
  return notes.map(toSingleLine).join("  ");
}

/**
 * Formats token usage as `tokens=213 (182 in, 31 out, estimated)`, or as `tokens=?` if the usage is unknown.
 */
function formatUsage(
  { input_tokens, output_tokens, source }: CardTokenUsage,
  tokens: number | undefined,
): string {
  if (source === "none" && input_tokens + output_tokens === 0) return "tokens=?";
  const estimated = source === "reported" ? "" : `, ${source}`;
  return `tokens=${tokens ?? input_tokens + output_tokens} (${input_tokens} in, ${output_tokens} out${estimated})`;
}

/**
 * Formats the value of a metadata member for people. The titles of documents replace their texts, and a short phrase
 * replaces each failed try. All other objects are JSON.
 */
export function formatCardMetadataValue(name: string, value: JsonValue): string {
  if (typeof value === "string") return value;
  if (name === "context" && isObject(value)) return formatContext(value);
  if (Array.isArray(value)) {
    const texts = value.map((item) =>
      name === "failed_tries" && isObject(item) ? formatFailedTry(item) : item,
    );
    if (texts.every((item) => typeof item === "string")) return texts.join(" | ");
  }
  return JSON.stringify(value);
}

function formatContext({ documents, ...rest }: JsonObject): string {
  const other = Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : [];
  if (!Array.isArray(documents))
    return documents === undefined ? other.join("") : JSON.stringify({ documents, ...rest });
  const titles = documents.map((entry) => (isObject(entry) ? entry["title"] : undefined));
  const named = titles.filter((title) => typeof title === "string");
  const count = documents.length === 1 ? "1 document" : `${documents.length} documents`;
  return [named.length > 0 ? `${count}: ${named.join(" | ")}` : count, ...other].join("  ");
}

function formatFailedTry({ reason, error, http_status, wait_ms }: JsonObject): string {
  const status = typeof http_status === "number" ? ` ${http_status}` : "";
  const wait = typeof wait_ms === "number" && wait_ms > 0 ? ` (repeated after ${wait_ms / 1_000} s)` : "";
  return `${typeof reason === "string" ? reason : "failed"}${status}: ${typeof error === "string" ? error : "unknown"}${wait}`;
}

const CARD_LIST_SEPARATOR_LINE = "=".repeat(80);
/**
 * Maximum width of a message card's content in terminal columns. The list truncates long texts of message
 * cards.
 */
const MAX_CONTENT_COLUMNS = 103;

/**
 * Renders message cards as a plain text list (`[Card 1]` and so on), which is suitable for logs and emails.
 */
function renderPlainTextCardList(cards: readonly MessageCard[]): string {
  return [
    CARD_LIST_SEPARATOR_LINE,
    "A2A CARD COMMUNICATION FLOW",
    CARD_LIST_SEPARATOR_LINE,
    ...cards.flatMap((card, at) => renderCardListEntry(card, at + 1)),
    CARD_LIST_SEPARATOR_LINE,
    `Total Cards: ${cards.length}`,
    CARD_LIST_SEPARATOR_LINE,
  ].join("\n");
}

function renderCardListEntry(card: MessageCard, number: number): string[] {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  const { status } = metadata;
  const isResult = message_type === "result" && typeof status === "string";
  return [
    "",
    `[Card ${number}] ${toSingleLine(timestamp)}`,
    `  From: ${toSingleLine(sender).toUpperCase()}`,
    `  To:   ${toSingleLine(recipient).toUpperCase()}`,
    `  Type: ${toSingleLine(message_type).toUpperCase()}`,
    ...(isResult ? [`  Status: ${toSingleLine(status)}`] : []),
    `  ${CONTENT_LABELS_BY_CARD_TYPE.get(message_type) ?? "Content"}: ${truncateLine(content, MAX_CONTENT_COLUMNS, "...")}`,
    ...(Object.keys(metadata).length > 0 ? [`  Metadata: ${toSingleLine(JSON.stringify(metadata))}`] : []),
    `  ${"-".repeat(76)}`,
  ];
}

const CONTENT_LABELS_BY_CARD_TYPE: ReadonlyMap<string, string> = new Map([
  ["task", "Task"],
  ["result", "Result"],
  ["control", "Action"],
]);

const STYLED_CARD_TYPES: ReadonlySet<string> = new Set(["task", "result", "query", "control", "error"]);

/** Returns the CSS class of a card type: the name of the core type, or `other` for custom types. */
export function getCardTypeClass(type: string | undefined): string {
  return type !== undefined && STYLED_CARD_TYPES.has(type) ? type : "other";
}

const SENDER_COLUMN_WIDTH = 14;
const CARD_SYMBOL_COLUMN_WIDTH = 12;

/** Options of `generateFlowDiagram`. */
export interface FlowDiagramOptions {
  /**
   * Card types with their symbols in the diagram, for example the `types` of a card protocol. Default: the
   * five core card types.
   */
  readonly types?: readonly CardType[];
}

const assertKnownFlowDiagramOptions = defineOptionNames<FlowDiagramOptions>()("generateFlowDiagram", "types");

/**
 * Renders the flow of message cards, one card per line, in the format of the specification.
 * The sender is always on the left, so a result from the solver is rendered as `SOLVER ← [RESULT] PLANNER`.
 */
export function generateFlowDiagram(cards: readonly MessageCard[], options: FlowDiagramOptions = {}): string {
  assertKnownFlowDiagramOptions(options);
  const { types = CORE_CARD_TYPES } = options;
  const symbols = new Map<string, string>(types.map(({ name, symbol }) => [name, symbol]));
  return cards
    .map(({ sender, recipient, message_type }, at) => {
      const symbol = symbols.get(message_type) ?? "• [MSG]";
      return `${at + 1}. ${padColumn(sender, SENDER_COLUMN_WIDTH)}${padColumn(symbol, CARD_SYMBOL_COLUMN_WIDTH)}${toSingleLine(recipient).toUpperCase()}`;
    })
    .join("\n");
}

/** Pads a role name to a column width and never truncates the role name. */
function padColumn(text: string, columns: number): string {
  const name = toSingleLine(text).toUpperCase();
  return name.length < columns ? fitToColumns(name, columns) : `${name} `;
}
