import { getEventTaskId } from "../protocol/index.ts";
import type {
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { ListTasksResponse, SendMessageResponse, StreamResponse, Task } from "../protocol/index.ts";
import type { AgentCard, Message, TaskState } from "../protocol/index.ts";
import type { ArtifactContentTracker } from "../protocol/index.ts";
import type { CliError } from "./cli-error.ts";
import { LatestTaskArtifacts } from "./latest-task-artifacts.ts";
import {
  isLastEvent,
  renderAgentCard,
  renderEvent,
  renderIds,
  renderIdsWithoutState,
  renderMessage,
  renderNotification,
  renderPushConfig,
  renderUserMessage,
  renderTask,
  type TaskTextDetailOptions,
} from "./render-protocol-objects.ts";
import type { RawOutputStreams } from "./terminal-streams.ts";
import { renderJson, TextWriter } from "./text-writer.ts";

export type OutputFormat = "text" | "json";

interface OutputWriterOptions {
  readonly jsonLines?: boolean;
  readonly verbose?: boolean;
}

/**
 * Writer for the output of a command. Writes results to stdout in the chosen format without colors, and
 * warnings and hints to stderr. JSON output contains the unchanged A2A types, as one document or as one line
 * for each stream event.
 */
export class OutputWriter {
  readonly format: OutputFormat;
  readonly #streams: RawOutputStreams;
  readonly #textWriter: TextWriter;
  readonly #artifacts = new LatestTaskArtifacts();
  readonly #jsonLines: boolean;
  readonly #verbose: boolean;
  /** Id of the task whose ids the output contains before its result. */
  #announcedTaskId: string | undefined;
  #endsWithIds = false;

  /**
   * `jsonLines` writes each JSON document on one line. `verbose` writes all available details in text format.
   */
  constructor(
    streams: RawOutputStreams,
    format: OutputFormat,
    { jsonLines = false, verbose = false }: OutputWriterOptions = {},
  ) {
    this.format = format;
    this.#jsonLines = jsonLines;
    this.#verbose = verbose;
    this.#streams = streams;
    this.#textWriter = new TextWriter((text) => streams.out(text));
  }

  writeResponse(response: SendMessageResponse, history = false): void {
    if (this.format === "json") this.#writeJsonDocument(response);
    else if ("task" in response) {
      const { task } = response;
      const hasIds = task.id === this.#announcedTaskId;
      renderTask(this.#textWriter, task, this.#getTextDetailOptions(history), hasIds);
    } else renderMessage(this.#textWriter, response.message, this.#verbose);
  }

  /** Writes the ids of a task before its result is known, in text format. */
  announceTask(ids: { id: string; contextId: string }): void {
    if (this.format === "json" || this.#announcedTaskId !== undefined) return;
    this.#announcedTaskId = ids.id;
    renderIdsWithoutState(this.#textWriter, ids);
  }

  /** Writes a task. `history` includes its messages. */
  writeTask(task: Task, history = false): void {
    if (this.format === "json") this.#writeJsonDocument(task);
    else renderTask(this.#textWriter, task, this.#getTextDetailOptions(history));
  }

  writeTaskList(page: ListTasksResponse): void {
    if (this.format === "json" && this.#jsonLines) {
      for (const task of page.tasks) this.#writeJsonDocument(task);
      if (page.nextPageToken) this.#writeNote(`Next page: ${page.nextPageToken}`);
      return;
    }
    if (this.format === "json") return this.#writeJsonDocument(page);
    for (const { id, contextId, status } of page.tasks) {
      renderIds(this.#textWriter, { id, contextId, state: status.state });
      if (status.timestamp) this.#textWriter.writeField("Updated", status.timestamp);
      this.#textWriter.writeBlankLine();
    }
    this.#textWriter.writeField("Total", page.totalSize);
    if (page.nextPageToken) this.#textWriter.writeField("Next page", page.nextPageToken);
  }

  /** Writes a card, and whether its signature is valid. JSON output contains only the card. */
  writeCard(card: AgentCard, signature: string): void {
    if (this.format === "json") {
      this.#writeJsonDocument(card);
      if (signature !== "absent") this.#writeNote(`signature: ${signature}`);
      return;
    }
    renderAgentCard(this.#textWriter, card);
    this.#textWriter.writeField("Signature", signature);
  }

  /** Writes the names of the saved artifact files and the links to external content. */
  writeSavedFiles(
    task: { id: string; contextId: string; state: TaskState },
    files: readonly { path: string; artifactId: string; mediaType: string; bytes: number }[],
    links: readonly { artifactId: string; url: string }[],
  ): void {
    if (this.format === "json") return this.#writeJsonDocument({ task, saved: files, links });
    renderIds(this.#textWriter, task);
    for (const { path, mediaType, bytes } of files)
      this.#textWriter.writeField("Saved", `${path}, ${mediaType}, ${bytes} bytes`);
    for (const { url } of links) this.#textWriter.writeField("Link", url);
  }

  writePushConfig(config: TaskPushNotificationConfig): void {
    if (this.format === "json") return this.#writeJsonDocument(config);
    renderPushConfig(this.#textWriter, config);
  }

  writePushConfigList(page: ListTaskPushNotificationConfigsResponse): void {
    if (this.format === "json") return this.#writeJsonDocument(page);
    for (const config of page.configs) {
      renderPushConfig(this.#textWriter, config);
      this.#textWriter.writeBlankLine();
    }
    if (page.nextPageToken) this.#textWriter.writeField("Next page", page.nextPageToken);
  }

  /** Writes a result that has no A2A type. JSON format uses `value`, and text format uses `fields`. */
  writeResult(value: object, fields: Readonly<Record<string, string>>): void {
    if (this.format === "json") return this.#writeJsonDocument(value);
    for (const [label, field] of Object.entries(fields)) this.#textWriter.writeField(label, field);
  }

  /** Writes a text that users pass to another program, or `value` in JSON format. */
  writeScript(value: object, script: string): void {
    if (this.format === "json") this.#writeJsonDocument(value);
    else this.#streams.out(`${script}\n`);
  }

  /** Writes a result that users save as a file. The result is JSON in every output format. */
  writeJson(value: object): void {
    this.#writeJsonDocument(value);
  }

  /**
   * Writes the first event of a stream that continues a known task. In text format, the writer omits task
   * content that the user has already seen.
   */
  writeFirstEventOfResumedTask(event: StreamResponse): void {
    if (this.format === "json" || !("task" in event)) return this.writeEvent(event);
    const { id, contextId, status } = event.task;
    this.#artifacts.select(event.task.id).addKnownArtifacts(event.task);
    renderIds(this.#textWriter, { id, contextId, state: status.state });
    this.#endsWithIds = true;
  }

  /** Writes one stream event without delay. */
  writeEvent(event: StreamResponse): void {
    if (this.format === "json") return this.#streams.out(`${renderJson(event)}\n`);
    const artifacts = this.#selectArtifacts(event);
    renderEvent(this.#textWriter, event, artifacts, this.#getTextDetailOptions(false));
    this.#endsWithIds = "task" in event || isLastEvent(event);
  }

  /** Writes the event of a push notification. */
  writeNotification(event: StreamResponse): void {
    if (this.format === "json") this.writeEvent(event);
    else renderNotification(this.#textWriter, event, this.#selectArtifacts(event));
  }

  /** Writes the user's own message in text format with `--verbose`. */
  writeUserMessageIfVerbose(message: Message): void {
    if (this.format === "text" && this.#verbose) renderUserMessage(this.#textWriter, message);
  }

  /**
   * Writes the task's ids and state after a stream in text format, unless the last event contains them. Long output
   * hides the first ids.
   */
  writeTaskIdsAtStreamEnd(ids: { id: string; contextId: string; state: TaskState }): void {
    if (this.format === "text" && !this.#endsWithIds) renderIds(this.#textWriter, ids);
  }

  /** Writes a result that has no A2A type, but only in JSON format. */
  writeResultIfJsonFormat(value: object): void {
    if (this.format === "json") this.#writeJsonDocument(value);
  }

  writeWarning(message: string): void {
    this.#writeNote(`warning: ${message}`);
  }

  writeHint(message: string): void {
    this.#writeNote(`hint: ${message}`);
  }

  /** Writes an error. In JSON format, the error is the result of the command and is written to stdout. */
  writeError(problem: CliError): void {
    if (this.format === "json") return this.#writeJsonDocument(problem);
    this.#writeNote(`error: ${problem.message} (${problem.code})`);
    if (problem.hint) this.writeHint(problem.hint);
  }

  #selectArtifacts(event: StreamResponse): ArtifactContentTracker {
    return this.#artifacts.select(getEventTaskId(event));
  }

  #writeNote(line: string): void {
    // Closes the open text block first, because stdout and stderr share the terminal.
    this.#textWriter.closeBlock();
    this.#streams.err(`${line}\n`);
  }

  #writeJsonDocument(value: unknown): void {
    this.#streams.out(`${renderJson(value, this.#jsonLines ? undefined : 2)}\n`);
  }

  #getTextDetailOptions(history: boolean): TaskTextDetailOptions {
    return { history: history || this.#verbose, verbose: this.#verbose };
  }
}
