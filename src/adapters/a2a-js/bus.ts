import { type AgentExecutionEvent, DefaultExecutionEventBus } from "@a2a-js/sdk/server";
import { A2AError } from "../../protocol/index.ts";

/** `publish` waits for nobody, so what is not yet taken must end somewhere. */
const MOST_WAITING = 10_000;

/**
 * The SDK's own bus, heard by one reader that no `removeAllListeners` of an executor's can take away. The reader ends
 * with `finished()` or with `end()`, after all that was published until then.
 */
export class Bus extends DefaultExecutionEventBus {
  readonly #waiting: AgentExecutionEvent[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  override publish(event: AgentExecutionEvent): void {
    if (!this.#ended) {
      if (this.#waiting.length >= MOST_WAITING) this.end({ error: tooMany() });
      else this.#waiting.push(event);
      this.#wake?.();
    }
    super.publish(event);
  }

  override finished(): void {
    this.end();
    super.finished();
  }

  /** Nothing is heard any more; `failure` is what the reader is then told. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#wake?.();
  }

  /** True: `next` has an answer already. */
  get hasMore(): boolean {
    return this.#waiting.length > 0;
  }

  /** The next event; undefined at the end. Throws what the end was told. */
  async next(): Promise<AgentExecutionEvent | undefined> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event) return event;
      if (this.#failure) throw this.#failure.error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

function tooMany(): A2AError {
  return new A2AError(
    "INTERNAL",
    `The agent published more than ${MOST_WAITING} events at once; let it wait in between, or publish larger chunks.`,
  );
}
