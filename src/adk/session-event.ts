import {
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatus,
  type TaskStatusUpdateEvent,
} from "../protocol/index.ts";
import { toA2aMetadataKey, fromEventMetadata, toAdkMetadataKey, type PeerAction } from "./metadata.ts";
import { parseLongRunningCall, toGenaiPart } from "./parts.ts";
import type { AdkEvent, GenaiPart } from "./types.ts";

/**
 * Options for converting a peer's output to an ADK event: its author, its place in the session, and the
 * peer's permissions.
 */
export interface SessionEventOptions {
  /** Name of the local agent that represents the peer. A peer cannot choose the author of an event. */
  readonly author: string;
  readonly branch?: string | undefined;
  readonly invocationId?: string | undefined;
  /** Actions that the peer may request from local agents. Default: `["escalate"]`, which ends a loop. */
  readonly allowedActions?: readonly PeerAction[];
  /** Returns an id for a placeholder call. Default: a random id. */
  readonly newId?: () => string;
  /**
   * Keeps the text of a question in addition to its placeholder call, for consumers that read only text.
   * Default: `false`.
   */
  readonly keepQuestionText?: boolean;
  /** Converts a part of the peer. Return `undefined` to drop the part. Default: `toGenaiPart`. */
  readonly toGenaiPart?: (part: Part) => GenaiPart | undefined;
}

/**
 * Function calls that represent a peer's question which contains no call. ADK for Python uses the same names.
 */
export const PLACEHOLDER_CALLS = {
  TASK_STATE_INPUT_REQUIRED: {
    name: "mock_function_call_for_required_user_input",
    argument: "input_required",
  },
  TASK_STATE_AUTH_REQUIRED: {
    name: "mock_function_call_for_required_user_auth",
    argument: "auth_required",
  },
} as const;

const PARTIAL_KEY = toAdkMetadataKey("partial");

/**
 * Converts a response of a peer to an ADK session event. Returns `undefined` if the response has no content
 * for a session. Events of unfinished work are `partial`. The event that ends a turn has `turnComplete`,
 * whether the peer is done or waits for input.
 */
export function toSessionEvent(said: StreamResponse, options: SessionEventOptions): AdkEvent | undefined {
  const maker = new SessionEventBuilder(options);
  if ("message" in said) return maker.fromMessage(said.message);
  if ("task" in said) return maker.fromTask(said.task);
  if ("statusUpdate" in said) return maker.fromStatusUpdate(said.statusUpdate);
  return maker.fromArtifactUpdate(said.artifactUpdate);
}

interface TaskIds {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

class SessionEventBuilder {
  readonly #options: SessionEventOptions;

  constructor(options: SessionEventOptions) {
    this.#options = options;
  }

  fromMessage(message: Message): AdkEvent {
    const event = this.#buildEvent(message, message.metadata, message.parts);
    event.turnComplete = true;
    return event;
  }

  fromTask(task: Task): AdkEvent | undefined {
    const { id: taskId, contextId, status, artifacts = [] } = task;
    const metadata: JsonObject = {};
    // The peer's ADK metadata is on the artifacts or on the task.
    for (const artifact of artifacts) Object.assign(metadata, artifact.metadata);
    Object.assign(metadata, task.metadata);
    const parts = artifacts.flatMap((artifact) => artifact.parts);
    if (!isTerminal(status.state) && !isInterrupted(status.state)) {
      if (parts.length === 0) return undefined;
      const event = this.#buildEvent({ taskId, contextId }, metadata, parts);
      event.partial = true;
      return event;
    }
    return this.#buildTurnEnd({ taskId, contextId }, status, metadata, parts);
  }

  fromStatusUpdate({ status, metadata, ...place }: TaskStatusUpdateEvent): AdkEvent | undefined {
    if (isTerminal(status.state) || isInterrupted(status.state)) {
      return this.#buildTurnEnd(place, status, metadata, []);
    }
    if (!status.message?.parts.length) return undefined;
    // Progress messages are meant for observers. They are not part of the answer.
    const event = this.#buildEvent(place, metadata, status.message.parts);
    event.partial = true;
    for (const part of event.content?.parts ?? []) if (part.text !== undefined) part.thought = true;
    return event;
  }

  fromArtifactUpdate({
    artifact,
    append,
    lastChunk,
    metadata,
    ...place
  }: TaskArtifactUpdateEvent): AdkEvent | undefined {
    if (artifact.parts.length === 0) return undefined;
    const marked = metadata?.[PARTIAL_KEY];
    // ADK for Go empties its partial artifact at the end of a run. That update has no content.
    if (marked === true && lastChunk) return undefined;
    const event = this.#buildEvent(place, { ...artifact.metadata, ...metadata }, artifact.parts);
    const partial = typeof marked === "boolean" ? marked : append === true || lastChunk !== true;
    if (partial) event.partial = true;
    const waiting = collectLongRunningCallIds(artifact.parts);
    if (waiting.length > 0) event.longRunningToolIds = waiting;
    return event;
  }

