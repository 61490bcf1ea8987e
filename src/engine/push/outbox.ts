import type { Scope } from "../caller.ts";
import { systemClock, type Clock } from "../clock.ts";
import { safely, type Observer } from "../observer.ts";
import type { TaskStore } from "../store.ts";
import type { Deliver, Failed } from "./deliver.ts";
import { Lanes } from "./lanes.ts";
import type { GoEnd, Line } from "./line.ts";
import { Progress } from "./progress.ts";
import { pauseAfter, retryPolicy, type RetryPolicy } from "./retry.ts";
import type { DeadLetter, PushStore, WebhookRegistration } from "./store.ts";
import { UnderWay } from "./under-way.ts";
import { Watches, type Watched } from "./watches.ts";

export interface OutboxOptions {
  /** Must have `push`, and be open before `open` is called. */
  readonly store: TaskStore & { readonly push: PushStore };
  readonly deliver: Deliver;
  readonly observer?: Observer;
  readonly clock?: Clock;
  /** A source of numbers from 0 to 1. */
  readonly random?: () => number;
  readonly retry?: Partial<RetryPolicy>;
  /**
   * Deliveries under way at once to hosts that have answered. Default 64; up to half as many more to those that have not
   * yet, and a quarter for webhooks that have failed.
   */
  readonly atOnce?: number;
  /** Deliveries under way at once to one host. Default 8. */
  readonly perHost?: number;
  /** Tasks whose webhooks are served from memory; what is beyond waits in the store. Default 10,000. */
  readonly tasks?: number;
}

/** Hosts that are remembered to have answered. */
const MOST_KNOWN = 10_000;

/**
 * Sends push notifications (E12): to each webhook of a task the task's events in order, each until it has arrived or the
 * webhook is given up. The log is what is to be sent; a webhook is a place in it. Nobody waits for the outbox: a commit
 * only leaves word, and what is not served from memory is found again in the store.
 */
export class Outbox {
  readonly #store: TaskStore & { readonly push: PushStore };
  readonly #deliver: Deliver;
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #retry: RetryPolicy;
  readonly #progress: Progress;
  readonly #watches: Watches;
  /** Deliveries and look-ups. */
  readonly #underWay = new UnderWay();
  readonly #lanes: Lanes<Line>;
  /** Hosts that have not answered yet: apart, because anybody may name any number of them that hang. */
  readonly #newcomers: Lanes<Line>;
  /** Those that failed last: apart, so that receivers that hang leave the others their places. */
  readonly #retries: Lanes<Line>;
  /** Hosts whose last answer was a success. */
  readonly #known = new Set<string>();
  readonly #stop = new AbortController();
  #closing = false;

