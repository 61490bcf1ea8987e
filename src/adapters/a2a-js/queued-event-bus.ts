import { type AgentExecutionEvent, DefaultExecutionEventBus } from "@a2a-js/sdk/server";
import { A2AError } from "../../protocol/index.ts";

/** `publish` waits for nobody, so what is not yet taken must end somewhere. */
const MAX_QUEUED_EVENTS = 10_000;

/**
 * The SDK's own bus, heard by one reader that no `removeAllListeners` of an executor's can take away. The reader ends
 * with `finished()` or with `end()`, after all that was published until then.
 */
export class QueuedEventBus extends DefaultExecutionEventBus {
  readonly #queue: AgentExecutionEvent[] = [];
  #closed = false;
  #failure: { readonly error: unknown } | undefined;
  #wakeReader: (() => void) | undefined;

  override publish(event: AgentExecutionEvent): void {
    if (!this.#closed) {
      if (this.#queue.length >= MAX_QUEUED_EVENTS) this.close({ error: createQueueFullError() });
      else this.#queue.push(event);
      this.#wakeReader?.();
    }
    super.publish(event);
  }

  override finished(): void {
    this.close();
    super.finished();
  }

  /** Nothing is heard any more; `failure` is what the reader is then told. */
  close(failure?: { readonly error: unknown }): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failure = failure;
    this.#wakeReader?.();
  }

  /** True: `next` has an answer already. */
  get hasQueuedEvents(): boolean {
    return this.#queue.length > 0;
  }

  /** The next event; undefined at the end. Throws what the end was told. */
  async next(): Promise<AgentExecutionEvent | undefined> {
    for (;;) {
      const event = this.#queue.shift();
      if (event) return event;
      if (this.#failure) throw this.#failure.error;
      if (this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
  }
}

function createQueueFullError(): A2AError {
  return new A2AError(
    "INTERNAL",
    `The agent published more than ${MAX_QUEUED_EVENTS} events at once; let it wait in between, or publish larger chunks.`,
  );
}
