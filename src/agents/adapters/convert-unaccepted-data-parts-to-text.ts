import type { AgentEvent, Run } from "../../engine/index.ts";
import { acceptsMediaType, getMediaType, type Part } from "../../protocol/index.ts";

/**
 * Converts data parts to JSON text for clients that accept text but not JSON (A2A §3.2.2,
 * `acceptedOutputModes`). The function never removes a part from the answer. To check for another media type,
 * an agent can call `acceptsMediaType(run.configuration, "image/png")`.
 */
export function convertUnacceptedDataPartsToText(
  events: AsyncIterable<AgentEvent>,
  { configuration }: Run,
): AsyncIterable<AgentEvent> {
  const acceptsText = acceptsMediaType(configuration, "text/plain");
  if (!acceptsText || acceptsMediaType(configuration, "application/json")) return events;
  return mapAgentEventStreamParts(events, (part) =>
    "data" in part && !acceptsMediaType(configuration, getMediaType(part) ?? "")
      ? dataPartToTextPart(part)
      : part,
  );
}

async function* mapAgentEventStreamParts(
  events: AsyncIterable<AgentEvent>,
  convertPart: (part: Part) => Part,
): AsyncGenerator<AgentEvent, void, undefined> {
  for await (const event of events) yield mapAgentEventParts(event, convertPart);
}

function mapAgentEventParts(event: AgentEvent, convertPart: (part: Part) => Part): AgentEvent {
  if ("artifact" in event) {
    return { ...event, artifact: { ...event.artifact, parts: event.artifact.parts.map(convertPart) } };
  }
  if ("message" in event) {
    return { ...event, message: { ...event.message, parts: event.message.parts.map(convertPart) } };
  }
  const { message, ...status } = event.status;
  if (!message) return event;
  return { ...event, status: { ...status, message: { ...message, parts: message.parts.map(convertPart) } } };
}

/** Creates a text part with a media type, which prevents a merge with adjacent text. */
function dataPartToTextPart({ data, ...otherFields }: Extract<Part, { data: unknown }>): Part {
  return { ...otherFields, text: JSON.stringify(data), mediaType: "text/plain" };
}
