import { A2AError } from "../protocol/index.ts";
import { FairShareLedger, type FairShareRefusal } from "../data-structures/index.ts";

/**
 * Limits of a gRPC listener. The client addresses, or the authenticated callers, share each of the first four limits:
 * each of them can use as much as remains free. A single client can therefore use half of a limit.
 */
export interface GrpcLimits {
  /** Maximum number of connections, shared by the addresses of the clients. Default: 1,000. */
  readonly connections: number;
  /**
   * Maximum number of open calls. A call belongs to the address of its client until the call is authenticated, and then
   * to its caller. Default: 10,000.
   */
  readonly calls: number;
  /**
   * Maximum size of all request messages that have not arrived completely, in bytes. A message counts with the size
   * that its client announces. Default: 128 MiB.
   */
  readonly requestBytes: number;
  /** Maximum size of all response messages that clients have not read yet, in bytes. Default: 128 MiB. */
  readonly responseBytes: number;
  /** Time in milliseconds in which a request message must arrive completely. Default: 60,000. */
  readonly receiveMs: number;
  /**
   * Time in milliseconds in which a client must read the next 64 KiB of a response. The server cancels slower calls.
   * Default: 60,000.
   */
  readonly readMs: number;
  /** Time in milliseconds after which the server closes a connection without calls. Default: 300,000. */
  readonly idleMs: number;
}

/** The option names of `GrpcLimits`, separated by spaces. */
export const GRPC_LIMIT_NAMES = "calls connections idleMs readMs receiveMs requestBytes responseBytes";

const MEBIBYTE = 2 ** 20;

export function resolveGrpcLimits(limits: Partial<GrpcLimits> = {}): GrpcLimits {
  return {
    connections: limits.connections ?? 1_000,
    calls: limits.calls ?? 10_000,
    requestBytes: limits.requestBytes ?? 128 * MEBIBYTE,
    responseBytes: limits.responseBytes ?? 128 * MEBIBYTE,
    receiveMs: limits.receiveMs ?? 60_000,
    readMs: limits.readMs ?? 60_000,
    idleMs: limits.idleMs ?? 300_000,
  };
}

/** The limits that clients share. */
type SharedGrpcLimitName = "connections" | "calls" | "requestBytes" | "responseBytes";

/** One ledger for each limit that clients share. */
export type GrpcLedgers = Readonly<Record<SharedGrpcLimitName, FairShareLedger>>;

/** Creates the ledgers of a listener. A single message of the maximum size always fits. */
export function createGrpcLedgers(limits: GrpcLimits, maxRequestBytes: number): GrpcLedgers {
  const { connections, calls, requestBytes, responseBytes } = limits;
  return {
    connections: new FairShareLedger({ capacity: connections }),
    calls: new FairShareLedger({ capacity: calls }),
    requestBytes: new FairShareLedger({ capacity: Math.max(requestBytes, 2 * maxRequestBytes) }),
    responseBytes: new FairShareLedger({ capacity: responseBytes }),
  };
}

const LIMIT_DESCRIPTIONS: Readonly<Record<SharedGrpcLimitName, string>> = {
  connections: "gRPC connections",
  calls: "open gRPC calls",
  requestBytes: "bytes of incomplete gRPC requests",
  responseBytes: "bytes of unread gRPC responses",
};

/** Creates the error for a call that a ledger refused. */
export function createGrpcLimitError(limit: SharedGrpcLimitName, refusal: FairShareRefusal): A2AError {
  const holder = refusal === "share" ? "The share of this caller or address" : "The total";
  const text = `${holder} of ${LIMIT_DESCRIPTIONS[limit]} is used up; try again in a second, or raise grpc.limits.${limit} of the server.`;
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
}
