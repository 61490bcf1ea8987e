import {
  type Artifact,
  isInterrupted,
  isTerminal,
  type Part,
  appendPart,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
} from "../../protocol/index.ts";
import { toA2aMetadataKey, toAdkMetadataKey } from "../metadata.ts";
import { type SessionEventOptions, toSessionEvent } from "../session-event.ts";
import type { AdkEvent } from "../types.ts";
import {
  ARTIFACT_IDS_KEY,
  CONTEXT_ID_KEY,
  MESSAGE_ID_KEY,
  setCustomMetadata,
  TASK_STATE_KEY,
  TASK_ID_KEY,
} from "./custom-metadata.ts";

const PARTIAL_KEY = toAdkMetadataKey("partial");

interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/**
 * What a peer streams as events of a session: each chunk as it comes, which no session keeps (`partial`), and every
 * artifact once as a whole, which one does. It is whole when the peer says so, and at the latest at the end of the turn.
 * One aggregation per request.
 */
export class StreamAggregator {
  readonly #options: SessionEventOptions;
  /** Artifacts that are not told as a whole yet; the one that grew last stands last. */
  readonly #openArtifacts = new Map<string, Artifact>();
  /** What was told as a whole, as JSON; undefined for what was told before this request. */
  readonly #emittedArtifacts = new Map<string, string | undefined>();
  readonly #seenCallKeys = new Set<string>();
  #taskIds: TaskIds = { taskId: "", contextId: "" };

  /** `known`: the artifacts of the task that the session has already. */
  constructor(options: SessionEventOptions, known: readonly string[] = []) {
    this.#options = options;
    for (const id of known) this.#emittedArtifacts.set(id, undefined);
  }

  /** Which task, in which conversation, the session is to remember. */
  get taskMetadata(): Record<string, string> {
    const { taskId, contextId } = this.#taskIds;
    return { ...(taskId && { [TASK_ID_KEY]: taskId }), ...(contextId && { [CONTEXT_ID_KEY]: contextId }) };
  }

