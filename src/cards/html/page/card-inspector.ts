import type { JsonValue } from "../../../protocol/index.ts";
import { toDict } from "../../message-card/parse-card.ts";
import { getCardTypeClass } from "../../views/card-type-class.ts";
import type { PageSample, PageCard } from "../run-model.ts";
import { announceToScreenReader, createElement, createIsolatedText } from "./dom.ts";
import { formatDuration } from "./text-format.ts";

/** All of a card: what it says, what else it tells, and the six members as they are. */
export function renderCardInspector(
  sample: PageSample,
  seen: PageCard,
  go: (seen: PageCard) => void,
): HTMLElement[] {
  const { card } = seen;
  const at = sample.cards.indexOf(seen) + 1;
  const asked = sample.cards.find(
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
        ...Object.entries(card.metadata).map(([name, value]) => [name, formatValue(value)] as const),
        ...listTransportFields(seen),
      ].flatMap(([name, value]) => [
        createElement("dt", {}, createIsolatedText(name)),
        createElement("dd", {}, createIsolatedText(value)),
      ]),
    ),
    ...(asked
      ? [
          createElement(
            "button",
            { type: "button", class: "link", onclick: () => go(asked) },
            `${card.recipient === asked.card.sender ? "replies to" : "comes of"} card ${sample.cards.indexOf(asked) + 1}`,
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

function listTimeFields({ card, sentMs: sent, arrivedMs: arrived }: PageCard): [string, string][] {
  return [
    ["sent", card.timestamp],
    ...(arrived > sent ? [["under way", formatDuration(arrived - sent)] as [string, string]] : []),
  ];
}

/** How it travelled, and who tells. */
function listTransportFields({ line }: PageCard): [string, string][] {
  return [
    ...(line.dir === "out" ? [] : [["recorded by", `${line.at_role} (${line.dir})`] as [string, string]]),
    ...Object.entries(line.a2a ?? {}).map(
      ([name, value]) => [`A2A ${name}`, formatValue(value)] as [string, string],
    ),
  ];
}

/** The six members; characters that would change the order of what is seen, as JSON's escapes. */
function formatCardJson({ card }: PageCard): string {
  return JSON.stringify(toDict(card), null, 2).replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function formatValue(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function copyToClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announceToScreenReader("Copied.");
  } catch {
    const code = document.querySelector(".raw code");
    if (code) getSelection()?.selectAllChildren(code);
    announceToScreenReader("Copying is not allowed here; the text is selected.");
  }
}
