import { A2AError, type OperationName } from "../protocol/index.ts";
import { createTimeoutError, withDeadline } from "./http/deadline.ts";
import type { Transport } from "./transport/transport.ts";

/** Deadlines of a client in milliseconds. The value `Infinity` disables a deadline. */
export interface ClientTimeouts {
  /** Maximum time to find the agent card, with all redirects, retries, and verification. Default: 30,000. */
  readonly connectMs?: number;
  /**
   * Maximum time for the answer of `send`. A blocking `send` waits until the agent's turn ends, so use `stream` for
   * longer work. The built-in `fetch` of Node.js also stops after 300,000 without response headers. Default:
   * 600,000.
   */
  readonly sendMs?: number;
  /** Maximum time for the answer of any other call that is not a stream. Default: 60,000. */
  readonly callMs?: number;
  /**
   * Maximum time without any byte on a stream over HTTP. The client then reconnects. Servers send heartbeats, for
   * example every 15,000 in Colloquy. A stream over gRPC sends its own keep-alive signals instead. Default: 300,000.
   */
  readonly streamIdleMs?: number;
}

const DEFAULT_TIMEOUTS: Required<ClientTimeouts> = {
  connectMs: 30_000,
  sendMs: 600_000,
  callMs: 60_000,
  streamIdleMs: 300_000,
};

/** Fills in the defaults of missing deadlines. Throws if a deadline is not a positive number. */
export function resolveTimeouts(timeouts: ClientTimeouts = {}): Required<ClientTimeouts> {
  const resolved = { ...DEFAULT_TIMEOUTS, ...timeouts };
  const invalid = Object.entries(resolved).find(([, ms]) => !(ms > 0));
  if (!invalid) return resolved;
  const description = `is ${String(invalid[1])}; pass a positive number of milliseconds, or Infinity`;
  throw A2AError.invalidParams([{ field: `timeouts.${invalid[0]}`, description }]);
}

/** Wraps a transport so that each call ends before its deadline. Streams are not affected. */
export function withCallDeadlines(transport: Transport, timeouts: Required<ClientTimeouts>): Transport {
  return {
    version: transport.version,
    call(operation, params, call) {
      const name = operation === "SendMessage" ? "sendMs" : "callMs";
      return withDeadline(
        timeouts[name],
        call.signal,
        () => createCallTimeoutError(operation, name, timeouts[name]),
        (signal) => transport.call(operation, params, { ...call, signal }),
      );
    },
    stream: (operation, params, call) => transport.stream(operation, params, call),
  };
}

function createCallTimeoutError(
  operation: OperationName,
  name: "sendMs" | "callMs",
  timeoutMs: number,
): A2AError {
  const advice =
    name === "sendMs" ? "The agent may still be working; use stream() for long work, or raise" : "Raise";
  return createTimeoutError(`The agent did not answer ${operation}`, timeoutMs, `${advice} timeouts.${name}`);
}
