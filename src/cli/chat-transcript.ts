import type { Part, StreamResponse, Task } from "../protocol/index.ts";
import { LatestTaskArtifacts } from "./latest-task-artifacts.ts";
import { formatFilePart } from "./render-protocol-objects.ts";
import type { OutputStreams } from "./terminal-streams.ts";
import { formatToolPart } from "./tool-call-answers.ts";

/**
 * Writes the answers of an agent as a conversation, for a person at a terminal: texts without labels, as they arrive.
 * After each turn, one line on stderr contains the ids and the state of the task.
 */
export class ChatTranscript {
  readonly #streams: OutputStreams;
  readonly #artifacts = new LatestTaskArtifacts();
  #isLineOpen = false;

  constructor(streams: OutputStreams) {
    this.#streams = streams;
  }

  writeEvent(event: StreamResponse): void {
    if ("message" in event) this.#writeBlock(event.message.parts);
    else if ("artifactUpdate" in event) {
      const { parts, isContinuation } = this.#artifacts
        .select(event.artifactUpdate.taskId)
        .addUpdate(event.artifactUpdate);
      if (!isContinuation) this.#endLine();
      this.#writeParts(parts);
      if (event.artifactUpdate.lastChunk) this.#endLine();
    } else if ("statusUpdate" in event) this.#writeBlock(event.statusUpdate.status.message?.parts ?? []);
    else {
      // Some agents repeat the complete task at the end of a stream.
      for (const artifact of event.task.artifacts ?? [])
        this.#writeBlock(this.#artifacts.select(event.task.id).addUpdate({ artifact }).parts);
      this.#writeBlock(event.task.status.message?.parts ?? []);
    }
  }

  /** Skips the content of a task that the user has seen in an earlier turn. */
  skipKnownContent(task: Task): void {
    this.#artifacts.select(task.id).addKnownArtifacts(task);
  }

  endTurn({ id, contextId, status }: Pick<Task, "id" | "contextId" | "status">): void {
    this.#endLine();
    this.#streams.err(`(task ${id}, context ${contextId}: ${status.state})\n`);
  }

  #writeBlock(parts: readonly Part[]): void {
    this.#endLine();
    this.#writeParts(parts);
    this.#endLine();
  }

  #writeParts(parts: readonly Part[]): void {
    for (const part of parts) {
      if ("text" in part) this.#write(part.text);
      else {
        this.#endLine();
        this.#write(formatNonTextPart(part));
        this.#endLine();
      }
    }
  }

  #write(text: string): void {
    if (text === "") return;
    this.#streams.out(text);
    this.#isLineOpen = !text.endsWith("\n");
  }

  #endLine(): void {
    if (this.#isLineOpen) this.#streams.out("\n");
    this.#isLineOpen = false;
  }
}

function formatNonTextPart(part: Exclude<Part, { text: string }>): string {
  if (!("data" in part)) return `[${formatFilePart(part)}]`;
  return formatToolPart(part) ?? JSON.stringify(part.data, null, 2);
}
