import { type RetryOptions } from "./retry.ts";
import { delay } from "../http/deadline.ts";
import type { Transport } from "../transport/transport.ts";

const CLOSE_DELAY_AFTER_FINAL_EVENT_MS = 1_000;

/**
 * Wraps a transport so that, after the final event, a stream stays open for up to one second or until the
 * server closes it. Python servers for A2A 0.3 fail if the client disconnects before the server closes the
 * stream. The wrapper ignores events that follow the final event.
 */
export function withCloseDelayAfterFinalEvent(
  transport: Transport,
  { sleep = delay }: RetryOptions,
): Transport {
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
          void sleep(CLOSE_DELAY_AFTER_FINAL_EVENT_MS, closing.signal).then(
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
