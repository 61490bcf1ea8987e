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
} from "../../../protocol/index.ts";
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
  /**
   * Content that no complete event contains yet, by artifact id, in the order of the last update. An artifact
   * of the peer's task consists of its emitted parts and its open parts.
   */
  readonly #openArtifacts = new Map<string, Artifact>();
  /** Parts in complete events, by artifact id. `undefined` stands for an artifact of an earlier request. */
  readonly #emittedParts = new Map<string, readonly Part[] | undefined>();
  /** True if a snapshot in the middle of a turn has left open content. */
  #isResumed = false;
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
    for (const id of known) this.#emittedParts.set(id, undefined);
  }

  /** Returns the custom metadata with the peer's task id and context id. */
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
    this.#isResumed = false;
    return artifacts.flatMap((artifact) => this.#emitCompleteArtifact(artifact));
  }

  #processArtifactUpdate(update: TaskArtifactUpdateEvent): AdkEvent[] {
    const { artifact, append, lastChunk, metadata, taskId, contextId } = update;
    const { artifactId, parts } = artifact;
    this.#taskIds = { taskId, contextId };
    const mark = metadata?.[PARTIAL_KEY];
    if (mark === true) return this.#responseToSessionEvents({ artifactUpdate: update });
    if (this.#isResumed) return this.#processUpdateAfterSnapshot(update);
    const events = this.#responseToSessionEvents({ artifactUpdate: update });
    if (mark === false) {
      // If the peer marks partial content explicitly, each other update is complete.
      if (!append) this.#emittedParts.set(artifactId, []);
      for (const event of events) this.#recordEmittedArtifacts(event, artifact);
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
   * Processes an update that follows a snapshot with open content. A snapshot does not show which artifacts are
   * complete. To keep the order of the peer's artifacts, all content stays open until the end of the turn.
   */
  #processUpdateAfterSnapshot(update: TaskArtifactUpdateEvent): AdkEvent[] {
    const { artifact, append, metadata } = update;
    const known = this.#openArtifacts.get(artifact.artifactId);
    this.#updateOpenArtifact(update);
    if (known && !append) return this.#emitUnstreamedRest(known, artifact);
    const partialMetadata = { ...metadata, [PARTIAL_KEY]: true };
    const artifactUpdate = { ...update, lastChunk: false, metadata: partialMetadata };
    return this.#responseToSessionEvents({ artifactUpdate });
  }

  /**
   * Returns a partial event with the new content of a last chunk. The partial events of an answer thus
   * contain its entire text.
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
    if (!append && parts.length > 0) this.#emittedParts.set(artifactId, []);
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
   * Processes a snapshot of a task, which replaces the open artifacts. Only content that no complete event
   * contains is new.
   */
  #processTask(task: Task): AdkEvent[] {
    this.#taskIds = { taskId: task.id, contextId: task.contextId };
    const artifacts = (task.artifacts ?? []).flatMap((artifact) => this.#findUnemittedRest(artifact) ?? []);
    const streamed = new Map(this.#openArtifacts);
    this.#openArtifacts.clear();
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
    this.#isResumed = artifacts.length > 0;
    return this.#responseToSessionEvents({ task: { ...task, artifacts: changed } });
  }

  /**
   * Returns the content of a snapshot's artifact that no complete event contains, or `undefined` if nothing
   * is left. An artifact that does not start with the emitted parts is new.
   */
  #findUnemittedRest(artifact: Artifact): Artifact | undefined {
    const { artifactId } = artifact;
    if (isPartialArtifact(artifact)) return undefined;
    if (!this.#emittedParts.has(artifactId)) return artifact;
    const emitted = this.#emittedParts.get(artifactId);
    if (!emitted) return this.#openArtifacts.get(artifactId);
    const parts = computeNewParts(emitted, artifact.parts);
    if (!parts) this.#emittedParts.set(artifactId, []);
    return parts?.length === 0 ? undefined : { ...artifact, parts: parts ?? artifact.parts };
  }

  #recordEmittedArtifacts(event: AdkEvent, ...artifacts: readonly Artifact[]): void {
    for (const { artifactId, parts } of artifacts)
      this.#emittedParts.set(artifactId, [...(this.#emittedParts.get(artifactId) ?? []), ...parts]);
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

/**
 * Returns true for an artifact in which ADK for Go keeps partial content. ADK for Go marks each part, and sends
 * the complete content in another artifact. At the end of the run, it replaces the parts by an empty data part.
 */
function isPartialArtifact({ parts, metadata }: Artifact): boolean {
  return (
    parts.length > 0 &&
    parts.every(
      (part) =>
        part.metadata?.[PARTIAL_KEY] === true ||
        (metadata?.[PARTIAL_KEY] === true && "data" in part && JSON.stringify(part.data) === "{}"),
    )
  );
}
