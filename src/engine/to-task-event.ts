import {
  A2AError,
  TRANSITIONS,
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

/** Where an event belongs. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/** An agent's message as it stands in a task. */
export function toTaskMessage(
  { taskId, contextId }: TaskIds,
  message: AgentMessage,
  newId: IdGenerator,
): Message {
  return { ...message, messageId: message.messageId ?? newId(), role: "ROLE_AGENT", taskId, contextId };
}

/** An agent's answer without a task; throws INVALID_AGENT_RESPONSE for one that can not be sent. */
export function toTasklessReply(contextId: string, message: AgentMessage, newId: IdGenerator): Message {
  if (!Array.isArray(message?.parts)) throw createInvalidEventError("a message needs parts");
  assertValidContent("the message", message);
  return { ...message, messageId: message.messageId ?? newId(), role: "ROLE_AGENT", contextId };
}

/** A status update. `timestamp`: ISO 8601 UTC. */
export function toStatusUpdate(
  { taskId, contextId }: TaskIds,
  state: TaskState,
  timestamp: string,
  message?: Message,
): { statusUpdate: TaskStatusUpdateEvent } {
  const status = message ? { state, message, timestamp } : { state, timestamp };
  return { statusUpdate: { taskId, contextId, status } };
}

/** What an agent yielded as an event of its task; throws INVALID_AGENT_RESPONSE for what is not an AgentEvent. */
export function toTaskEvent(
  place: TaskIds,
  event: AgentEvent,
  timestamp: () => string,
  newId: IdGenerator,
): TaskEvent {
  if (typeof event !== "object" || event === null)
    throw createInvalidEventError(`an event must be an object, not ${String(event)}`);
  if ("artifact" in event) return { artifactUpdate: toArtifactUpdate(place, event) };
  if ("status" in event) {
    const { state, message } = event.status;
    if (!Object.hasOwn(TRANSITIONS, state)) throw createInvalidEventError(`there is no state ${state}`);
    if (message) assertValidContent("the status message", message);
    assertJsonMetadata("a status", event.metadata);
    const update = toStatusUpdate(place, state, timestamp(), message && toTaskMessage(place, message, newId));
    if (event.metadata) update.statusUpdate.metadata = event.metadata;
    return update;
  }
  throw createInvalidEventError(
    "message" in event
      ? "a message without a task can only be the first event for a new task; put it into a status"
      : `an event must have "status", "artifact" or "message", not ${Object.keys(event).join(", ") || "nothing"}`,
  );
}

function toArtifactUpdate(
  { taskId, contextId }: TaskIds,
  { artifact, append, lastChunk, metadata }: Extract<AgentEvent, { artifact: unknown }>,
): TaskArtifactUpdateEvent {
  if (!artifact.artifactId) throw createInvalidEventError("an artifact needs an artifactId");
  if (!(artifact.parts?.length > 0))
    throw createInvalidEventError(`artifact ${artifact.artifactId} has no parts (A2A §5.7)`);
  assertValidContent(`artifact ${artifact.artifactId}`, artifact);
  assertJsonMetadata("a chunk", metadata);
  // False flags are left off the wire. A chunk is made in one piece, because a member that is added costs as much again.
  const update: TaskArtifactUpdateEvent = append
    ? { taskId, contextId, artifact, append }
    : { taskId, contextId, artifact };
  if (lastChunk) update.lastChunk = true;
  if (metadata) update.metadata = metadata;
  return update;
}

/** Refuses what can not be stored or sent. Text, which is most of what agents say, costs two looks. */
function assertValidContent(
  where: string,
  { parts, metadata }: { readonly parts: readonly Part[]; readonly metadata?: JsonObject },
): void {
  for (const part of parts) {
    if (!hasValidContent(part))
      throw createInvalidEventError(`a part of ${where} needs "text", "raw", "url" or JSON "data"`);
    assertJsonMetadata(`a part of ${where}`, part.metadata);
  }
  assertJsonMetadata(where, metadata);
}

function hasValidContent(part: Part): boolean {
  if (typeof part !== "object" || part === null) return false;
  if ("text" in part) return typeof part.text === "string";
  if ("raw" in part) return typeof part.raw === "string";
  return "url" in part ? typeof part.url === "string" : "data" in part && isJsonSerializable(part.data);
}

function assertJsonMetadata(where: string, metadata: JsonObject | undefined): void {
  if (metadata !== undefined && !isJsonSerializable(metadata))
    throw createInvalidEventError(`the metadata of ${where} is not JSON`);
}

function isJsonSerializable(value: unknown): boolean {
  if (isFlatObject(value)) return true;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** An object of strings and the like, as most metadata are: seen at a glance, where writing it down takes a while. */
function isFlatObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const member in value) {
    const kind = typeof (value as Record<string, unknown>)[member];
    if (kind !== "string" && kind !== "boolean") return false;
  }
  return true;
}

function createInvalidEventError(what: string): A2AError {
  return new A2AError("INVALID_AGENT_RESPONSE", `The agent yielded something that is not an event: ${what}.`);
}
