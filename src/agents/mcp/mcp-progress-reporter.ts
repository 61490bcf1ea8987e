import { ArtifactContentTracker, isTerminal, type StreamResponse, getText } from "../../protocol/index.ts";
import { truncateStart } from "./sanitize-text.ts";

/** Sends a progress notification to the host, and resolves when the notification has been written. */
export type ProgressNotifier = (progress: number, message: string) => Promise<void>;

/**
 * Maximum number of progress lines that wait for a slow host. If more lines wait, the oldest lines are
 * dropped.
 */
const MAX_PENDING_PROGRESS_LINES = 50;
/** Maximum length of a progress line in characters. If a progress line is longer, only its end is kept. */
const MAX_PROGRESS_LINE_LENGTH = 1000;

/**
 * Reports the agent's status messages and streamed text as the progress of one tool call. The reporter sends
 * one progress notification at a time, and merges the text chunks that arrive in the meantime. Merging
 * prevents a flood of notifications to slow hosts, while fast hosts receive every chunk.
 */
export class McpProgressReporter {
  readonly #notify: ProgressNotifier | undefined;
  readonly #tracker = new ArtifactContentTracker();
  readonly #pendingLines: { text: string; isChunk: boolean }[] = [];
  #sentCount = 0;
  #sending: Promise<void> | undefined;

  /** The argument `notify` is `undefined` if the host did not request progress. */
  constructor(notify: ProgressNotifier | undefined) {
    this.#notify = notify;
  }

  reportEvent(event: StreamResponse): void {
    if (!this.#notify) return;
    if ("artifactUpdate" in event) {
      const { parts, isContinuation } = this.#tracker.addUpdate(event.artifactUpdate);
      this.#addLine(getText(parts), true, isContinuation);
    }
    // The final status is part of the result.
    else if ("statusUpdate" in event && !isTerminal(event.statusUpdate.status.state))
      this.#addLine(getText(event.statusUpdate.status.message?.parts ?? []), false);
  }

  /**
   * Waits until all progress notifications are sent. MCP forbids progress notifications after the result of a
   * call.
   */
  async waitUntilAllSent(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  #addLine(text: string, isChunk: boolean, isContinuation = false): void {
    if (text === "") return;
    const last = this.#pendingLines.at(-1);
    if (isContinuation && last?.isChunk)
      last.text = truncateStart(last.text + text, MAX_PROGRESS_LINE_LENGTH);
    else this.#pendingLines.push({ text: truncateStart(text, MAX_PROGRESS_LINE_LENGTH), isChunk });
    if (this.#pendingLines.length > MAX_PENDING_PROGRESS_LINES) this.#pendingLines.shift();
    this.#sending ??= this.#sendLines();
  }

  async #sendLines(): Promise<void> {
    try {
      for (let line = this.#pendingLines.shift(); line; line = this.#pendingLines.shift()) {
        await this.#notify?.(++this.#sentCount, line.text);
      }
    } catch {
      // The host has disconnected, so the remaining lines are dropped.
      this.#pendingLines.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }
}
