import type { DurableObjectStorage } from "./durable-object-storage.ts";

/**
 * The alarm of a Durable Object, which starts the object again after its process has died. Cloudflare stores the alarm
 * together with the writes before the next `await`, so that no commit is without its alarm.
 */
export class RecoveryAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #now: () => number;
  readonly #intervalMs: number;
  /** Time of the stored alarm, in milliseconds since 1970. */
  #time: number | undefined;

  constructor(storage: DurableObjectStorage, now: () => number, intervalMs: number) {
    this.#storage = storage;
    this.#now = now;
    this.#intervalMs = intervalMs;
  }

  /** Reads the alarm that an earlier process has stored. */
  async load(): Promise<void> {
    this.#time = (await this.#storage.getAlarm()) ?? undefined;
  }

  /** Sets the alarm to one interval from now, unless it is earlier. Call the function before a write. */
  setBeforeCommit(): void {
    const latest = this.#now() + this.#intervalMs;
    if (this.#time === undefined || this.#time > latest) this.#set(latest);
  }

  /** Sets the alarm again at the beginning of its handler, because Cloudflare has removed the alarm that runs. */
  setForHandler(): void {
    this.#set(this.#now() + this.#intervalMs);
  }

  /**
   * Sets the alarm at the end of its handler. Work that is due at `dueTime` gets at least one interval, because the
   * handler has just tried. Without work and without `otherTime`, removes the alarm.
   */
  setAfterHandler(dueTime: number | undefined, otherTime: number | undefined): void {
    const next = Math.min(
      dueTime === undefined ? Infinity : Math.max(dueTime, this.#now() + this.#intervalMs),
      otherTime ?? Infinity,
    );
    if (next < Infinity) {
      this.#set(next);
      return;
    }
    this.#time = undefined;
    void this.#storage.deleteAlarm();
  }

  #set(time: number): void {
    this.#time = time;
    void this.#storage.setAlarm(time);
  }
}
