import type { VNode } from "preact";
import {
  formatCardMetadataValue,
  getCardTypeClass,
  type RecordedCall,
  toDict,
} from "../../../cards/index.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { useCopyHotkeys } from "../parts/copy-text.ts";
import { isObject, type JsonValue } from "../../../protocol/index.ts";
import { AgentText } from "./agent-text.tsx";
import type { PageCard, PageSample } from "./model/run-model.ts";
import { formatDuration } from "./text-format.ts";

interface CardInspectorProps {
  readonly sample: PageSample;
  readonly pageCard: PageCard;
  readonly onSelect: (pageCard: PageCard) => void;
}

/** The content, the metadata, the transport fields, and the JSON of a message card. */
export function CardInspector({ sample, pageCard, onSelect }: CardInspectorProps): VNode {
  const { card } = pageCard;
  const { in_reply_to: causeId } = card.metadata;
  const cause =
    causeId === undefined
      ? undefined
      : sample.timedCards.find((other) => other.card.metadata.card_id === causeId);
  const json = formatCardJson(pageCard);
  useCopyHotkeys(
    { name: "the card id", text: () => card.metadata.card_id ?? "" },
    { name: "the card as JSON", text: () => json },
  );
  return (
    <>
      <header class={`card-head ${getCardTypeClass(card.message_type)}`}>
        <span class="badge">
          <AgentText text={card.message_type} />
        </span>
        <h2>Card {sample.timedCards.indexOf(pageCard) + 1}</h2>
        <p>
          <AgentText text={card.sender} /> → <AgentText text={card.recipient} />
        </p>
      </header>
      <p class="content" dir="auto">
        <AgentText text={card.content} />
      </p>
      <dl class="metadata">
        {listFields(pageCard).map(([name, value], index) => (
          <div key={index}>
            <dt>
              <AgentText text={name} />
            </dt>
            <dd>
              <AgentText text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {cause && (
        <button type="button" class="link" onClick={() => onSelect(cause)}>
          {card.recipient === cause.card.sender ? "reply to" : "result of"} card{" "}
          {sample.timedCards.indexOf(cause) + 1}
        </button>
      )}
      {sample.calls
        .filter(({ cardId }) => cardId === card.metadata.card_id)
        .map(({ line }, index) => (
          <ModelCall key={index} line={line} />
        ))}
      <details class="raw" open>
        <summary>JSON</summary>
        <CopyButton text={() => json} label="Copy the card as JSON" />
        <pre dir="ltr" tabIndex={0}>
          <code>{json}</code>
        </pre>
      </details>
    </>
  );
}

/** A model call that led to the message card: its prompt, and its reply or its error. */
function ModelCall({ line }: { readonly line: RecordedCall["line"] }): VNode {
  const { model, prompt, reply, error, finish_reason } = line;
  return (
    <details class="raw" open>
      <summary>
        Call of <AgentText text={model} />, <AgentText text={error ?? finish_reason ?? "done"} />
      </summary>
      {listPromptMessages(prompt).map(({ role, text }, index) => (
        <pre key={index} dir="auto" tabIndex={0}>
          <AgentText text={`${role}: ${text}`} />
        </pre>
      ))}
      {reply !== undefined && (
        <pre dir="auto" tabIndex={0}>
          <AgentText text={`reply: ${formatFieldValue(reply)}`} />
        </pre>
      )}
    </details>
  );
}

function listPromptMessages(prompt: JsonValue | undefined): { role: string; text: string }[] {
  if (prompt === undefined) return [];
  const messages = isObject(prompt) && Array.isArray(prompt["messages"]) ? prompt["messages"] : [prompt];
  return messages.map((message) =>
    isObject(message) && typeof message["role"] === "string"
      ? { role: message["role"], text: formatFieldValue(message["text"] ?? "") }
      : { role: "prompt", text: formatFieldValue(message) },
  );
}

/** Returns the times, the metadata, and the transport fields of a message card. */
function listFields({
  card,
  sentMs,
  arrivedMs,
  operation,
  taskId,
  contextId,
}: PageCard): [name: string, value: string][] {
  return [
    ["sent", card.timestamp],
    ...(arrivedMs > sentMs ? [["in transit", formatDuration(arrivedMs - sentMs)] as [string, string]] : []),
    ...Object.entries(card.metadata).map(([name, value]): [string, string] => [
      name,
      value === undefined ? "" : formatCardMetadataValue(name, value),
    ]),
    ...Object.entries({ operation, task: taskId, context: contextId }).flatMap(
      ([name, value]): [string, string][] => (value === undefined ? [] : [[`A2A ${name}`, value]]),
    ),
  ];
}

/** Formats the six members of a message card as JSON and escapes characters that change the text direction. */
function formatCardJson({ card }: PageCard): string {
  return JSON.stringify(toDict(card), null, 2).replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function formatFieldValue(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