  constructor(options: OutboxOptions) {
    const { store, clock = systemClock, atOnce = 64, perHost = 8 } = options;
    this.#store = store;
    this.#deliver = options.deliver;
    this.#observer = safely(options.observer ?? {});
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#retry = retryPolicy(options.retry);
    this.#lanes = new Lanes({ atOnce, perLane: perHost });
    this.#newcomers = new Lanes({ atOnce: Math.ceil(atOnce / 2), perLane: Math.ceil(perHost / 2) });
    this.#retries = new Lanes({ atOnce: Math.ceil(atOnce / 4), perLane: Math.ceil(perHost / 4) });
    const onError = (error: unknown, taskId?: string): void =>
      this.#observer.onError?.({ where: "push", error, ...(taskId === undefined ? {} : { taskId }) });
    this.#progress = new Progress(store.push, clock, () => this.#watches.sweep(), onError);
    this.#watches = new Watches({
      store: store.push,
      clock,
      progress: this.#progress,
      underWay: this.#underWay,
      mostTasks: options.tasks ?? 10_000,
      onReady: (line) => this.#enqueue(line),
      onError,
    });
  }

  /** Goes on with all that is owed since before; in the background, because it may be much. */
  open(): void {
    void this.#watches.refill();
  }

  /** Word of a commit, and of the webhooks that were registered with it. Never throws. */
  wake(task: Watched, registered?: readonly WebhookRegistration[]): void {
    this.#watches.wake(task, registered);
  }

  /** Word that the task's webhook of that id was removed, or registered, perhaps again: then `key` is the one it has. */
  changed(scope: Scope, taskId: string, id: string, key?: number): void {
    this.#watches.changed(scope, taskId, id, key);
  }

  /** Lets what is under way arrive, for `graceMs` at most; what is not then is owed by the next process. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#watches.close();
    const quiet = this.#underWay.quiet();
    if (quiet) {
      const cancel = this.#clock.after(graceMs, () => this.#stop.abort());
      await quiet;
      cancel();
    }
    this.#stop.abort();
    this.#watches.forgetRetries();
    this.#progress.stop();
    await this.#progress.flush();
    this.#progress.stop();
  }

  #enqueue(line: Line): void {
    if (this.#closing && line.state === "waiting") return;
    line.state = "ready";
    this.#underWay.begin();
    this.#laneOf(line).add(line.host, line);
    this.#dispatch();
  }

  #laneOf(line: Line): Lanes<Line> {
    if (line.failures > 0) return this.#retries;
    return this.#known.has(line.host) ? this.#lanes : this.#newcomers;
  }

  #dispatch(): void {
    for (const lanes of [this.#lanes, this.#newcomers, this.#retries]) {
      for (let line = lanes.next(); line; line = lanes.next()) void this.#serve(line, lanes);
    }
  }

  async #serve(line: Line, lanes: Lanes<Line>): Promise<void> {
    line.state = "working";
    const end = await this.#go(line);
    lanes.leave(line.host);
    line.state = "idle";
    if (!line.gone) this.#conclude(line, end);
    this.#dispatch();
    this.#underWay.end();
  }

  async #go(line: Line): Promise<GoEnd> {
    if (line.gone || this.#stop.signal.aborted) return "gone";
    try {
      return await line.go(this.#store, this.#deliver, this.#stop.signal, () => this.#arrived(line));
    } catch (error) {
      this.#observer.onError?.({ where: "push", error, taskId: line.webhook.taskId });
      return { ok: false, reason: "the task store does not answer" };
    }
  }

  #conclude(line: Line, end: GoEnd): void {
    if (end === "more" || (end === "caught up" && line.grown)) this.#enqueue(line);
    else if (end === "caught up") this.#watches.rest(line);
    else if (end === "finished") this.#finish(line);
    else if (end !== "gone" && !this.#stop.signal.aborted) this.#failed(line, end);
  }

  #arrived(line: Line): void {
    line.failures = 0;
    line.failingSince = undefined;
    this.#know(line.host);
    if (line.gone) return;
    const { key, scope, taskId, config } = line.webhook;
    this.#progress.note({ key, delivered: line.seq, finished: false });
    this.#observer.onPush?.({ scope, taskId, configId: config.id, seq: line.seq, outcome: "delivered" });
  }

  #know(host: string): void {
    if (this.#known.has(host)) return;
    const [oldest] = this.#known.size < MOST_KNOWN ? [] : this.#known;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.add(host);
  }

  #finish(line: Line): void {
    this.#progress.note({ key: line.webhook.key, delivered: line.seq, finished: true });
    this.#watches.drop(line);
  }

  #failed(line: Line, { reason, retryAfterMs, hopeless }: Failed): void {
    const now = this.#clock.now();
    const first = line.failingSince === undefined;
    line.failingSince ??= now;
    line.failures++;
    this.#known.delete(line.host);
    line.rest();
    const { key, scope, taskId, config } = line.webhook;
    const seen = { scope, taskId, configId: config.id, seq: line.seq + 1, reason };
    if (hopeless || now - line.failingSince >= this.#retry.giveUpAfterMs) {
      const dead: DeadLetter = { at: now, reason };
      this.#progress.note({
        key,
        delivered: line.seq,
        finished: false,
        failingSince: line.failingSince,
        dead,
      });
      this.#observer.onPush?.({ ...seen, outcome: "dead" });
      this.#watches.drop(line);
      return;
    }
    if (first) {
      this.#progress.note({ key, delivered: line.seq, finished: false, failingSince: line.failingSince });
    }
    const pause = pauseAfter(line.failures, this.#random(), this.#retry, retryAfterMs);
    this.#observer.onPush?.({ ...seen, outcome: "failed", retryInMs: pause });
    if (this.#closing) return;
    line.state = "waiting";
    line.forgetRetry = this.#clock.after(pause, () => {
      line.forgetRetry = undefined;
      this.#enqueue(line);
    });
  }
}
