import type {
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { ListTasksResponse, SendMessageResponse, StreamResponse, Task } from "../protocol/index.ts";
import type { AgentCard, Message, TaskState } from "../protocol/index.ts";
import type { CliError } from "./cli-error.ts";
import {
  renderCard,
  renderEvent,
  renderIds,
  renderMessage,
  renderPushConfig,
  renderSentMessage,
  renderTask,
  type RenderDetail,
} from "./render.ts";
import { renderJson, escapeControlCharacters, TextWriter } from "./text-writer.ts";

export type OutputFormat = "text" | "json";

/** Where a command writes; the process's streams, or what a test looks at. */
export interface OutputStreams {
  out(text: string): void;
  err(text: string): void;
}

interface OutputStyle {
  readonly jsonLines?: boolean;
  readonly verbose?: boolean;
}

/**
 * What a command reports. Results go to stdout in the chosen format and never in colour; warnings and hints go to
 * stderr. JSON is the protocol's own types, unchanged: one document, or one line per event of a stream.
 */
export class OutputWriter {
  readonly format: OutputFormat;
  readonly #streams: OutputStreams;
  readonly #textWriter: TextWriter;
  readonly #jsonLines: boolean;
  readonly #verbose: boolean;

  /** `jsonLines`: every JSON document on a line of its own. `verbose`: text has all that there is. */
  constructor(
    streams: OutputStreams,
    format: OutputFormat,
    { jsonLines: lines = false, verbose = false }: OutputStyle = {},
  ) {
    this.format = format;
    this.#jsonLines = lines;
    this.#verbose = verbose;
    this.#streams = streams;
    this.#textWriter = new TextWriter((text) => streams.out(text));
  }

  writeResponse(response: SendMessageResponse, history = false): void {
    if (this.format === "json") this.#writeDocument(response);
    else if ("task" in response) renderTask(this.#textWriter, response.task, this.#getDetail(history));
    else renderMessage(this.#textWriter, response.message, this.#verbose);
  }

  /** The history of a task is shown where it is asked for. */
  writeTask(task: Task, history = false): void {
    if (this.format === "json") this.#writeDocument(task);
    else renderTask(this.#textWriter, task, this.#getDetail(history));
  }

  writeTaskList(page: ListTasksResponse): void {
    if (this.format === "json" && this.#jsonLines) {
      for (const task of page.tasks) this.#writeDocument(task);
      if (page.nextPageToken) this.#writeNote(`Next page: ${page.nextPageToken}`);
      return;
    }
    if (this.format === "json") return this.#writeDocument(page);
    for (const { id, contextId, status } of page.tasks) {
      renderIds(this.#textWriter, { id, contextId, state: status.state });
      if (status.timestamp) this.#textWriter.writeField("Updated", status.timestamp);
      this.#textWriter.writeBlankLine();
    }
    this.#textWriter.writeField("Total", page.totalSize);
    if (page.nextPageToken) this.#textWriter.writeField("Next page", page.nextPageToken);
  }

  writeCard(card: AgentCard): void {
    if (this.format === "json") this.#writeDocument(card);
    else renderCard(this.#textWriter, card);
  }

  /** Files that were made of a task's artifacts, and what of them is somewhere else. */
  writeSavedFiles(
    task: { id: string; contextId: string; state: TaskState },
    files: readonly { path: string; artifactId: string; mediaType: string; bytes: number }[],
    links: readonly { artifactId: string; url: string }[],
  ): void {
    if (this.format === "json") return this.#writeDocument({ task, saved: files, links });
    renderIds(this.#textWriter, task);
    for (const { path, mediaType, bytes } of files)
      this.#textWriter.writeField("Saved", `${path}, ${mediaType}, ${bytes} bytes`);
    for (const { url } of links) this.#textWriter.writeField("Link", url);
  }

  writePushConfig(config: TaskPushNotificationConfig): void {
    if (this.format === "json") return this.#writeDocument(config);
    renderPushConfig(this.#textWriter, config);
  }

  writePushConfigList(page: ListTaskPushNotificationConfigsResponse): void {
    if (this.format === "json") return this.#writeDocument(page);
    for (const config of page.configs) {
      renderPushConfig(this.#textWriter, config);
      this.#textWriter.writeBlankLine();
    }
    if (page.nextPageToken) this.#textWriter.writeField("Next page", page.nextPageToken);
  }

  /** What has no protocol type: `value` in JSON, `fields` in text. */
  writeResult(value: object, fields: Readonly<Record<string, string>>): void {
    if (this.format === "json") return this.#writeDocument(value);
    for (const [label, field] of Object.entries(fields)) this.#textWriter.writeField(label, field);
  }

  /** JSON in every format, because it is for a file. */
  writeJson(value: object): void {
    this.#writeDocument(value);
  }

  /** The first element of a stream that goes on with a task whose past the user has seen. */
  writeResumedTask(event: StreamResponse): void {
    if (this.format === "json" || !("task" in event)) return this.writeEvent(event);
    const { id, contextId, status } = event.task;
    renderIds(this.#textWriter, { id, contextId, state: status.state });
  }

  /** One element of a stream, at once. */
  writeEvent(event: StreamResponse): void {
    if (this.format === "json") this.#streams.out(`${renderJson(event)}\n`);
    else renderEvent(this.#textWriter, event, this.#getDetail(false));
  }

  /** What the user says, for those who want to see all of it. */
  writeSentMessage(message: Message): void {
    if (this.format === "text" && this.#verbose) renderSentMessage(this.#textWriter, message);
  }

  /** The last words of a stream in text: who watched only the tail knows which task it was, and how it stands. */
  writeStreamEnd(ids: { id: string; contextId: string; state: TaskState }): void {
    if (this.format === "text") renderIds(this.#textWriter, ids);
  }

  /** A fact that has no protocol type; nothing in text. */
  writeJsonResult(value: object): void {
    if (this.format === "json") this.#writeDocument(value);
  }

  writeWarning(message: string): void {
    this.#writeNote(`warning: ${message}`);
  }

  writeHint(message: string): void {
    this.#writeNote(`hint: ${message}`);
  }

  /** In JSON the failure is the result. */
  writeError(problem: CliError): void {
    if (this.format === "json") return this.#writeDocument(problem);
    this.#writeNote(`error: ${problem.message} (${problem.code})`);
    if (problem.hint) this.writeHint(problem.hint);
  }

  #writeNote(line: string): void {
    // On a terminal the two streams meet: what is half said on one must not run into the other.
    this.#textWriter.closeBlock();
    this.#streams.err(`${escapeControlCharacters(line)}\n`);
  }

  #writeDocument(value: unknown): void {
    this.#streams.out(`${renderJson(value, this.#jsonLines ? undefined : 2)}\n`);
  }

  #getDetail(history: boolean): RenderDetail {
    return { history: history || this.#verbose, verbose: this.#verbose };
  }
}
