import type { AgentEvent, AgentMessage } from "../engine/index.ts";
import type { Artifact, JsonObject, Part } from "../protocol/index.ts";

/** A piece of content; a string stands for a text part. */
export type PartLike = string | Part;

/** Which artifact is meant: its id, or its id with more about it. */
export interface ArtifactOptions {
  /** Unique within the task; made from the name when absent. */
  id?: string;
  name?: string;
  description?: string;
  metadata?: JsonObject;
}

/** A piece of a named artifact; whether it creates or grows the artifact is found out when it is said. */
export interface ArtifactChunk {
  chunk: Artifact;
  lastChunk?: boolean;
}

/** Everything that the generator of an `agent` may yield. */
export type AgentYield = PartLike | ArtifactChunk | AgentEvent;

/** What an agent is doing right now; the task stays WORKING. */
export function status(...content: PartLike[]): AgentEvent {
  return { status: { state: "TASK_STATE_WORKING", message: createMessage(content) } };
}

/** Asks the user and ends the turn: the answer begins the next turn of the same task. */
export function inputRequired(...content: PartLike[]): AgentEvent {
  return { status: { state: "TASK_STATE_INPUT_REQUIRED", message: createMessage(content) } };
}

/** Asks the user to authenticate somewhere and ends the turn. */
export function authRequired(...content: PartLike[]): AgentEvent {
  return { status: { state: "TASK_STATE_AUTH_REQUIRED", message: createMessage(content) } };
}

/** Ends the task as FAILED with a reason that the caller reads; what is thrown is only reported to the server. */
export function failed(...content: PartLike[]): AgentEvent {
  return { status: { state: "TASK_STATE_FAILED", message: createMessage(content) } };
}

/** Answers without a task: the only thing that the turn says, and only from an agent that `opensWith: "either"`. */
export function reply(...content: PartLike[]): AgentEvent {
  return { message: createMessage(content) };
}

/** A whole artifact of its own, beside the answer. */
export function artifact(options: ArtifactOptions, ...content: PartLike[]): AgentEvent {
  return { artifact: createArtifact(options, content), lastChunk: true };
}

/** A piece of an artifact of its own: the first creates it, the others grow it, `last: true` closes it. */
export function chunk(
  options: string | (ArtifactOptions & { last?: boolean }),
  ...content: PartLike[]
): ArtifactChunk {
  if (typeof options === "string") return { chunk: createArtifact({ id: options }, content) };
  const artifactChunk: ArtifactChunk = { chunk: createArtifact(options, content) };
  if (options.last) artifactChunk.lastChunk = true;
  return artifactChunk;
}

function createMessage(content: readonly PartLike[]): AgentMessage {
  return { parts: content.map(toPart) };
}

function createArtifact(
  { id, name, description, metadata }: ArtifactOptions,
  content: readonly PartLike[],
): Artifact {
  const newArtifact: Artifact = { artifactId: id ?? name ?? "artifact", parts: content.map(toPart) };
  if (name !== undefined) newArtifact.name = name;
  if (description !== undefined) newArtifact.description = description;
  if (metadata) newArtifact.metadata = metadata;
  return newArtifact;
}

function toPart(content: PartLike): Part {
  return typeof content === "string" ? { text: content } : content;
}
