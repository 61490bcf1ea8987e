import {
  type Artifact,
  isInterrupted,
  isTerminal,
  type Part,
  pushPart,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
} from "../../protocol/index.ts";
import { a2aKey, metadataKey } from "../metadata.ts";
import { type SessionEventOptions, toSessionEvent } from "../session-event.ts";
import type { AdkEvent } from "../types.ts";
import { ARTIFACT_IDS, CONTEXT_ID, MESSAGE_ID, remember, STATE, TASK_ID } from "./session-place.ts";

const PARTIAL = metadataKey("partial");

interface Place {
  readonly taskId: string;
  readonly contextId: string;
}

/**
 * What a peer streams as events of a session: each chunk as it comes, which no session keeps (`partial`), and every
 * artifact once as a whole, which one does. It is whole when the peer says so, and at the latest at the end of the turn.
 * One aggregation per request.
 */
export class Aggregation {
  readonly #options: SessionEventOptions;
  /** Artifacts that are not told as a whole yet; the one that grew last stands last. */
  readonly #open = new Map<string, Artifact>();
  /** What was told as a whole, as JSON; undefined for what was told before this request. */
  readonly #told = new Map<string, string | undefined>();
  readonly #ids = new Set<string>();
  #place: Place = { taskId: "", contextId: "" };

  /** `known`: the artifacts of the task that the session has already. */
  constructor(options: SessionEventOptions, known: readonly string[] = []) {
    this.#options = options;
    for (const id of known) this.#told.set(id, undefined);
  }

  /** Which task, in which conversation, the session is to remember. */
  get place(): Record<string, string> {
    const { taskId, contextId } = this.#place;
    return { ...(taskId && { [TASK_ID]: taskId }), ...(contextId && { [CONTEXT_ID]: contextId }) };
  }