  process(said: StreamResponse): AdkEvent[] {
    if ("message" in said) return [...this.finish(), ...this.#toSessionEvents(said)];
    if ("task" in said) return this.#processTask(said.task);
    if ("artifactUpdate" in said) return this.#processArtifactUpdate(said.artifactUpdate);
    const { taskId, contextId, status } = said.statusUpdate;
    this.#taskIds = { taskId, contextId };
    const isOver = isTerminal(status.state) || isInterrupted(status.state);
    return [...(isOver ? this.finish() : []), ...this.#toSessionEvents(said)];
  }

  /** What is not told yet: the stream is over, whatever ended it. */
  finish(): AdkEvent[] {
    const artifacts = [...this.#openArtifacts.values()];
    return artifacts.flatMap((artifact) => this.#emitCompleteArtifact(artifact));
  }

  #processArtifactUpdate(update: TaskArtifactUpdateEvent): AdkEvent[] {
    const { artifact, append, lastChunk, metadata, taskId, contextId } = update;
    const { artifactId, parts } = artifact;
    this.#taskIds = { taskId, contextId };
    const events = this.#toSessionEvents({ artifactUpdate: update });
    const isMarked = typeof metadata?.[PARTIAL_KEY] === "boolean";
    if (isMarked) {
      // The peer tells the whole itself, or will.
      for (const event of events) if (!event.partial) this.#recordEmitted(event, artifact);
      return events;
    }
    const grown = this.#updateOpenArtifact(update);
    if (!lastChunk) return events;
    if (append || parts.length === 0) return [...events, ...this.#emitCompleteArtifact(grown)];
    this.#openArtifacts.delete(artifactId);
    for (const event of events) this.#recordEmitted(event, artifact);
    return events;
  }

  #updateOpenArtifact({ artifact, append, metadata }: TaskArtifactUpdateEvent): Artifact {
    const { artifactId, parts } = artifact;
    const known = this.#openArtifacts.get(artifactId);
    // An end without parts takes nothing away.
    const before = append || parts.length === 0 ? known : undefined;
    const grown: Artifact = { ...artifact, parts: before?.parts ?? [] };
    const said = { ...before?.metadata, ...artifact.metadata, ...metadata };
    if (Object.keys(said).length > 0) grown.metadata = said;
    for (const part of parts) appendPart(grown.parts, part);
    this.#openArtifacts.delete(artifactId);
    if (grown.parts.length > 0) this.#openArtifacts.set(artifactId, grown);
    return grown;
  }

  #emitCompleteArtifact(artifact: Artifact): AdkEvent[] {
    this.#openArtifacts.delete(artifact.artifactId);
    const events = this.#toSessionEvents({ artifactUpdate: { ...this.#taskIds, artifact, lastChunk: true } });
    for (const event of events) {
      this.#recordEmitted(event, artifact);
      event.customMetadata = { ...event.customMetadata, [toA2aMetadataKey("aggregated")]: true };
    }
    return events;
  }

  /** The whole task takes the place of what was streamed of it; what was told as a whole is not told again. */
  #processTask(task: Task): AdkEvent[] {
    this.#taskIds = { taskId: task.id, contextId: task.contextId };
    const streamed = new Map(this.#openArtifacts);
    this.#openArtifacts.clear();
    const artifacts = (task.artifacts ?? []).filter(
      (artifact) => !this.#isEmitted(artifact) && !isEmptiedPartial(artifact),
    );
    if (isTerminal(task.status.state) || isInterrupted(task.status.state)) {
      const events = this.#toSessionEvents({ task: { ...task, artifacts } });
      for (const event of events) this.#recordEmitted(event, ...artifacts);
      return events;
    }
    const news: Artifact[] = [];
    for (const artifact of artifacts) {
      this.#openArtifacts.set(artifact.artifactId, { ...artifact, parts: artifact.parts.slice() });
      const parts = computeAddedParts(streamed.get(artifact.artifactId)?.parts ?? [], artifact.parts);
      if (parts.length > 0) news.push({ ...artifact, parts });
    }
    return this.#toSessionEvents({ task: { ...task, artifacts: news } });
  }

  #isEmitted({ artifactId, parts }: Artifact): boolean {
    if (!this.#emittedArtifacts.has(artifactId)) return false;
    const told = this.#emittedArtifacts.get(artifactId);
    return told === undefined || told === JSON.stringify(mergeAdjacentParts(parts));
  }

  #recordEmitted(event: AdkEvent, ...artifacts: readonly Artifact[]): void {
    for (const { artifactId, parts } of artifacts)
      this.#emittedArtifacts.set(artifactId, JSON.stringify(mergeAdjacentParts(parts)));
    setCustomMetadata(
      event,
      ARTIFACT_IDS_KEY,
      artifacts.map(({ artifactId }) => artifactId),
    );
  }

  #toSessionEvents(said: StreamResponse): AdkEvent[] {
    const event = toSessionEvent(said, this.#options);
    if (!event) return [];
    // What is not kept must not move anything either.
    if (event.partial) delete event.actions;
    else this.#removeRepeatedCalls(event);
    const state = getTaskState(said);
    if (state && isInterrupted(state)) setCustomMetadata(event, TASK_STATE_KEY, state);
    if ("message" in said) setCustomMetadata(event, MESSAGE_ID_KEY, said.message.messageId);
    return [event];
  }

  /** Calls, and answers to calls, that stand in an artifact may stand in the status again. */
  #removeRepeatedCalls(event: AdkEvent): void {
    const parts = event.content?.parts ?? [];
    const kept = parts.filter(({ functionCall, functionResponse }) => {
      const id = functionCall?.id ?? functionResponse?.id;
      if (id === undefined) return true;
      const key = `${functionCall ? "call" : "response"} ${id}`;
      if (this.#seenCallKeys.has(key)) return false;
      this.#seenCallKeys.add(key);
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

function getTaskState(said: StreamResponse): Task["status"]["state"] | undefined {
  if ("task" in said) return said.task.status.state;
  return "statusUpdate" in said ? said.statusUpdate.status.state : undefined;
}

/** ADK Go leaves its partial artifact behind with nothing in it. */
function isEmptiedPartial({ parts, metadata }: Artifact): boolean {
  return parts.every((part) => {
    const isPartial = metadata?.[PARTIAL_KEY] === true || part.metadata?.[PARTIAL_KEY] === true;
    return isPartial && "data" in part && JSON.stringify(part.data) === "{}";
  });
}

function mergeAdjacentParts(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) appendPart(result, part);
  return result;
}

/** What `after` has beyond `before`; nothing when it has not grown out of it. */
function computeAddedParts(before: readonly Part[], after: readonly Part[]): Part[] {
  const old = mergeAdjacentParts(before);
  const rest = mergeAdjacentParts(after);
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
