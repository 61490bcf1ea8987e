import type { AgentEvent, AgentMessage } from "../engine/index.ts";
import type { Artifact, JsonObject, Part } from "../protocol/index.ts";

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

/** Reports the agent's current activity. The task remains WORKING. */
export function status(...content: PartOrText[]): AgentEvent {
  return { status: { state: "TASK_STATE_WORKING", message: createAgentMessage(content) } };
}

/** Asks the user for input and ends the turn. The user's answer begins the next turn of the same task. */
export function inputRequired(...content: PartOrText[]): AgentEvent {
  return { status: { state: "TASK_STATE_INPUT_REQUIRED", message: createAgentMessage(content) } };
}

/** Asks the user to authenticate with another service and ends the turn. */
export function authRequired(...content: PartOrText[]): AgentEvent {
  return { status: { state: "TASK_STATE_AUTH_REQUIRED", message: createAgentMessage(content) } };
}

/**
 * Ends the task as FAILED with a reason that the caller receives. Only the server's observer receives the
 * message of a thrown error.
 */
export function failed(...content: PartOrText[]): AgentEvent {
  return { status: { state: "TASK_STATE_FAILED", message: createAgentMessage(content) } };
}

/**
 * Answers the caller with a message instead of a task. The reply must be the only yield of the turn, and the
 * agent must set `respondsWith` to `"either"`.
 */
export function reply(...content: PartOrText[]): AgentEvent {
  return { message: createAgentMessage(content) };
}

/** Emits a complete artifact in addition to the agent's answer. */
export function artifact(options: ArtifactOptions, ...content: PartOrText[]): AgentEvent {
  return { artifact: createArtifact(options, content), lastChunk: true };
}

/**
 * Emits a chunk of an artifact in addition to the agent's answer. The first chunk creates the artifact, later
 * chunks are appended to the artifact, and `last: true` closes the artifact.
 */
export function chunk(
  options: string | (ArtifactOptions & { last?: boolean }),
  ...content: PartOrText[]
): ArtifactChunk {
  if (typeof options === "string") return { chunk: createArtifact({ id: options }, content) };
  const artifactChunk: ArtifactChunk = { chunk: createArtifact(options, content) };
  if (options.last) artifactChunk.lastChunk = true;
  return artifactChunk;
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
