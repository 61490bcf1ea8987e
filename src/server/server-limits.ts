import type { EngineLimits } from "../engine/index.ts";
import { DEFAULT_MAX_JSON_VALUES } from "../wire/index.ts";

/** Resource limits of a server. The default values are intended for a single-process server. */
export interface ServerLimits extends Partial<EngineLimits> {
  /** Maximum size of a request body, in bytes. Default: 10 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * Maximum number of JSON values and member names in a request. The server counts them before it parses the
   * request, because parsing many small values stops all other requests. Default: 50,000, which takes at most
   * about 0.1 s.
   */
  readonly maxJsonValues?: number;
  /**
   * Maximum number of bytes of unfinished request bodies and unread responses that the server holds in memory. Each
   * caller has a fair share, and so has each remote address without an authenticated caller: a fifth of the bytes for a
   * single one, and less while others are active. Default: 128 MiB, or twice the larger one of `taskSize` and
   * `maxBodyBytes` if you set these limits and the result is larger.
   */
  readonly bufferedBytes?: number;
  /**
   * Time in milliseconds after which the server disconnects a client that does not take the next 256 KiB of a response.
   * A client that reads 25 KB per second stays connected. The value 0 disables the limit. Default: 60,000.
   */
  readonly writeStallMs?: number;
  /**
   * Maximum number of open HTTP connections. Each remote address has a fair share, so a single address can open half of
   * the connections. Applies to `listen`. Default: 20,000.
   */
  readonly connections?: number;
}

/** The limits of requests, of the HTTP listener, and of the byte ledger. */
export interface TransportLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonValues: number;
  readonly bufferedBytes: number;
  readonly writeStallMs: number;
  readonly connections: number;
}

const DEFAULT_MAX_BODY_BYTES = 10 * 2 ** 20;
const MIN_DEFAULT_BUFFERED_BYTES = 128 * 2 ** 20;

export function resolveTransportLimits(limits: ServerLimits = {}): TransportLimits {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES, writeStallMs = 60_000, connections = 20_000 } = limits;
  const { taskSize = 0, maxJsonValues = DEFAULT_MAX_JSON_VALUES } = limits;
  const bufferedBytes =
    limits.bufferedBytes ?? Math.max(MIN_DEFAULT_BUFFERED_BYTES, 2 * taskSize, 2 * maxBodyBytes);
  return { maxBodyBytes, maxJsonValues, bufferedBytes, writeStallMs, connections };
}
