import {
  type Artifact,
  computeNewParts,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Part,
  appendPartJoiningText,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
} from "../../protocol/index.ts";
import {
  PARTIAL_KEY,
  addA2aPrefixToCustomMetadataKey,
  mergePeerMetadata,
  pickActionsMetadata,
} from "../adk-event-metadata.ts";
import { type SessionEventOptions, toSessionEvent } from "../to-session-event.ts";
import type { AdkEvent } from "../adk-structural-types.ts";
import {
  ARTIFACT_IDS_METADATA_KEY,
  PEER_CONTEXT_ID_METADATA_KEY,
  PEER_MESSAGE_ID_METADATA_KEY,
  setCustomMetadata,
  PEER_TASK_STATE_METADATA_KEY,
  PEER_TASK_ID_METADATA_KEY,
} from "./event-custom-metadata.ts";

interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/**
 * Converts the stream of a peer to ADK session events. Each chunk becomes a partial event, which the
 * session does not store. Each artifact also becomes one complete event, which the session stores. An
 * artifact is complete when the peer marks its last chunk, or at the end of the turn.
 *
 * Every request to a peer uses a new aggregator.
 */
export class StreamAggregator {
  readonly #options: SessionEventOptions;
  /** Incomplete artifacts, in the order of their last update. */
  readonly #openArtifacts = new Map<string, Artifact>();
  /**
   * Content of each complete artifact as JSON. The content is `undefined` for artifacts of earlier requests.
   */
  readonly #emittedArtifacts = new Map<string, string | undefined>();
  readonly #seenCallKeys = new Set<string>();
  /**
   * Actions that the peer requested in progress updates. The session does not store these updates, so the
   * event that ends the turn contains the actions.
   */
  #progressActionsMetadata: JsonObject = {};
  #taskIds: TaskIds = { taskId: "", contextId: "" };

  /** The parameter `known` lists the task's artifacts that the session already contains. */
  constructor(options: SessionEventOptions, known: readonly string[] = []) {
    this.#options = options;
    for (const id of known) this.#emittedArtifacts.set(id, undefined);
  }

  /** Returns the custom metadata with the task id and the context id of the peer. */
  get peerTaskIdMetadata(): Record<string, string> {
    const { taskId, contextId } = this.#taskIds;
    return {
      ...(taskId && { [PEER_TASK_ID_METADATA_KEY]: taskId }),
      ...(contextId && { [PEER_CONTEXT_ID_METADATA_KEY]: contextId }),
    };
  }

