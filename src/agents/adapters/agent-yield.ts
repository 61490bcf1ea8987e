import type { AgentEvent, AgentMessage } from "../../engine/index.ts";
import type { Artifact, JsonObject, Part } from "../../protocol/index.ts";

/** A part, or a string that becomes a text part. */
export type PartOrText = string | Part;

/** The id of an artifact, with an optional artifact name, description, and metadata. */
interface ArtifactOptions {
  /** Id of the artifact, which is unique within the task. Default: the name. */
  id?: string;
  name?: string;
  description?: string;
  metadata?: JsonObject;
}

/** A chunk that creates an artifact or extends an existing artifact. */
interface ArtifactChunk {
  chunk: Artifact;
  lastChunk?: boolean;
}

/** A value that the generator of an `agent` may yield. */
export type AgentYield = PartOrText | ArtifactChunk | AgentEvent;

type AgentStatusState = Extract<AgentEvent, { status: unknown }>["status"]["state"];

/** The newest event that a function of this module created, unless a generator has yielded the event. */
let unyieldedEvent: object | undefined;
let unyieldedFunctionName = "";
let createdEventCount = 0;

/** Returns the number of events that the functions of this module have created. */
export function countCreatedEvents(): number {
  return createdEventCount;
}

/** Records that a generator has yielded a value. */
export function markAsYielded(value: unknown): void {
  if (value === unyieldedEvent) unyieldedEvent = undefined;
}

/**
 * Returns the name of the function that created the newest event, if no generator has yielded the event and if the
 * event is newer than the first `count` events. Turns run concurrently, so the event may belong to another turn.
 */
export function findUnyieldedFunctionName(count: number): string | undefined {
  return unyieldedEvent && createdEventCount > count ? unyieldedFunctionName : undefined;
}

function recordCreation<T extends object>(functionName: string, event: T): T {
  unyieldedEvent = event;
  unyieldedFunctionName = functionName;
  createdEventCount++;
  return event;
}

/** Reports the agent's current activity. The task remains WORKING. */
export function status(...content: PartOrText[]): AgentEvent {
  return createStatusEvent("status", "TASK_STATE_WORKING", content);
}

/** Asks the user for input and ends the turn. The user's answer begins the next turn of the same task. */
export function inputRequired(...content: PartOrText[]): AgentEvent {
  return createStatusEvent("inputRequired", "TASK_STATE_INPUT_REQUIRED", content);
}

/** Asks the user to authenticate with another service and ends the turn. */
export function authRequired(...content: PartOrText[]): AgentEvent {
  return createStatusEvent("authRequired", "TASK_STATE_AUTH_REQUIRED", content);
}

/**
 * Ends the task as FAILED with a reason that the caller receives. Only the server's observer receives the
 * message of a thrown error.
 */
export function failed(...content: PartOrText[]): AgentEvent {
  return createStatusEvent("failed", "TASK_STATE_FAILED", content);
}

/**
 * Answers the caller with a message instead of a task. The reply must be the only yield of the turn, and the
 * agent must set `respondsWith` to `"either"`.
 */
export function reply(...content: PartOrText[]): AgentEvent {
  return recordCreation("reply", { message: createAgentMessage(content) });
}

/** Emits a complete artifact in addition to the agent's answer. */
export function artifact(options: ArtifactOptions, ...content: PartOrText[]): AgentEvent {
  return recordCreation("artifact", { artifact: createArtifact(options, content), lastChunk: true });
}

/**
 * Emits a chunk of an artifact in addition to the agent's answer. The first chunk creates the artifact, later
 * chunks are appended to the artifact, and `last: true` closes the artifact.
 */
export function chunk(
  options: string | (ArtifactOptions & { last?: boolean }),
  ...content: PartOrText[]
): ArtifactChunk {
  const isText = typeof options === "string";
  const artifactChunk: ArtifactChunk = { chunk: createArtifact(isText ? { id: options } : options, content) };
  if (!isText && options.last) artifactChunk.lastChunk = true;
  return recordCreation("chunk", artifactChunk);
}

function createStatusEvent(
  functionName: string,
  state: AgentStatusState,
  content: readonly PartOrText[],
): AgentEvent {
  return recordCreation(functionName, { status: { state, message: createAgentMessage(content) } });
}

function createAgentMessage(content: readonly PartOrText[]): AgentMessage {
  return { parts: content.map(toPart) };
}

function createArtifact(
  { id, name, description, metadata }: ArtifactOptions,
  content: readonly PartOrText[],
): Artifact {
  const newArtifact: Artifact = { artifactId: id ?? name ?? "artifact", parts: content.map(toPart) };
  if (name !== undefined) newArtifact.name = name;
  if (description !== undefined) newArtifact.description = description;
  if (metadata) newArtifact.metadata = metadata;
  return newArtifact;
}

function toPart(content: PartOrText): Part {
  return typeof content === "string" ? { text: content } : content;
}
