import type { AgentEvent, AgentMessage } from "../engine/index.ts";
import type { Artifact, JsonObject, Part } from "../protocol/index.ts";

/** A piece of content; a string stands for a text part. */
export type Content = string | Part;

/** Which artifact is meant: its id, or its id with more about it. */
export interface ArtifactAbout {
  /** Unique within the task; made from the name when absent. */
  id?: string;
  name?: string;
  description?: string;
  metadata?: JsonObject;
}

/** A piece of a named artifact; whether it creates or grows the artifact is found out when it is said. */
export interface Chunk {
  chunk: Artifact;
  lastChunk?: boolean;
}

/** Everything that the generator of an `agent` may yield. */
export type Said = Content | Chunk | AgentEvent;

/** What an agent is doing right now; the task stays WORKING. */
export function status(...content: Content[]): AgentEvent {
  return { status: { state: "TASK_STATE_WORKING", message: message(content) } };
}

/** Asks the user and ends the turn: the answer begins the next turn of the same task. */
export function inputRequired(...content: Content[]): AgentEvent {
  return { status: { state: "TASK_STATE_INPUT_REQUIRED", message: message(content) } };
}

/** Asks the user to authenticate somewhere and ends the turn. */
export function authRequired(...content: Content[]): AgentEvent {
  return { status: { state: "TASK_STATE_AUTH_REQUIRED", message: message(content) } };
}

/** Ends the task as FAILED with a reason that the caller reads; what is thrown is only reported to the server. */
export function failed(...content: Content[]): AgentEvent {
  return { status: { state: "TASK_STATE_FAILED", message: message(content) } };
}

/** Answers without a task: the only thing that the turn says, and only from an agent that `opensWith: "either"`. */
export function reply(...content: Content[]): AgentEvent {
  return { message: message(content) };
}

/** A whole artifact of its own, beside the answer. */
export function artifact(about: ArtifactAbout, ...content: Content[]): AgentEvent {
  return { artifact: artifactOf(about, content), lastChunk: true };
}

/** A piece of an artifact of its own: the first creates it, the others grow it, `last: true` closes it. */
export function chunk(about: string | (ArtifactAbout & { last?: boolean }), ...content: Content[]): Chunk {
  if (typeof about === "string") return { chunk: artifactOf({ id: about }, content) };
  const said: Chunk = { chunk: artifactOf(about, content) };
  if (about.last) said.lastChunk = true;
  return said;
}

function message(content: readonly Content[]): AgentMessage {
  return { parts: content.map(toPart) };
}

function artifactOf(
  { id, name, description, metadata }: ArtifactAbout,
  content: readonly Content[],
): Artifact {
  const made: Artifact = { artifactId: id ?? name ?? "artifact", parts: content.map(toPart) };
  if (name !== undefined) made.name = name;
  if (description !== undefined) made.description = description;
  if (metadata) made.metadata = metadata;
  return made;
}

function toPart(content: Content): Part {
  return typeof content === "string" ? { text: content } : content;
}
