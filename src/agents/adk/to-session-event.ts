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
} from "../../protocol/index.ts";
import {
  IS_ERROR_MESSAGE_KEY,
  fromEventMetadata,
  mergePeerMetadata,
  PARTIAL_KEY,
  pickActionsMetadata,
  type PeerPermissions,
  addA2aPrefixToCustomMetadataKey,
  toAdkMetadataKey,
} from "./adk-event-metadata.ts";
import { collectLongRunningCallIds, parseLongRunningCall, toGenaiPart } from "./part-conversion.ts";
import type { AdkEvent, GenaiPart } from "./adk-structural-types.ts";

/** Options for converting a peer's output to an ADK event. */
export interface SessionEventOptions extends PeerPermissions {
  /** Name of the local agent that represents the peer. A peer cannot choose the author of an event. */
  readonly author: string;
  readonly branch?: string | undefined;
  readonly invocationId?: string | undefined;
  /** Returns an id for a placeholder call. Default: a function that returns random ids. */
  readonly newId?: () => string;
  /**
   * If `true`, the event contains the text of a question in addition to the placeholder call. The text is
   * for consumers that ignore function calls. Default: `false`.
   */
  readonly keepQuestionText?: boolean;
  /**
   * Converts a part that was received from the peer. If the converter returns `undefined`, the part is
   * dropped. Default: `toGenaiPart`.
   */
  readonly toGenaiPart?: (part: Part) => GenaiPart | undefined;
}

/**
 * Names of the placeholder calls, which represent questions without a function call. ADK for Python uses
 * the same names for placeholder calls.
 */
export const PLACEHOLDER_CALLS_BY_TASK_STATE = {
  TASK_STATE_INPUT_REQUIRED: {
    name: "mock_function_call_for_required_user_input",
    argument: "input_required",
  },
  TASK_STATE_AUTH_REQUIRED: {
    name: "mock_function_call_for_required_user_auth",
    argument: "auth_required",
  },
} as const;

/**
 * Converts a peer's response to an ADK session event. Returns `undefined` if the response has no content for
 * a session. An event with unfinished output is `partial`. The event that ends a turn has `turnComplete`,
 * even if the peer waits for input.
 */
export function toSessionEvent(response: StreamResponse, options: SessionEventOptions): AdkEvent | undefined {
  const builder = new A2aToSessionEventConverter(options);
  if ("message" in response) return builder.fromMessage(response.message);
  if ("task" in response) return builder.fromTask(response.task);
  if ("statusUpdate" in response) return builder.fromStatusUpdate(response.statusUpdate);
  return builder.fromArtifactUpdate(response.artifactUpdate);
}

interface TaskIds {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

class A2aToSessionEventConverter {
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
    const { id: taskId, contextId, status, artifacts = [], history = [] } = task;
    // ADK for Python writes actions without content on a message of the turn.
    const turn = history.slice(history.findLastIndex(({ role }) => role === "ROLE_USER") + 1);
    // The peer's ADK metadata is on the artifacts, on the task, or on its messages.
    const metadata = mergePeerMetadata(
      ...turn.map((message) => pickActionsMetadata(message.metadata)),
      ...artifacts.map((artifact) => artifact.metadata),
      task.metadata,
    );
    const parts = artifacts.flatMap((artifact) => artifact.parts);
    if (!isTerminal(status.state) && !isInterrupted(status.state)) {
      const event = this.#buildEvent({ taskId, contextId }, metadata, parts);
      const progress = this.#toThoughts(status.message);
      const content = [...progress, ...(event.content?.parts ?? [])];
      if (content.length === 0) return undefined;
      return { ...event, content: { role: "model", parts: content }, partial: true };
    }
    const event = this.#buildTurnEnd({ taskId, contextId }, status, metadata, parts);
    // A task combines calls and text, and ADK would otherwise not accept an event with calls as a final
    // response. ADK for Python sets the same action.
    if (isTerminal(status.state) && event.content)
      event.actions = { ...event.actions, skipSummarization: true };
    return event;
  }

  fromStatusUpdate({ status, metadata, ...taskIds }: TaskStatusUpdateEvent): AdkEvent | undefined {
    if (isTerminal(status.state) || isInterrupted(status.state)) {
      return this.#buildTurnEnd(taskIds, status, metadata, []);
    }
    const progress = this.#toThoughts(status.message);
    if (progress.length === 0) return undefined;
    const event = this.#buildEvent(taskIds, metadata, []);
    return { ...event, content: { role: "model", parts: progress }, partial: true };
  }