  process(response: StreamResponse): AdkEvent[] {
    if ("message" in response) return [...this.finish(), ...this.#responseToSessionEvents(response)];
    if ("task" in response) return this.#processTask(response.task);
    if ("artifactUpdate" in response) return this.#processArtifactUpdate(response.artifactUpdate);
    const { taskId, contextId, status, metadata } = response.statusUpdate;
    this.#taskIds = { taskId, contextId };
    const actions = mergePeerMetadata(
      this.#progressActionsMetadata,
      pickActionsMetadata(status.message?.metadata),
      pickActionsMetadata(metadata),
    );
    if (!isTerminal(status.state) && !isInterrupted(status.state)) {
      this.#progressActionsMetadata = actions;
      return this.#responseToSessionEvents(response);
    }
    const update = { ...response.statusUpdate, metadata: { ...metadata, ...actions } };
    return [...this.finish(), ...this.#responseToSessionEvents({ statusUpdate: update })];
  }

  /**
   * Emits the complete events of all open artifacts. The caller must call this method whenever the stream
   * ends, even after an error.
   */
  finish(): AdkEvent[] {
    const artifacts = [...this.#openArtifacts.values()];
    return artifacts.flatMap((artifact) => this.#emitCompleteArtifact(artifact));
  }

  #processArtifactUpdate(update: TaskArtifactUpdateEvent): AdkEvent[] {
    const { artifact, append, lastChunk, metadata, taskId, contextId } = update;
    const { artifactId, parts } = artifact;
    this.#taskIds = { taskId, contextId };
    const events = this.#responseToSessionEvents({ artifactUpdate: update });
    const isMarked = typeof metadata?.[PARTIAL_KEY] === "boolean";
    if (isMarked) {
      // If the peer marks partial content explicitly, it also sends the complete artifact.
      for (const event of events) if (!event.partial) this.#recordEmittedArtifacts(event, artifact);
      return events;
    }
    const known = this.#openArtifacts.get(artifactId);
    const grown = this.#updateOpenArtifact(update);
    if (!lastChunk) return events;
    if (append || parts.length === 0) return [...events, ...this.#emitCompleteArtifact(grown)];
    this.#openArtifacts.delete(artifactId);
    for (const event of events) this.#recordEmittedArtifacts(event, artifact);
    return known ? [...this.#emitUnstreamedRest(known, artifact), ...events] : events;
  }

  /**
   * Returns a partial event with the content of a last chunk that no earlier chunk contained, so that the
   * partial events of an answer contain its entire text.
   */
  #emitUnstreamedRest(known: Artifact, artifact: Artifact): AdkEvent[] {
    const parts = computeNewParts(known.parts, artifact.parts);
    if (!parts?.length) return [];
    const artifactUpdate = { ...this.#taskIds, artifact: { ...artifact, parts }, append: true };
    return this.#responseToSessionEvents({ artifactUpdate });
  }

  #updateOpenArtifact({ artifact, append, metadata }: TaskArtifactUpdateEvent): Artifact {
    const { artifactId, parts } = artifact;
    const existing = this.#openArtifacts.get(artifactId);
    // A last chunk without parts does not remove the existing content.
    const previous = append || parts.length === 0 ? existing : undefined;
    const grown: Artifact = { ...artifact, parts: previous?.parts ?? [] };
    const mergedMetadata = mergePeerMetadata(previous?.metadata, artifact.metadata, metadata);
    if (Object.keys(mergedMetadata).length > 0) grown.metadata = mergedMetadata;
    for (const part of parts) appendPartJoiningText(grown.parts, part);
    this.#openArtifacts.delete(artifactId);
    if (grown.parts.length > 0) this.#openArtifacts.set(artifactId, grown);
    return grown;
  }

  #emitCompleteArtifact(artifact: Artifact): AdkEvent[] {
    this.#openArtifacts.delete(artifact.artifactId);
    const events = this.#responseToSessionEvents({
      artifactUpdate: { ...this.#taskIds, artifact, lastChunk: true },
    });
    for (const event of events) {
      this.#recordEmittedArtifacts(event, artifact);
      event.customMetadata = {
        ...event.customMetadata,
        [addA2aPrefixToCustomMetadataKey("aggregated")]: true,
      };
    }
    return events;
  }

  /**
   * Processes a snapshot of a task, which replaces the streamed artifacts. The aggregator does not repeat
   * artifacts that were already emitted as complete.
   */
  #processTask(task: Task): AdkEvent[] {
    this.#taskIds = { taskId: task.id, contextId: task.contextId };
    const streamed = new Map(this.#openArtifacts);
    this.#openArtifacts.clear();
    const artifacts = (task.artifacts ?? []).filter(
      (artifact) => !this.#isEmitted(artifact) && !isPartialArtifactWithEmptyData(artifact),
    );
    if (isTerminal(task.status.state) || isInterrupted(task.status.state)) {
      const metadata = mergePeerMetadata(this.#progressActionsMetadata, task.metadata);
      const events = this.#responseToSessionEvents({ task: { ...task, artifacts, metadata } });
      for (const event of events) this.#recordEmittedArtifacts(event, ...artifacts);
      return events;
    }
    const changed: Artifact[] = [];
    for (const artifact of artifacts) {
      this.#openArtifacts.set(artifact.artifactId, { ...artifact, parts: artifact.parts.slice() });
      const parts = computeNewParts(streamed.get(artifact.artifactId)?.parts ?? [], artifact.parts);
      if (parts?.length) changed.push({ ...artifact, parts });
    }
    return this.#responseToSessionEvents({ task: { ...task, artifacts: changed } });
  }

  #isEmitted({ artifactId, parts }: Artifact): boolean {
    if (!this.#emittedArtifacts.has(artifactId)) return false;
    const emitted = this.#emittedArtifacts.get(artifactId);
    return emitted === undefined || emitted === JSON.stringify(mergeAdjacentParts(parts));
  }

  #recordEmittedArtifacts(event: AdkEvent, ...artifacts: readonly Artifact[]): void {
    for (const { artifactId, parts } of artifacts)
      this.#emittedArtifacts.set(artifactId, JSON.stringify(mergeAdjacentParts(parts)));
    setCustomMetadata(
      event,
      ARTIFACT_IDS_METADATA_KEY,
      artifacts.map(({ artifactId }) => artifactId),
    );
  }

  #responseToSessionEvents(response: StreamResponse): AdkEvent[] {
    const event = toSessionEvent(response, this.#options);
    if (!event) return [];
    // Partial events are not stored, so they must not trigger actions either.
    if (event.partial) delete event.actions;
    else this.#removeRepeatedCalls(event);
    const state = findTaskStateInStreamResponse(response);
    if (state && isInterrupted(state)) setCustomMetadata(event, PEER_TASK_STATE_METADATA_KEY, state);
    if ("message" in response)
      setCustomMetadata(event, PEER_MESSAGE_ID_METADATA_KEY, response.message.messageId);
    return [event];
  }

  /**
   * Removes duplicate calls and responses, because a peer may send a call in an artifact and again in the
   * task status.
   */
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
    const keptCallIds = new Set(kept.map(({ functionCall }) => functionCall?.id));
    const longRunningToolIds = event.longRunningToolIds?.filter((id) => keptCallIds.has(id));
    if (longRunningToolIds?.length) event.longRunningToolIds = longRunningToolIds;
    else delete event.longRunningToolIds;
  }
}

function findTaskStateInStreamResponse(response: StreamResponse): Task["status"]["state"] | undefined {
  if ("task" in response) return response.task.status.state;
  return "statusUpdate" in response ? response.statusUpdate.status.state : undefined;
}

/** Returns true for an empty partial artifact, as sent by ADK for Go. */
function isPartialArtifactWithEmptyData({ parts, metadata }: Artifact): boolean {
  return parts.every((part) => {
    const isPartial = metadata?.[PARTIAL_KEY] === true || part.metadata?.[PARTIAL_KEY] === true;
    return isPartial && "data" in part && JSON.stringify(part.data) === "{}";
  });
}

function mergeAdjacentParts(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) appendPartJoiningText(result, part);
  return result;
}