  /**
   * Builds the event that ends a turn. The task state decides whether the turn failed, waits, or is complete.
   */
  #buildTurnEnd(
    place: TaskIds,
    { state, message }: TaskStatus,
    metadata: JsonObject | undefined,
    before: readonly Part[],
  ): AdkEvent {
    const told = message?.parts ?? [];
    const error = told.find(isErrorMessagePart) ?? (TASK_STATE_ERROR_CODES[state] && told.find(isTextPart));
    const parts = removeRepeatedCalls([...before, ...told.filter((part) => !isErrorMessagePart(part))]);
    const event = this.#buildEvent(place, metadata, parts);
    event.turnComplete = true;
    if (isInterrupted(state)) this.#addPendingCalls(event, state, parts);
    const code = TASK_STATE_ERROR_CODES[state];
    if (code) {
      const theirs = metadata?.[toAdkMetadataKey("error_code")];
      // The prefix distinguishes a peer's error code from a local error code.
      event.errorCode = typeof theirs === "string" ? `${code}:${theirs}` : code;
      event.errorMessage = error && "text" in error ? error.text : DEFAULT_ERROR_MESSAGES[code];
    } else if (error && "text" in error) event.errorMessage = error.text;
    return event;
  }

  /** Adds the peer's pending calls to an event. If the peer asks without a call, adds a placeholder call. */
  #addPendingCalls(event: AdkEvent, state: TaskState, parts: readonly Part[]): void {
    const waiting = collectLongRunningCallIds(parts);
    if (waiting.length > 0) {
      event.longRunningToolIds = waiting;
      return;
    }
    const mock = PLACEHOLDER_CALLS[state as keyof typeof PLACEHOLDER_CALLS];
    const id = (this.#options.newId ?? (() => `adk-${crypto.randomUUID()}`))();
    const at = parts.findLastIndex((part) => "text" in part || "data" in part);
    const asked = parts[at];
    const question = asked && ("text" in asked ? asked.text : "data" in asked ? asked.data : "");
    const call = { functionCall: { id, name: mock.name, args: { [mock.argument]: question ?? "" } } };
    const { keepQuestionText: keepQuestion } = this.#options;
    const others = this.#toGenaiParts(
      parts.filter((part, index) => index !== at || (keepQuestion && "text" in part)),
    );
    event.content = { role: "model", parts: [...others, call] };
    event.longRunningToolIds = [id];
  }

  #buildEvent(place: TaskIds, metadata: JsonObject | undefined, parts: readonly Part[]): AdkEvent {
    const { author, branch, invocationId, allowedActions: allow } = this.#options;
    const { customMetadata, ...said } = fromEventMetadata(metadata, allow);
    const event: AdkEvent = { ...said, author };
    if (branch !== undefined) event.branch = branch;
    if (invocationId !== undefined) event.invocationId = invocationId;
    const own: Record<string, unknown> = { ...customMetadata };
    if (place.taskId) own[toA2aMetadataKey("task_id")] = place.taskId;
    if (place.contextId) own[toA2aMetadataKey("context_id")] = place.contextId;
    if (Object.keys(own).length > 0) event.customMetadata = own;
    const content = this.#toGenaiParts(parts);
    if (content.length > 0) event.content = { role: "model", parts: content };
    return event;
  }

  #toGenaiParts(parts: readonly Part[]): GenaiPart[] {
    const convert = this.#options.toGenaiPart ?? toGenaiPart;
    return parts.flatMap((part) => convert(part) ?? []);
  }
}

const TASK_STATE_ERROR_CODES: Partial<Record<TaskState, keyof typeof DEFAULT_ERROR_MESSAGES>> = {
  TASK_STATE_FAILED: "A2A_TASK_FAILED",
  TASK_STATE_CANCELED: "A2A_TASK_CANCELED",
  TASK_STATE_REJECTED: "A2A_TASK_REJECTED",
};

const DEFAULT_ERROR_MESSAGES = {
  A2A_TASK_FAILED: "a2a task failed",
  A2A_TASK_CANCELED: "a2a task was canceled",
  A2A_TASK_REJECTED: "a2a task was rejected",
} as const;

function isTextPart(part: Part): boolean {
  return "text" in part;
}

function isErrorMessagePart(part: Part): boolean {
  return "text" in part && part.metadata?.[toAdkMetadataKey("is_error_message")] === true;
}

function collectLongRunningCallIds(parts: readonly Part[]): string[] {
  return [...new Set(parts.flatMap((part) => parseLongRunningCall(part)?.id ?? []))];
}

/** Removes duplicate calls, because a peer may send a call in an artifact and again in its status. */
function removeRepeatedCalls(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return parts.filter((part) => {
    const id = parseLongRunningCall(part)?.id;
    if (id === undefined) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}
