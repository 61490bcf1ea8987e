import { estimateJsonSize, isPlainTextPart, type TaskEvent } from "../protocol/index.ts";
import type { TurnRequest } from "./turn.ts";

/** Size in characters of an event without its content: its ids, and the names of its members. */
const SIZE_WITHOUT_CONTENT = 256;
const SIZE_OF_PART_WITHOUT_TEXT = 12;

/** Returns the approximate size of a request in characters of JSON. A known size needs no walk over the message. */
export function measureRequestSize({
  request,
  serviceParameters,
}: Pick<TurnRequest, "request" | "serviceParameters">): number {
  return serviceParameters.requestSize ?? estimateJsonSize(request);
}

/** Returns the approximate size of the message of a request, which is at most the known size of the request. */
export function measureMessageSize({
  request,
  serviceParameters,
}: Pick<TurnRequest, "request" | "serviceParameters">): number {
  return serviceParameters.requestSize ?? estimateJsonSize(request.message);
}

/**
 * Returns the approximate size of an event in characters of JSON. The size of a chunk of plain text, the most frequent
 * event, needs no walk over its members.
 */
export function measureEventSize(event: TaskEvent): number {
  return measurePlainTextChunk(event) ?? estimateJsonSize(event);
}

/** Returns the size of a chunk of plain text, or `undefined` for all other events. */
function measurePlainTextChunk(event: TaskEvent): number | undefined {
  if (!("artifactUpdate" in event)) return undefined;
  const { artifact, metadata } = event.artifactUpdate;
  const { name, description, extensions } = artifact;
  if (name !== undefined || description !== undefined || extensions !== undefined) return undefined;
  if (artifact.metadata !== undefined || metadata !== undefined) return undefined;
  let size = SIZE_WITHOUT_CONTENT;
  for (const part of artifact.parts) {
    if (!isPlainTextPart(part)) return undefined;
    size += SIZE_OF_PART_WITHOUT_TEXT + part.text.length;
  }
  return size;
}
