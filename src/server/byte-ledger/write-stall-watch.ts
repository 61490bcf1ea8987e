import { LruCache } from "../../base/data-structures/index.ts";
import type { Clock, Observer } from "../../engine/index.ts";
import type { ByteHolder } from "./byte-ledger.ts";

/** Settings and services of a `WriteStallWatch`. */
export interface WriteStallWatchOptions {
  readonly clock: Clock;
  /** Time in milliseconds after which a write that waits for its client ends the connection. 0 disables the watch. */
  readonly timeoutMs: number;
  readonly observer: Pick<Observer, "onReaderStalled">;
}

interface WaitingWrite {
  readonly since: number;
  readonly holder: ByteHolder;
  readonly disconnect: () => void;
}

interface StallReport {
  readonly reportedAt: number;
  unreportedConnections: number;
}

/** Minimum time between two reports about the same remote address, in milliseconds. */
const REPORT_INTERVAL_MS = 60_000;
const MAX_REMEMBERED_REPORTS = 1000;

/** Ends the connections of clients that take no byte of a response for too long, and reports them to the observer. */
export class WriteStallWatch {
  readonly #options: WriteStallWatchOptions;
  /** The waiting writes, with the oldest first. */
  readonly #waitingWrites = new Set<WaitingWrite>();
  readonly #reports = new LruCache<StallReport>(MAX_REMEMBERED_REPORTS);
  #cancelCheck: (() => void) | undefined;

  constructor(options: WriteStallWatchOptions) {
    this.#options = options;
  }

  /**
   * Calls `disconnect` if the returned function is not called within the timeout. The returned function must be called
   * when the client has taken the bytes.
   */
  watch(holder: ByteHolder, disconnect: () => void): () => void {
    if (this.#options.timeoutMs <= 0) return () => {};
    const write = { since: this.#options.clock.monotonic(), holder, disconnect };
    this.#waitingWrites.add(write);
    if (!this.#cancelCheck) this.#scheduleCheck(this.#options.timeoutMs);
    return () => this.#waitingWrites.delete(write);
  }

  close(): void {
    this.#cancelCheck?.();
    this.#waitingWrites.clear();
  }

  #scheduleCheck(ms: number): void {
    this.#cancelCheck = this.#options.clock.schedule(ms, () => {
      this.#cancelCheck = undefined;
      this.#disconnectStalledClients();
    });
  }

  #disconnectStalledClients(): void {
    const { clock, timeoutMs } = this.#options;
    const now = clock.monotonic();
    for (const write of this.#waitingWrites) {
      const remainingMs = write.since + timeoutMs - now;
      if (remainingMs > 0) return this.#scheduleCheck(remainingMs);
      this.#waitingWrites.delete(write);
      write.disconnect();
      this.#report(write.holder, now);
    }
  }

  #report(holder: ByteHolder, now: number): void {
    const { observer, timeoutMs } = this.#options;
    const key = holder.remoteAddress ?? "";
    const last = this.#reports.get(key);
    if (last && now - last.reportedAt < REPORT_INTERVAL_MS) {
      last.unreportedConnections++;
      return;
    }
    this.#reports.set(key, { reportedAt: now, unreportedConnections: 0 });
    observer.onReaderStalled?.({ ...holder, connections: 1 + (last?.unreportedConnections ?? 0), timeoutMs });
  }
}
