import type { MessageCard, CardMetadata, CardTokenUsage } from "../message-card/index.ts";
import { formatCardMetadataValue } from "./card-metadata-value.ts";
import {
  fitToColumns,
  toSingleLine,
  escapeControlCharacters,
  measureColumns,
  wrapText,
} from "./text-width.ts";

/** Options of `renderCardBoxes`. */
export interface CardBoxOptions {
  /** Width of a box in terminal columns. Default: 78, minimum: 40. */
  readonly width?: number;
  /** Whether to color the box frames by card type with ANSI escape codes. Default: `false`. */
  readonly colors?: boolean;
}

/** Renders message cards as a vertical list of boxes. */
export function renderCardBoxes(
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
