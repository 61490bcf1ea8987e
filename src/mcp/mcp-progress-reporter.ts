import { isTerminal, type StreamResponse, getText } from "../protocol/index.ts";
import { truncateStart } from "./sanitize-text.ts";

/** Tells the host something about work that goes on; resolves when it has been written. */
export type ProgressNotifier = (progress: number, message: string) => Promise<void>;

/** Of the lines that wait while the host reads; the oldest go first. */
const MAX_PENDING_LINES = 50;
const MAX_LINE_LENGTH = 1000;

/**
 * The progress of one call: what the agent says of its work, and the text that it streams. One notification is under way
 * at a time, and chunks that come meanwhile become one, so a slow host is not flooded and a fast one sees everything.
 */
export class McpProgressReporter {
  readonly #notify: ProgressNotifier | undefined;
  readonly #pendingLines: { text: string; isChunk: boolean }[] = [];
  #sentCount = 0;
  #sending: Promise<void> | undefined;

  /** `tell` is missing when nobody asked to be told. */
  constructor(tell: ProgressNotifier | undefined) {
    this.#notify = tell;
  }

  reportEvent(event: StreamResponse): void {
    if (!this.#notify) return;
    if ("artifactUpdate" in event) this.#addLine(getText(event.artifactUpdate.artifact.parts), true);
    // What ends the call is in its result.
    else if ("statusUpdate" in event && !isTerminal(event.statusUpdate.status.state))
      this.#addLine(getText(event.statusUpdate.status.message?.parts ?? []), false);
  }

  /** Nothing may be told of a call that has its result. */
  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  #addLine(text: string, isChunk: boolean): void {
    if (text === "") return;
    const last = this.#pendingLines.at(-1);
    if (isChunk && last?.isChunk) last.text = truncateStart(last.text + text, MAX_LINE_LENGTH);
    else this.#pendingLines.push({ text: truncateStart(text, MAX_LINE_LENGTH), isChunk });
    if (this.#pendingLines.length > MAX_PENDING_LINES) this.#pendingLines.shift();
    this.#sending ??= this.#sendLines();
  }

  async #sendLines(): Promise<void> {
    try {
      for (let line = this.#pendingLines.shift(); line; line = this.#pendingLines.shift()) {
        await this.#notify?.(++this.#sentCount, line.text);
      }
    } catch {
      // A host that is not there any more; its call is cancelled in another way.
      this.#pendingLines.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }
}
