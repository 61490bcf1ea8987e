import {
  isInterrupted,
  isTerminal,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
} from "../../protocol/index.ts";
import { a2aKey, metadataKey } from "../metadata.ts";
import { toSessionEvent, type SessionEventOptions } from "../session-event.ts";
import type { AdkEvent, GenaiPart } from "../types.ts";

/** An artifact that grows. */
interface Growing {
  readonly parts: GenaiPart[];
  /** What the event that tells it whole says beside its content. */
  readonly about: AdkEvent;
}

/**
 * Makes events of a session from what a peer says. Chunks are partial events, which a session does not keep; what they
 * are together is an event of its own, as soon as the artifact is whole, or else before the turn ends.
 */
export class Aggregation {
  readonly #options: SessionEventOptions;
  /** By artifact, in the order in which they last grew. */
  readonly #growing = new Map<string, Growing>();
  /** Artifacts that were told whole. */
  readonly #whole = new Set<string>();
  readonly #calls = new Set<string>();

  constructor(options: SessionEventOptions) {
    this.#options = options;
  }

  /** A task as it was before this turn: its artifacts have been told. */
  know({ artifacts = [] }: Task): void {
    for (const { artifactId } of artifacts) this.#whole.add(artifactId);
  }

  take(said: StreamResponse): AdkEvent[] {
    if ("artifactUpdate" in said) return this.#takeChunk(said.artifactUpdate);
    if ("task" in said) return this.#takeTask(said);
    const event = this.#convert(said);
    if (!event) return [];
    return event.turnComplete ? [...this.flush(), this.#once(event)] : [event];
  }

  /** What is not told whole yet: the peer says no more. */
  flush(): AdkEvent[] {
    const events = [...this.#growing].map(([id, growing]) => this.#tellWhole(id, growing));
    return events.filter(({ content }) => content !== undefined);
  }

  #takeChunk(update: TaskArtifactUpdateEvent): AdkEvent[] {
    const { artifact, append, lastChunk, metadata } = update;
    const id = artifact.artifactId;
    const event = this.#convert({ artifactUpdate: update });
    if (!event) return [];
    // ADK Go says itself what is partial, and says the whole afterwards.
    if (typeof metadata?.[metadataKey("partial")] === "boolean") {
      return [event.partial ? event : this.#once(event)];
    }
    const before = append ? this.#growing.get(id) : undefined;
    const { partial: _, content, ...about } = event;
    const growing = { parts: before?.parts ?? [], about: { ...before?.about, ...about } };
    for (const part of content?.parts ?? []) pushGenai(growing.parts, part);
    this.#growing.delete(id);
    this.#growing.set(id, growing);
    if (!lastChunk) return [event];
    const whole = this.#tellWhole(id, growing);
    return append ? [event, whole] : [whole];
  }

  /** A task is everything that was said until now: what is known already is not said again. */
  #takeTask({ task }: Extract<StreamResponse, { task: unknown }>): AdkEvent[] {
    this.#growing.clear();
    const artifacts = (task.artifacts ?? []).filter(({ artifactId }) => !this.#whole.has(artifactId));
    if (isTerminal(task.status.state) || isInterrupted(task.status.state)) {
      const event = this.#convert({ task: { ...task, artifacts } });
      return event ? [this.#once(event)] : [];
    }
    for (const artifact of artifacts) {
      this.#takeChunk({ taskId: task.id, contextId: task.contextId, artifact });
    }
    return [];
  }

  #tellWhole(id: string, { parts, about }: Growing): AdkEvent {
    this.#growing.delete(id);
    this.#whole.add(id);
    return this.#once({
      ...about,
      customMetadata: { ...about.customMetadata, [a2aKey("aggregated")]: true },
      content: { role: "model", parts },
    });
  }

  /** A call is told once, though a peer may tell it in an artifact and again in its status. */
  #once(event: AdkEvent): AdkEvent {
    const { content, longRunningToolIds, ...rest } = event;
    const parts = content?.parts?.filter(({ functionCall }) => {
      const id = functionCall?.id;
      if (id === undefined) return true;
      if (this.#calls.has(id)) return false;
      this.#calls.add(id);
      return true;
    });
    const called = new Set(parts?.map(({ functionCall }) => functionCall?.id));
    const waiting = longRunningToolIds?.filter((id) => called.has(id));
    return {
      ...rest,
      ...(parts && parts.length > 0 && { content: { ...content, parts } }),
      ...(waiting && waiting.length > 0 && { longRunningToolIds: waiting }),
    };
  }

  #convert(said: StreamResponse): AdkEvent | undefined {
    return toSessionEvent(said, this.#options);
  }
}

/** Text continues text of its kind. */
function pushGenai(parts: GenaiPart[], part: GenaiPart): void {
  const last = parts.at(-1);
  if (last && isText(last) && isText(part) && last.thought === part.thought) {
    parts[parts.length - 1] = { ...last, text: `${last.text}${part.text}` };
  } else parts.push(part);
}

function isText(part: GenaiPart): part is GenaiPart & { text: string } {
  return part.text !== undefined && Object.keys(part).every((key) => key === "text" || key === "thought");
}
