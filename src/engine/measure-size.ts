import { estimateJsonSize, type Part, type TaskEvent } from "../protocol/index.ts";
import type { InboundMessage } from "./inbound-message.ts";

/** Size in characters of an event without its content: its ids, and the names of its members. */
const SIZE_WITHOUT_CONTENT = 256;

/** Returns the approximate size of a request in characters of JSON. A known size needs no walk over the message. */
export function measureRequestSize({
  request,
  serviceParameters,
}: Pick<InboundMessage, "request" | "serviceParameters">): number {
  return serviceParameters.requestSize ?? estimateJsonSize(request);
}

/**
 * Returns the approximate size of an event in characters of JSON. The size of a chunk of text, the most frequent event,
 * needs no walk over its members.
 */
export function measureEventSize(event: TaskEvent): number {
  if ("statusUpdate" in event) {
    const { status, metadata } = event.statusUpdate;
    return SIZE_WITHOUT_CONTENT + measureOptional(status.message) + measureOptional(metadata);
  }
  if (!("artifactUpdate" in event)) return estimateJsonSize(event);
  const { artifact, metadata } = event.artifactUpdate;
  let size = SIZE_WITHOUT_CONTENT + measureOptional(artifact.metadata) + measureOptional(metadata);
  for (const part of artifact.parts) size += measurePart(part);
  return size;
}

function measureOptional(json: object | undefined): number {
  return json === undefined ? 0 : estimateJsonSize(json);
}

function measurePart(part: Part): number {
  if ("text" in part && part.metadata === undefined) return part.text.length;
  return estimateJsonSize(part);
}
