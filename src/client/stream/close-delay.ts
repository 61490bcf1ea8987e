import { type RetryOptions } from "./retry.ts";
import { delay } from "../http/abort.ts";
import type { Transport } from "../transport/transport.ts";

const CLOSE_DELAY_MS = 1_000;

/**
 * Wraps a transport so that a stream stays open for one second after its final event, until the server closes
 * it. A 0.3 server in Python fails if the client disconnects first. Events after the final event are ignored.
 */
export function withCloseDelay(transport: Transport, { sleep = delay }: RetryOptions): Transport {
  return {
    version: transport.version,
    call: (operation, params, call) => transport.call(operation, params, call),
    async *stream(operation, params, call) {
      const closing = new AbortController();
      const signal = call.signal ? AbortSignal.any([call.signal, closing.signal]) : closing.signal;
      let hasEnded = false;
      try {
        for await (const received of transport.stream(operation, params, { ...call, signal })) {
          if (hasEnded) continue;
          yield received;
          if (received.isLast !== true) continue;
          hasEnded = true;
          void sleep(CLOSE_DELAY_MS, closing.signal).then(
            () => closing.abort(),
            () => {},
          );
        }
      } catch (error) {
        if (!hasEnded) throw error;
      } finally {
        closing.abort();
      }
    },
  };
}
