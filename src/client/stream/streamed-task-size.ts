import { A2AError, type StreamResponse } from "../../protocol/index.ts";
import type { ReceivedStreamEvent } from "../transport/transport.ts";

/** Default of the option `maxTaskBytes`: 256 MiB. */
export const DEFAULT_MAX_TASK_BYTES: number = 256 * 2 ** 20;
/** Bytes that each event adds to its size, because an empty artifact also takes memory. */
const EVENT_OVERHEAD_BYTES = 100;

/**
 * Measures how large the task becomes that a reader builds from the events of a stream. An agent could otherwise fill
 * the memory of `collect`, of `ask`, and of the adapters with an endless stream. The measure is the size of the events
 * that the task still contains: a complete task replaces all earlier events, and a replaced artifact replaces its
 * earlier updates.
 */
export class StreamedTaskSize {
  readonly #maxBytes: number;
  readonly #bytesByArtifactId = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds an event. Throws `INVALID_AGENT_RESPONSE` if the task becomes too large. */
  add({ event, size: wireSize = 0 }: ReceivedStreamEvent): void {
    const size = wireSize + EVENT_OVERHEAD_BYTES;
    if ("task" in event) {
      this.#bytesByArtifactId.clear();
      this.#bytes = size;
    } else if ("artifactUpdate" in event) this.#addArtifactUpdate(event.artifactUpdate, size);
    else if (hasMessageOrMetadata(event)) this.#bytes += size;
    if (this.#bytes <= this.#maxBytes) return;
    const message = `The agent streamed a task of more than ${this.#maxBytes} bytes. Raise maxTaskBytes if this size is expected.`;
    throw new A2AError("INVALID_AGENT_RESPONSE", message);
  }

  #addArtifactUpdate(
    { artifact, append }: Extract<StreamResponse, { artifactUpdate: unknown }>["artifactUpdate"],
    size: number,
  ): void {
    const known = this.#bytesByArtifactId.get(artifact.artifactId) ?? 0;
    this.#bytesByArtifactId.set(artifact.artifactId, append ? known + size : size);
    this.#bytes += append ? size : size - known;
  }
}

/** A task keeps each message and the members of all metadata. A plain status replaces the previous status. */
function hasMessageOrMetadata(event: StreamResponse): boolean {
  if (!("statusUpdate" in event)) return true;
  const { status, metadata } = event.statusUpdate;
  return status.message !== undefined || metadata !== undefined;
}