  take(said: StreamResponse): AdkEvent[] {
    if ("message" in said) return [...this.end(), ...this.#event(said)];
    if ("task" in said) return this.#takeTask(said.task);
    if ("artifactUpdate" in said) return this.#takeChunk(said.artifactUpdate);
    const { taskId, contextId, status } = said.statusUpdate;
    this.#place = { taskId, contextId };
    const isOver = isTerminal(status.state) || isInterrupted(status.state);
    return [...(isOver ? this.end() : []), ...this.#event(said)];
  }

  /** What is not told yet: the stream is over, whatever ended it. */
  end(): AdkEvent[] {
    const artifacts = [...this.#open.values()];
    return artifacts.flatMap((artifact) => this.#whole(artifact));
  }

  #takeChunk(update: TaskArtifactUpdateEvent): AdkEvent[] {
    const { artifact, append, lastChunk, metadata, taskId, contextId } = update;
    const { artifactId, parts } = artifact;
    this.#place = { taskId, contextId };
    const events = this.#event({ artifactUpdate: update });
    const isMarked = typeof metadata?.[PARTIAL] === "boolean";
    if (isMarked) {
      // The peer tells the whole itself, or will.
      for (const event of events) if (!event.partial) this.#note(event, artifact);
      return events;
    }
    const grown = this.#grow(update);
    if (!lastChunk) return events;
    if (append || parts.length === 0) return [...events, ...this.#whole(grown)];
    this.#open.delete(artifactId);
    for (const event of events) this.#note(event, artifact);
    return events;
  }

  #grow({ artifact, append, metadata }: TaskArtifactUpdateEvent): Artifact {
    const { artifactId, parts } = artifact;
    const known = this.#open.get(artifactId);
    // An end without parts takes nothing away.
    const before = append || parts.length === 0 ? known : undefined;
    const grown: Artifact = { ...artifact, parts: before?.parts ?? [] };
    const said = { ...before?.metadata, ...artifact.metadata, ...metadata };
    if (Object.keys(said).length > 0) grown.metadata = said;
    for (const part of parts) pushPart(grown.parts, part);
    this.#open.delete(artifactId);
    if (grown.parts.length > 0) this.#open.set(artifactId, grown);
    return grown;
  }

  #whole(artifact: Artifact): AdkEvent[] {
    this.#open.delete(artifact.artifactId);
    const events = this.#event({ artifactUpdate: { ...this.#place, artifact, lastChunk: true } });
    for (const event of events) {
      this.#note(event, artifact);
      event.customMetadata = { ...event.customMetadata, [a2aKey("aggregated")]: true };
    }
    return events;
  }

  /** The whole task takes the place of what was streamed of it; what was told as a whole is not told again. */
  #takeTask(task: Task): AdkEvent[] {
    this.#place = { taskId: task.id, contextId: task.contextId };
    const streamed = new Map(this.#open);
    this.#open.clear();
    const artifacts = (task.artifacts ?? []).filter(
      (artifact) => !this.#isTold(artifact) && !isEmptied(artifact),
    );
    if (isTerminal(task.status.state) || isInterrupted(task.status.state)) {
      const events = this.#event({ task: { ...task, artifacts } });
      for (const event of events) this.#note(event, ...artifacts);
      return events;
    }
    const news: Artifact[] = [];
    for (const artifact of artifacts) {
      this.#open.set(artifact.artifactId, { ...artifact, parts: artifact.parts.slice() });
      const parts = addedTo(streamed.get(artifact.artifactId)?.parts ?? [], artifact.parts);
      if (parts.length > 0) news.push({ ...artifact, parts });
    }
    return this.#event({ task: { ...task, artifacts: news } });
  }

  #isTold({ artifactId, parts }: Artifact): boolean {
    if (!this.#told.has(artifactId)) return false;
    const told = this.#told.get(artifactId);
    return told === undefined || told === JSON.stringify(joined(parts));
  }

  #note(event: AdkEvent, ...artifacts: readonly Artifact[]): void {
    for (const { artifactId, parts } of artifacts) this.#told.set(artifactId, JSON.stringify(joined(parts)));
    remember(
      event,
      ARTIFACT_IDS,
      artifacts.map(({ artifactId }) => artifactId),
    );
  }

  #event(said: StreamResponse): AdkEvent[] {
    const event = toSessionEvent(said, this.#options);
    if (!event) return [];
    // What is not kept must not move anything either.
    if (event.partial) delete event.actions;
    else this.#dropRepeated(event);
    const state = stateIn(said);
    if (state && isInterrupted(state)) remember(event, STATE, state);
    if ("message" in said) remember(event, MESSAGE_ID, said.message.messageId);
    return [event];
  }

  /** Calls, and answers to calls, that stand in an artifact may stand in the status again. */
  #dropRepeated(event: AdkEvent): void {
    const parts = event.content?.parts ?? [];
    const kept = parts.filter(({ functionCall, functionResponse }) => {
      const id = functionCall?.id ?? functionResponse?.id;
      if (id === undefined) return true;
      const key = `${functionCall ? "call" : "response"} ${id}`;
      if (this.#ids.has(key)) return false;
      this.#ids.add(key);
      return true;
    });
    if (kept.length === parts.length) return;
    if (kept.length === 0) delete event.content;
    else event.content = { role: "model", parts: kept };
    const called = new Set(kept.map(({ functionCall }) => functionCall?.id));
    const waiting = event.longRunningToolIds?.filter((id) => called.has(id));
    if (waiting?.length) event.longRunningToolIds = waiting;
    else delete event.longRunningToolIds;
  }
}

function stateIn(said: StreamResponse): Task["status"]["state"] | undefined {
  if ("task" in said) return said.task.status.state;
  return "statusUpdate" in said ? said.statusUpdate.status.state : undefined;
}

/** ADK Go leaves its partial artifact behind with nothing in it. */
function isEmptied({ parts, metadata }: Artifact): boolean {
  return parts.every((part) => {
    const isPartial = metadata?.[PARTIAL] === true || part.metadata?.[PARTIAL] === true;
    return isPartial && "data" in part && JSON.stringify(part.data) === "{}";
  });
}

function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) pushPart(result, part);
  return result;
}

/** What `after` has beyond `before`; nothing when it has not grown out of it. */
function addedTo(before: readonly Part[], after: readonly Part[]): Part[] {
  const old = joined(before);
  const rest = joined(after);
  for (const [at, part] of old.entries()) {
    const next = rest.shift();
    if (!next) return [];
    if (JSON.stringify(next) === JSON.stringify(part)) continue;
    const isLast = at === old.length - 1;
    if (!isLast || !("text" in part) || !("text" in next) || !next.text.startsWith(part.text)) return [];
    return [{ ...next, text: next.text.slice(part.text.length) }, ...rest];
  }
  return rest;
}