  /** Converts a progress message to thoughts, because progress is not part of the answer. */
  #toThoughts(message: Message | undefined): GenaiPart[] {
    return this.#toGenaiParts(message?.parts ?? []).map((part) =>
      part.text === undefined ? part : { ...part, thought: true },
    );
  }

  fromArtifactUpdate({
    artifact,
    append,
    lastChunk,
    metadata,
    ...taskIds
  }: TaskArtifactUpdateEvent): AdkEvent | undefined {
    if (artifact.parts.length === 0) return undefined;
    const partialMark = metadata?.[PARTIAL_KEY];
    // ADK for Go empties its partial artifact at the end of a run. That update has no content.
    if (partialMark === true && lastChunk) return undefined;
    const event = this.#buildEvent(taskIds, { ...artifact.metadata, ...metadata }, artifact.parts);
    const partial = typeof partialMark === "boolean" ? partialMark : append === true || lastChunk !== true;
    if (partial) event.partial = true;
    const waiting = collectLongRunningCallIds(artifact.parts);
    if (waiting.length > 0) event.longRunningToolIds = waiting;
    return event;
  }

  /**
   * Returns the event that ends a turn. The event reports a failure, a question, or completion, depending
   * on the state of the peer's task.
   */
  #buildTurnEnd(
    taskIds: TaskIds,
    { state, message }: TaskStatus,
    statusMetadata: JsonObject | undefined,
    artifactParts: readonly Part[],
  ): AdkEvent {
    const metadata = mergePeerMetadata(message?.metadata, statusMetadata);
    const messageParts = message?.parts ?? [];
    const error =
      messageParts.find(isErrorMessagePart) ??
      (TASK_STATE_ERROR_CODES[state] && messageParts.find(isTextPart));
    const parts = removeRepeatedCalls([
      ...artifactParts,
      ...messageParts.filter((part) => !isErrorMessagePart(part)),
    ]);
    const event = this.#buildEvent(taskIds, metadata, parts);
    event.turnComplete = true;
    if (isInterrupted(state)) this.#addPendingCalls(event, state, parts);
    const code = TASK_STATE_ERROR_CODES[state];
    if (code) {
      const peerCode = metadata?.[toAdkMetadataKey("error_code")];
      // The prefix distinguishes a peer's error code from a local error code.
      event.errorCode = typeof peerCode === "string" ? `${code}:${peerCode}` : code;
      event.errorMessage = error && "text" in error ? error.text : DEFAULT_ERROR_MESSAGES[code];
    } else if (error && "text" in error) event.errorMessage = error.text;
    return event;
  }

  /**
   * Adds the pending calls of a peer to an event. If the peer asks a question without a call, the function
   * adds a placeholder call.
   */
  #addPendingCalls(event: AdkEvent, state: TaskState, parts: readonly Part[]): void {
    const pendingIds = collectLongRunningCallIds(parts);
    if (pendingIds.length > 0) {
      event.longRunningToolIds = pendingIds;
      return;
    }
    const placeholder =
      PLACEHOLDER_CALLS_BY_TASK_STATE[state as keyof typeof PLACEHOLDER_CALLS_BY_TASK_STATE];
    const id = (this.#options.newId ?? (() => `adk-${crypto.randomUUID()}`))();
    const questionIndex = parts.findLastIndex((part) => "text" in part || "data" in part);
    const questionPart = parts[questionIndex];
    const question =
      questionPart &&
      ("text" in questionPart ? questionPart.text : "data" in questionPart ? questionPart.data : "");
    const call = {
      functionCall: { id, name: placeholder.name, args: { [placeholder.argument]: question ?? "" } },
    };
    const { keepQuestionText } = this.#options;
    const others = this.#toGenaiParts(
      parts.filter((part, index) => index !== questionIndex || (keepQuestionText && "text" in part)),
    );
    event.content = { role: "model", parts: [...others, call] };
    event.longRunningToolIds = [id];
  }

  #buildEvent(taskIds: TaskIds, metadata: JsonObject | undefined, parts: readonly Part[]): AdkEvent {
    const { author, branch, invocationId } = this.#options;
    const { customMetadata, ...fields } = fromEventMetadata(metadata, this.#options);
    const event: AdkEvent = { ...fields, author };
    if (branch !== undefined) event.branch = branch;
    if (invocationId !== undefined) event.invocationId = invocationId;
    const merged: Record<string, unknown> = { ...customMetadata };
    if (taskIds.taskId) merged[addA2aPrefixToCustomMetadataKey("task_id")] = taskIds.taskId;
    if (taskIds.contextId) merged[addA2aPrefixToCustomMetadataKey("context_id")] = taskIds.contextId;
    if (Object.keys(merged).length > 0) event.customMetadata = merged;
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
  return "text" in part && part.metadata?.[IS_ERROR_MESSAGE_KEY] === true;
}

/** Removes duplicate calls, because a peer may send a call in an artifact and again in the task status. */
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
