import type {
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { ListTasksResponse, SendMessageResponse, StreamResponse, Task } from "../protocol/index.ts";
import type { AgentCard, Message, TaskState } from "../protocol/index.ts";
import type { Problem } from "./problem.ts";
import {
  renderCard,
  renderEvent,
  renderIds,
  renderMessage,
  renderPushConfig,
  renderSent,
  renderTask,
  type Detail,
} from "./render.ts";
import { jsonText, printable, TextPage } from "./text.ts";

export type Format = "text" | "json";

/** Where a command writes; the process's streams, or what a test looks at. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
}

interface Style {
  readonly lines?: boolean;
  readonly verbose?: boolean;
}

/**
 * What a command reports. Results go to stdout in the chosen format and never in colour; warnings and hints go to
 * stderr. JSON is the protocol's own types, unchanged: one document, or one line per event of a stream.
 */
export class Output {
  readonly format: Format;
  readonly #streams: Streams;
  readonly #page: TextPage;
  readonly #lines: boolean;
  readonly #verbose: boolean;

  /** `lines`: every JSON document on a line of its own. `verbose`: text has all that there is. */
  constructor(streams: Streams, format: Format, { lines = false, verbose = false }: Style = {}) {
    this.format = format;
    this.#lines = lines;
    this.#verbose = verbose;
    this.#streams = streams;
    this.#page = new TextPage((text) => streams.out(text));
  }

  response(response: SendMessageResponse, history = false): void {
    if (this.format === "json") this.#document(response);
    else if ("task" in response) renderTask(this.#page, response.task, this.#detail(history));
    else renderMessage(this.#page, response.message, this.#verbose);
  }

  /** The history of a task is shown where it is asked for. */
  task(task: Task, history = false): void {
    if (this.format === "json") this.#document(task);
    else renderTask(this.#page, task, this.#detail(history));
  }

  tasks(page: ListTasksResponse): void {
    if (this.format === "json" && this.#lines) {
      for (const task of page.tasks) this.#document(task);
      if (page.nextPageToken) this.#note(`Next page: ${page.nextPageToken}`);
      return;
    }
    if (this.format === "json") return this.#document(page);
    for (const { id, contextId, status } of page.tasks) {
      renderIds(this.#page, { id, contextId, state: status.state });
      if (status.timestamp) this.#page.field("Updated", status.timestamp);
      this.#page.gap();
    }
    this.#page.field("Total", page.totalSize);
    if (page.nextPageToken) this.#page.field("Next page", page.nextPageToken);
  }

  card(card: AgentCard): void {
    if (this.format === "json") this.#document(card);
    else renderCard(this.#page, card);
  }

  /** Files that were made of a task's artifacts, and what of them is somewhere else. */
  saved(
    task: { id: string; contextId: string; state: TaskState },
    files: readonly { path: string; artifactId: string; mediaType: string; bytes: number }[],
    links: readonly { artifactId: string; url: string }[],
  ): void {
    if (this.format === "json") return this.#document({ task, saved: files, links });
    renderIds(this.#page, task);
    for (const { path, mediaType, bytes } of files)
      this.#page.field("Saved", `${path}, ${mediaType}, ${bytes} bytes`);
    for (const { url } of links) this.#page.field("Link", url);
  }

  pushConfig(config: TaskPushNotificationConfig): void {
    if (this.format === "json") return this.#document(config);
    renderPushConfig(this.#page, config);
  }

  pushConfigs(page: ListTaskPushNotificationConfigsResponse): void {
    if (this.format === "json") return this.#document(page);
    for (const config of page.configs) {
      renderPushConfig(this.#page, config);
      this.#page.gap();
    }
    if (page.nextPageToken) this.#page.field("Next page", page.nextPageToken);
  }

  /** What has no protocol type: `value` in JSON, `fields` in text. */
  facts(value: object, fields: Readonly<Record<string, string>>): void {
    if (this.format === "json") return this.#document(value);
    for (const [label, field] of Object.entries(fields)) this.#page.field(label, field);
  }

  /** JSON in every format, because it is for a file. */
  document(value: object): void {
    this.#document(value);
  }

  /** The first element of a stream that goes on with a task whose past the user has seen. */
  resumed(event: StreamResponse): void {
    if (this.format === "json" || !("task" in event)) return this.event(event);
    const { id, contextId, status } = event.task;
    renderIds(this.#page, { id, contextId, state: status.state });
  }

  /** One element of a stream, at once. */
  event(event: StreamResponse): void {
    if (this.format === "json") this.#streams.out(`${jsonText(event)}\n`);
    else renderEvent(this.#page, event, this.#detail(false));
  }

  /** What the user says, for those who want to see all of it. */
  sent(message: Message): void {
    if (this.format === "text" && this.#verbose) renderSent(this.#page, message);
  }

  /** The last words of a stream in text: who watched only the tail knows which task it was, and how it stands. */
  endOfStream(ids: { id: string; contextId: string; state: TaskState }): void {
    if (this.format === "text") renderIds(this.#page, ids);
  }

  /** A fact that has no protocol type; nothing in text. */
  fact(value: object): void {
    if (this.format === "json") this.#document(value);
  }

  warning(message: string): void {
    this.#note(`warning: ${message}`);
  }

  hint(message: string): void {
    this.#note(`hint: ${message}`);
  }

  /** In JSON the failure is the result. */
  problem(problem: Problem): void {
    if (this.format === "json") return this.#document(problem);
    this.#note(`error: ${problem.message} (${problem.code})`);
    if (problem.hint) this.hint(problem.hint);
  }

  #note(line: string): void {
    // On a terminal the two streams meet: what is half said on one must not run into the other.
    this.#page.close();
    this.#streams.err(`${printable(line)}\n`);
  }

  #document(value: unknown): void {
    this.#streams.out(`${jsonText(value, this.#lines ? undefined : 2)}\n`);
  }

  #detail(history: boolean): Detail {
    return { history: history || this.#verbose, verbose: this.#verbose };
  }
}
