import { AsyncLocalStorage } from "node:async_hooks";
import { A2AError } from "../../protocol/index.ts";
import type { ConsoleStreamEnd } from "../console-api/index.ts";
import { toErrorBody } from "./console-response.ts";

/**
 * A message or a subscription that a page has started. All lines and connections of the operation belong to it, also
 * those of resumed streams.
 */
export class StreamOperation {
  /** Keys of the calls of the operation, see `JournalEntry.callKey`. */
  readonly calls: Set<string> = new Set();
  readonly #closed = new AbortController();
  readonly #openStreams = new Set<() => void>();
  #end: ConsoleStreamEnd | undefined;

  /** The end of the operation, or `undefined` while it runs. */
  get end(): ConsoleStreamEnd | undefined {
    return this.#end;
  }

  /** Closes the connections. The task continues at the agent. */
  close(): void {
    this.#closed.abort();
  }

  /**
   * Breaks the open connections, so that the client resumes the stream. Returns the number of broken connections, which
   * is 0 for gRPC.
   */
  cut(): number {
    const count = this.#openStreams.size;
    for (const breakConnection of this.#openStreams) breakConnection();
    return count;
  }

  /** Reads the events of a stream to the end. Never rejects. `work` receives the signal of the operation. */
  async run(work: (signal: AbortSignal) => AsyncIterable<unknown>): Promise<void> {
    const { signal } = this.#closed;
    await currentOperation.run(this, async () => {
      try {
        // The record contains the events.
        const events = work(signal)[Symbol.asyncIterator]();
        while (!signal.aborted && !(await events.next()).done);
        await events.return?.();
        this.#end = { reason: signal.aborted ? "canceled" : "completed" };
      } catch (error) {
        this.#end = signal.aborted
          ? { reason: "canceled" }
          : { reason: "failed", error: toErrorBody(A2AError.from(error)).error };
      }
    });
  }

  /** Returns a copy of a streaming response whose connection `cut` can break. */
  trackStream(response: Response): Response {
    if (!response.body) return response;
    const reader = response.body.getReader();
    const openStreams = this.#openStreams;
    let breakConnection: () => void;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        breakConnection = () => {
          openStreams.delete(breakConnection);
          controller.error(new TypeError("The user of the console cut the connection."));
          void reader.cancel().catch(() => {});
        };
        openStreams.add(breakConnection);
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!openStreams.has(breakConnection)) return;
        if (!done) return controller.enqueue(value);
        openStreams.delete(breakConnection);
        controller.close();
      },
      async cancel(reason) {
        openStreams.delete(breakConnection);
        await reader.cancel(reason);
      },
    });
    const { status, statusText, headers, url } = response;
    const copy = new Response(body, { status, statusText, headers });
    return Object.defineProperty(copy, "url", { value: url });
  }
}

const currentOperation = new AsyncLocalStorage<StreamOperation>();

/** Returns the operation for which the current code runs. */
export function findCurrentOperation(): StreamOperation | undefined {
  return currentOperation.getStore();
}

/** Wraps a `fetch` function, so that `StreamOperation.cut` can break its streams. */
export function withCuttableStreams(fetchFunction: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetchFunction(input, init);
    const isStream = response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream");
    return (isStream && findCurrentOperation()?.trackStream(response)) || response;
  };
}
