import type { AgUiMessage } from "./run-agent-input.ts";
import type { AgUiEvent } from "./ag-ui-event-encoder.ts";

/**
 * Removes the content that a client already has from the events of a task. The client's own messages determine what it
 * has, so that a page which is reloaded between any two events receives exactly the rest.
 */
export class DeliveredMessages {
  /** Number of characters that the client has, by the id of a text message or a tool call. */
  readonly #knownLengths = new Map<string, number>();
  readonly #knownIds = new Set<string>();
  /** Number of characters that the events contained so far, by the id of a text message or a tool call. */
  readonly #lengths = new Map<string, number>();
  /** Start events of entities that the client has. They are sent only if more content follows. */
  readonly #heldStarts = new Map<string, AgUiEvent[]>();

  constructor(messages: readonly AgUiMessage[]) {
    for (const { id, role, content, toolCalls } of messages) {
      this.#knownIds.add(id);
      // The client has the complete messages of its user.
      const length = role === "user" ? Infinity : typeof content === "string" ? content.length : 0;
      this.#knownLengths.set(id, length);
      for (const call of toolCalls) {
        this.#knownIds.add(call.id);
        this.#knownLengths.set(call.id, call.arguments.length);
      }
    }
  }

  /** Records events that the client has received. */
  addDelivered(events: readonly AgUiEvent[]): void {
    for (const event of events) {
      const id = getEntityId(event);
      if (id === undefined) continue;
      this.#knownIds.add(id);
      if (typeof event["delta"] === "string")
        this.#knownLengths.set(id, (this.#lengths.get(id) ?? 0) + event["delta"].length);
      this.#selectNew(event);
    }
  }

  /** Returns the events without the content that the client has. */
  selectNew(events: readonly AgUiEvent[]): AgUiEvent[] {
    return events.flatMap((event) => this.#selectNew(event));
  }

  #selectNew(event: AgUiEvent): AgUiEvent[] {
    const id = getEntityId(event);
    if (id === undefined) return [event];
    if (event.type === "TOOL_CALL_RESULT") return this.#knownIds.has(id) ? [] : [event];
    if (event.type.endsWith("_START")) {
      if (!this.#knownIds.has(id)) return [event];
      this.#heldStarts.set(id, [...(this.#heldStarts.get(id) ?? []), event]);
      return [];
    }
    // The start of an entity that the client has was not sent, so neither is its end.
    if (event.type.endsWith("_END")) return this.#heldStarts.has(id) ? [] : [event];
    const { delta } = event;
    if (typeof delta !== "string") return [event];
    const start = this.#lengths.get(id) ?? 0;
    this.#lengths.set(id, start + delta.length);
    const newDelta = delta.slice(Math.max(0, (this.#knownLengths.get(id) ?? 0) - start));
    if (newDelta === "") return [];
    const held = this.#heldStarts.get(id) ?? [];
    this.#heldStarts.delete(id);
    return [...held, { ...event, delta: newDelta }];
  }
}

/** Returns the id of the message or tool call that an event changes. Other events replace what the client has. */
function getEntityId({ type, messageId, toolCallId }: AgUiEvent): string | undefined {
  if (type === "ACTIVITY_SNAPSHOT" || type === "CUSTOM") return undefined;
  if (type === "TOOL_CALL_RESULT") return typeof messageId === "string" ? messageId : undefined;
  const id = toolCallId ?? messageId;
  return typeof id === "string" ? id : undefined;
}
