import type { JsonValue } from "../../../protocol/index.ts";
import { toDict } from "../../card/parse-card.ts";
import type { PageSample, SeenCard } from "../run-model.ts";
import { announce, html, said } from "./dom.ts";
import { kindOf } from "./sequence-view.ts";
import { duration } from "./words.ts";

/** All of a card: what it says, what else it tells, and the six members as they are. */
export function inspectorOf(sample: PageSample, seen: SeenCard, go: (seen: SeenCard) => void): HTMLElement[] {
  const { card } = seen;
  const at = sample.cards.indexOf(seen) + 1;
  const asked = sample.cards.find(
    (other) =>
      card.metadata.in_reply_to !== undefined && other.card.metadata.card_id === card.metadata.in_reply_to,
  );
  const raw = rawOf(seen);
  return [
    html(
      "header",
      { class: `card-head ${kindOf(card)}` },
      html("span", { class: "badge" }, said(card.message_type)),
      html("h2", {}, `Card ${at}`),
      html("p", {}, said(card.sender), " → ", said(card.recipient)),
    ),
    html("p", { class: "content", dir: "auto" }, said(card.content)),
    html(
      "dl",
      { class: "metadata" },
      ...[
        ...timesOf(seen),
        ...Object.entries(card.metadata).map(([name, value]) => [name, plain(value)] as const),
        ...wayOf(seen),
      ].flatMap(([name, value]) => [html("dt", {}, said(name)), html("dd", {}, said(value))]),
    ),
    ...(asked
      ? [
          html(
            "button",
            { type: "button", class: "link", onclick: () => go(asked) },
            `${card.recipient === asked.card.sender ? "replies to" : "comes of"} card ${sample.cards.indexOf(asked) + 1}`,
          ),
        ]
      : []),
    html(
      "details",
      { class: "raw", open: true },
      html("summary", {}, "JSON"),
      html("button", { type: "button", class: "copy", onclick: () => void copy(raw) }, "Copy"),
      html("pre", { dir: "ltr" }, html("code", {}, raw)),
    ),
  ];
}

function timesOf({ card, sent, arrived }: SeenCard): [string, string][] {
  return [
    ["sent", card.timestamp],
    ...(arrived > sent ? [["under way", duration(arrived - sent)] as [string, string]] : []),
  ];
}

/** How it travelled, and who tells. */
function wayOf({ line }: SeenCard): [string, string][] {
  return [
    ...(line.dir === "out" ? [] : [["recorded by", `${line.at_role} (${line.dir})`] as [string, string]]),
    ...Object.entries(line.a2a ?? {}).map(
      ([name, value]) => [`A2A ${name}`, plain(value)] as [string, string],
    ),
  ];
}

/** The six members; characters that would change the order of what is seen, as JSON's escapes. */
function rawOf({ card }: SeenCard): string {
  return JSON.stringify(toDict(card), null, 2).replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function plain(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied.");
  } catch {
    const code = document.querySelector(".raw code");
    if (code) getSelection()?.selectAllChildren(code);
    announce("Copying is not allowed here; the text is selected.");
  }
}
