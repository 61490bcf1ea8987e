import {
  A2AError,
  ALLOWED_TRANSITIONS_BY_TASK_STATE,
  findIdViolation,
  type JsonObject,
  type Message,
  type Part,
  type TaskArtifactUpdateEvent,
  type TaskEvent,
  type TaskState,
  type TaskStatusUpdateEvent,
} from "../protocol/index.ts";
import type { AgentEvent, AgentMessage } from "./agent.ts";
import type { IdGenerator } from "./id-generator.ts";

/** Ids of an event's task and context. */
interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/** Converts an agent's message to a message of its task. */
export function toTaskMessageFromAgent(
  { taskId, contextId }: TaskIds,
  message: AgentMessage,
  generateId: IdGenerator,
): Message {
  return { ...message, messageId: message.messageId ?? generateId(), role: "ROLE_AGENT", taskId, contextId };
}

/**
 * Converts an agent's reply without a task to a message. Throws `INVALID_AGENT_RESPONSE` if the agent's
 * reply cannot be sent.
 */
export function toTasklessReply(contextId: string, message: AgentMessage, generateId: IdGenerator): Message {
  if (!Array.isArray(message?.parts)) throw createInvalidEventError("a message needs parts");
  assertValidContent("the message", message);
  return { ...message, messageId: message.messageId ?? generateId(), role: "ROLE_AGENT", contextId };
}

/** `timestamp` is ISO 8601 UTC. */
export function toStatusUpdate(
  { taskId, contextId }: TaskIds,
  state: TaskState,
  timestamp: string,
  message?: Message,
): { statusUpdate: TaskStatusUpdateEvent } {
  const status = message ? { state, message, timestamp } : { state, timestamp };
  return { statusUpdate: { taskId, contextId, status } };
}

/** Key of the task metadata with the ids of the queued messages that the end of the task discarded. */
export const DISCARDED_MESSAGE_IDS_METADATA_KEY = "colloquy:discardedMessageIds";

/** Returns the final status update of a task with the ids of its discarded messages in the metadata. */
export function withDiscardedMessageIds(
  { statusUpdate }: Extract<TaskEvent, { statusUpdate: unknown }>,
  messageIds: readonly string[],
): TaskEvent {
  const metadata = { ...statusUpdate.metadata, [DISCARDED_MESSAGE_IDS_METADATA_KEY]: [...messageIds] };
  return { statusUpdate: { ...statusUpdate, metadata } };
}

/**
 * Converts a yielded value to an event of the agent's task. Throws `INVALID_AGENT_RESPONSE` if the yielded
 * value is not an `AgentEvent`.
 */
export function toTaskEventFromAgent(
  ids: TaskIds & { getNextStatusTimestamp(): string },
  event: AgentEvent,
  generateId: IdGenerator,
): TaskEvent {
  if (typeof event !== "object" || event === null)
    throw createInvalidEventError(`an event must be an object, not ${String(event)}`);
  if ("artifact" in event) return { artifactUpdate: toArtifactUpdate(ids, event) };
  if ("status" in event) {
    const { state, message } = event.status;
    if (!Object.hasOwn(ALLOWED_TRANSITIONS_BY_TASK_STATE, state))
      throw createInvalidEventError(`the state ${state} does not exist`);
    if (message) assertValidContent("the status message", message);
    assertJsonMetadata("a status", event.metadata);
    const update = toStatusUpdate(
      ids,
      state,
      ids.getNextStatusTimestamp(),
      message && toTaskMessageFromAgent(ids, message, generateId),
    );
    if (event.metadata) update.statusUpdate.metadata = event.metadata;
    return update;
  }
  throw createInvalidEventError(
    "message" in event
      ? `a message without a task requires the option respondsWith: "either", and must be the only event of a new task; otherwise yield text or a status`
      : `an event must have "status", "artifact" or "message", not ${Object.keys(event).join(", ") || "nothing"}`,
  );
}

function toArtifactUpdate(
  { taskId, contextId }: TaskIds,
  { artifact, append, lastChunk, metadata }: Extract<AgentEvent, { artifact: unknown }>,
): TaskArtifactUpdateEvent {
  if (!artifact.artifactId) throw createInvalidEventError("an artifact needs an artifactId");
  const violation = findIdViolation(artifact.artifactId);
  if (violation !== undefined) throw createInvalidEventError(`an artifactId ${violation}`);
  if (!(artifact.parts?.length > 0))
    throw createInvalidEventError(`artifact ${artifact.artifactId} has no parts (A2A §5.7)`);
  assertValidContent(`artifact ${artifact.artifactId}`, artifact);
  assertJsonMetadata("a chunk", metadata);
  // False flags are omitted on the wire. The object is built in one literal, because adding a member later
  // doubles its cost.
  const update: TaskArtifactUpdateEvent = append
    ? { taskId, contextId, artifact, append }
    : { taskId, contextId, artifact };
  if (lastChunk) update.lastChunk = true;
  if (metadata) update.metadata = metadata;
  return update;
}

/**
 * Throws an error if content from an agent cannot be stored or sent. Plain text, the most common content,
 * needs only two checks.
 */
function assertValidContent(
  subject: string,
  { parts, metadata }: { readonly parts: readonly Part[]; readonly metadata?: JsonObject },
): void {
  for (const part of parts) {
    if (!hasValidPartContent(part))
      throw createInvalidEventError(`a part of ${subject} needs "text", "raw", "url" or JSON "data"`);
    assertJsonMetadata(`a part of ${subject}`, part.metadata);
  }
  assertJsonMetadata(subject, metadata);
}

function hasValidPartContent(part: Part): boolean {
  if (typeof part !== "object" || part === null) return false;
  if ("text" in part) return typeof part.text === "string";
  if ("raw" in part) return typeof part.raw === "string";
  return "url" in part ? typeof part.url === "string" : "data" in part && isJsonSerializable(part.data);
}

function assertJsonMetadata(subject: string, metadata: JsonObject | undefined): void {
  if (metadata !== undefined && !isJsonSerializable(metadata))
    throw createInvalidEventError(`the metadata of ${subject} is not JSON`);
}

function isJsonSerializable(value: unknown): boolean {
  if (isObjectOfStringsAndBooleans(value)) return true;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Returns true for a flat object of strings and booleans, which is the most common form of metadata.
 * Checking for a flat object is faster than serializing the object.
 */
function isObjectOfStringsAndBooleans(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const member in value) {
    const kind = typeof (value as Record<string, unknown>)[member];
    if (kind !== "string" && kind !== "boolean") return false;
  }
  return true;
}

function createInvalidEventError(reason: string): A2AError {
  return new A2AError("INVALID_AGENT_RESPONSE", `The agent yielded an invalid event: ${reason}.`);
}
