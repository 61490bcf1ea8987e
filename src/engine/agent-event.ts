import {
  A2AError,
  MOVES,
  type JsonObject,
  type Message,
  type Part,
  type TaskArtifactUpdateEvent,
  type TaskEvent,
  type TaskState,
  type TaskStatusUpdateEvent,
} from "../protocol/index.ts";
import type { AgentEvent, AgentMessage } from "./agent.ts";
import type { NewId } from "./new-id.ts";

/** Where an event belongs. */
export interface Place {
  readonly taskId: string;
  readonly contextId: string;
}

/** An agent's message as it stands in a task. */
export function toMessage({ taskId, contextId }: Place, message: AgentMessage, newId: NewId): Message {
  return { ...message, messageId: message.messageId ?? newId(), role: "ROLE_AGENT", taskId, contextId };
}

/** An agent's answer without a task; throws INVALID_AGENT_RESPONSE for one that can not be sent. */
export function toReply(contextId: string, message: AgentMessage, newId: NewId): Message {
  if (!Array.isArray(message?.parts)) throw invalid("a message needs parts");
  checkContent("the message", message);
  return { ...message, messageId: message.messageId ?? newId(), role: "ROLE_AGENT", contextId };
}

/** A status update. `timestamp`: ISO 8601 UTC. */
export function toStatusUpdate(
  { taskId, contextId }: Place,
  state: TaskState,
  timestamp: string,
  message?: Message,
): { statusUpdate: TaskStatusUpdateEvent } {
  const status = message ? { state, message, timestamp } : { state, timestamp };
  return { statusUpdate: { taskId, contextId, status } };
}

/** What an agent yielded as an event of its task; throws INVALID_AGENT_RESPONSE for what is not an AgentEvent. */
export function toTaskEvent(
  place: Place,
  event: AgentEvent,
  timestamp: () => string,
  newId: NewId,
): TaskEvent {
  if (typeof event !== "object" || event === null)
    throw invalid(`an event must be an object, not ${String(event)}`);
  if ("artifact" in event) return { artifactUpdate: toArtifactUpdate(place, event) };
  if ("status" in event) {
    const { state, message } = event.status;
    if (!Object.hasOwn(MOVES, state)) throw invalid(`there is no state ${state}`);
    if (message) checkContent("the status message", message);
    checkMetadata("a status", event.metadata);
    const update = toStatusUpdate(place, state, timestamp(), message && toMessage(place, message, newId));
    if (event.metadata) update.statusUpdate.metadata = event.metadata;
    return update;
  }
  throw invalid(
    "message" in event
      ? "a message without a task can only be the first event for a new task; put it into a status"
      : `an event must have "status", "artifact" or "message", not ${Object.keys(event).join(", ") || "nothing"}`,
  );
}

function toArtifactUpdate(
  { taskId, contextId }: Place,
  { artifact, append, lastChunk, metadata }: Extract<AgentEvent, { artifact: unknown }>,
): TaskArtifactUpdateEvent {
  if (!artifact.artifactId) throw invalid("an artifact needs an artifactId");
  if (!(artifact.parts?.length > 0)) throw invalid(`artifact ${artifact.artifactId} has no parts (A2A §5.7)`);
  checkContent(`artifact ${artifact.artifactId}`, artifact);
  checkMetadata("a chunk", metadata);
  // False flags are left off the wire. A chunk is made in one piece, because a member that is added costs as much again.
  const update: TaskArtifactUpdateEvent = append
    ? { taskId, contextId, artifact, append }
    : { taskId, contextId, artifact };
  if (lastChunk) update.lastChunk = true;
  if (metadata) update.metadata = metadata;
  return update;
}

/** Refuses what can not be stored or sent. Text, which is most of what agents say, costs two looks. */
function checkContent(
  where: string,
  { parts, metadata }: { readonly parts: readonly Part[]; readonly metadata?: JsonObject },
): void {
  for (const part of parts) {
    if (!hasContent(part)) throw invalid(`a part of ${where} needs "text", "raw", "url" or JSON "data"`);
    checkMetadata(`a part of ${where}`, part.metadata);
  }
  checkMetadata(where, metadata);
}

function hasContent(part: Part): boolean {
  if (typeof part !== "object" || part === null) return false;
  if ("text" in part) return typeof part.text === "string";
  if ("raw" in part) return typeof part.raw === "string";
  return "url" in part ? typeof part.url === "string" : "data" in part && isJson(part.data);
}

function checkMetadata(where: string, metadata: JsonObject | undefined): void {
  if (metadata !== undefined && !isJson(metadata)) throw invalid(`the metadata of ${where} is not JSON`);
}

function isJson(value: unknown): boolean {
  if (isFlat(value)) return true;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** An object of strings and the like, as most metadata are: seen at a glance, where writing it down takes a while. */
function isFlat(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const member in value) {
    const kind = typeof (value as Record<string, unknown>)[member];
    if (kind !== "string" && kind !== "boolean") return false;
  }
  return true;
}

function invalid(what: string): A2AError {
  return new A2AError("INVALID_AGENT_RESPONSE", `The agent yielded something that is not an event: ${what}.`);
}
