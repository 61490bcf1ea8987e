import { isTerminal, type StreamResponse, textOf } from "../protocol/index.ts";
import { cutFront } from "./plain.ts";

/** Tells the host something about work that goes on; resolves when it has been written. */
export type Tell = (progress: number, message: string) => Promise<void>;

/** Of the lines that wait while the host reads; the oldest go first. */
const MAX_LINES = 50;
const MAX_LENGTH = 1000;

/**
 * The progress of one call: what the agent says of its work, and the text that it streams. One notification is under way
 * at a time, and chunks that come meanwhile become one, so a slow host is not flooded and a fast one sees everything.
 */
export class Progress {
  readonly #tell: Tell | undefined;
  readonly #lines: { text: string; isChunk: boolean }[] = [];
  #sent = 0;
  #sending: Promise<void> | undefined;

  /** `tell` is missing when nobody asked to be told. */
  constructor(tell: Tell | undefined) {
    this.#tell = tell;
  }

  see(event: StreamResponse): void {
    if (!this.#tell) return;
    if ("artifactUpdate" in event) this.#add(textOf(event.artifactUpdate.artifact.parts), true);
    // What ends the call is in its result.
    else if ("statusUpdate" in event && !isTerminal(event.statusUpdate.status.state))
      this.#add(textOf(event.statusUpdate.status.message?.parts ?? []), false);
  }

  /** Nothing may be told of a call that has its result. */
  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  #add(text: string, isChunk: boolean): void {
    if (text === "") return;
    const last = this.#lines.at(-1);
    if (isChunk && last?.isChunk) last.text = cutFront(last.text + text, MAX_LENGTH);
    else this.#lines.push({ text: cutFront(text, MAX_LENGTH), isChunk });
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    try {
      for (let line = this.#lines.shift(); line; line = this.#lines.shift()) {
        await this.#tell?.(++this.#sent, line.text);
      }
    } catch {
      // A host that is not there any more; its call is cancelled in another way.
      this.#lines.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }
}
