import type { JsonValue } from "../../../protocol/index.ts";
import { toDict } from "../../message-card/parse-card.ts";
import { getCardTypeClass } from "../../views/card-type-class.ts";
import type { PageSample, PageCard } from "../run-model.ts";
import { announceToScreenReader, createElement, createIsolatedText } from "./dom.ts";
import { formatDuration } from "./text-format.ts";

/** Renders the content, metadata, transport fields, and JSON of a message card. */
export function renderCardInspector(
  sample: PageSample,
  seen: PageCard,
  go: (seen: PageCard) => void,
): HTMLElement[] {
  const { card } = seen;
  const at = sample.cards.indexOf(seen) + 1;
  const cause = sample.cards.find(
    (other) =>
      card.metadata.in_reply_to !== undefined && other.card.metadata.card_id === card.metadata.in_reply_to,
  );
  const raw = formatCardJson(seen);
  return [
    createElement(
      "header",
      { class: `card-head ${getCardTypeClass(card.message_type)}` },
      createElement("span", { class: "badge" }, createIsolatedText(card.message_type)),
      createElement("h2", {}, `Card ${at}`),
      createElement("p", {}, createIsolatedText(card.sender), " → ", createIsolatedText(card.recipient)),
    ),
    createElement("p", { class: "content", dir: "auto" }, createIsolatedText(card.content)),
    createElement(
      "dl",
      { class: "metadata" },
      ...[
        ...listTimeFields(seen),
        ...Object.entries(card.metadata).map(([name, value]) => [name, formatFieldValue(value)] as const),
        ...listTransportFields(seen),
      ].flatMap(([name, value]) => [
        createElement("dt", {}, createIsolatedText(name)),
        createElement("dd", {}, createIsolatedText(value)),
      ]),
    ),
    ...(cause
      ? [
          createElement(
            "button",
            { type: "button", class: "link", onclick: () => go(cause) },
            `${card.recipient === cause.card.sender ? "reply to" : "result of"} card ${sample.cards.indexOf(cause) + 1}`,
          ),
        ]
      : []),
    createElement(
      "details",
      { class: "raw", open: true },
      createElement("summary", {}, "JSON"),
      createElement(
        "button",
        { type: "button", class: "copy", onclick: () => void copyToClipboard(raw) },
        "Copy",
      ),
      createElement("pre", { dir: "ltr" }, createElement("code", {}, raw)),
    ),
  ];
}

function listTimeFields({ card, sentMs, arrivedMs }: PageCard): [string, string][] {
  return [
    ["sent", card.timestamp],
    ...(arrivedMs > sentMs ? [["in transit", formatDuration(arrivedMs - sentMs)] as [string, string]] : []),
  ];
}

/** Returns the transport fields of a message card and the name of the role that recorded the card. */
function listTransportFields({ line }: PageCard): [string, string][] {
  return [
    ...(line.dir === "out" ? [] : [["recorded by", `${line.at_role} (${line.dir})`] as [string, string]]),
    ...Object.entries(line.a2a ?? {}).map(
      ([name, value]) => [`A2A ${name}`, formatFieldValue(value)] as [string, string],
    ),
  ];
}

/**
 * Formats the six members of a message card as JSON and escapes characters that change the text direction.
 */
function formatCardJson({ card }: PageCard): string {
  return JSON.stringify(toDict(card), null, 2).replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function formatFieldValue(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function copyToClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announceToScreenReader("Copied.");
  } catch {
    const code = document.querySelector(".raw code");
    if (code) getSelection()?.selectAllChildren(code);
    announceToScreenReader("The browser does not allow copying. The text is selected.");
  }
}
