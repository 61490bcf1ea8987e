import { Deferred } from "../../base/index.ts";
import { callerKey, type Scope } from "../caller.ts";
import { systemClock, type Clock } from "../clock.ts";
import { safely, type Observer } from "../observer.ts";
import type { TaskStore } from "../store.ts";
import type { Deliver, Failed } from "./deliver.ts";
import { Lanes } from "./lanes.ts";
import { Line, type GoEnd } from "./line.ts";
import { Progress } from "./progress.ts";
import { pauseAfter, retryPolicy, type RetryPolicy } from "./retry.ts";
import type { DeadLetter, PushStore, Webhook, WebhookProgress, WebhookRegistration } from "./store.ts";

export interface OutboxOptions {
  /** Must have `push`, and be open before `open` is called. */
  readonly store: TaskStore & { readonly push: PushStore };
  readonly deliver: Deliver;
  readonly observer?: Observer;
  readonly clock?: Clock;
  /** A source of numbers from 0 to 1. */
  readonly random?: () => number;
  readonly retry?: Partial<RetryPolicy>;
  /** Deliveries under way at once. Default 64; as many again, at most a quarter of it, for webhooks that have failed. */
  readonly atOnce?: number;
  /** Deliveries under way at once to one host. Default 8. */
  readonly perHost?: number;
  /** Tasks whose webhooks are served from memory; what is beyond waits in the store. Default 10,000. */
  readonly tasks?: number;
}

/** A task that may have webhooks, as the outbox is told of it. */
export interface Watched {
  readonly scope: Scope;
  readonly taskId: string;
  /** False once it is known that the task has no webhook: its commits are told no more. */
  watched: boolean;
}

/** The webhooks of one task that can still be owed something. */
interface Watch {
  readonly scope: Scope;
  readonly taskId: string;
  lines: Line[];
  /** Nothing has happened since progress was written down last. */
  stale: boolean;
}

interface LookUp {
  again: boolean;
  live: Watched | undefined;
  /** The ids of webhooks that were registered, perhaps again, with what has just been committed. */
  readonly registered: Set<string>;
}

const NONE: readonly WebhookRegistration[] = [];
const DUE_PAGE = 256;
const STORE_RETRY_MS = 1000;

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
  readonly #mostTasks: number;
  readonly #progress: Progress;
  readonly #watches = new Map<string, Watch>();
  readonly #lookUps = new Map<string, LookUp>();
  /** Watches of which every line is idle. */
  readonly #resting = new Set<Watch>();
  readonly #lanes: Lanes<Line>;
  /** Those that failed last: apart, so that receivers that hang leave the others their places. */
  readonly #retries: Lanes<Line>;
  readonly #stop = new AbortController();
  #closing = false;
  /** Deliveries and look-ups under way. */
  #atWork = 0;
  #quiet: Deferred | undefined;
  /** Something is owed that is not in memory. */
  #overflow = false;
  #refilling = false;

  constructor(options: OutboxOptions) {
    const { store, clock = systemClock, atOnce = 64, perHost = 8 } = options;
    this.#store = store;
    this.#deliver = options.deliver;
    this.#observer = safely(options.observer ?? {});
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#retry = retryPolicy(options.retry);
    this.#mostTasks = options.tasks ?? 10_000;
    this.#lanes = new Lanes({ atOnce, perLane: perHost });
    this.#retries = new Lanes({ atOnce: Math.ceil(atOnce / 4), perLane: Math.ceil(perHost / 4) });
    const onError = (error: unknown): void => this.#observer.onError?.({ where: "push", error });
    this.#progress = new Progress(store.push, clock, () => this.#sweep(), onError);
  }

  /** Goes on with all that is owed since before; in the background, because it may be much. */
  open(): void {
    this.#overflow = true;
    void this.#refill();
  }

  /**
   * Word of a commit, and of the webhooks that were registered with it, perhaps in the place of others. Costs nothing that
   * grows with the task, and never throws.
   */
  wake(task: Watched, registered: readonly WebhookRegistration[] = NONE): void {
    const { scope, taskId } = task;
    const ids = registered.map(({ config }) => config.id);
    const watch = this.#watches.get(nameOf(scope, taskId));
    if (!watch || ids.length > 0) this.#lookUp(scope, taskId, task, ids);
    if (!watch) return;
    for (const line of watch.lines) {
      // One that may have got another address goes on when that is known.
      if (line.state === "idle" && !ids.includes(line.webhook.config.id)) this.#enqueue(line);
      else line.grown = true;
    }
    this.#touch(watch);
  }

  /** Word that the task's webhook of that id was removed, or registered, perhaps again: then `key` is the one it has. */
  changed(scope: Scope, taskId: string, id: string, key?: number): void {
    const watch = this.#watches.get(nameOf(scope, taskId));
    const line = watch?.lines.find(({ webhook }) => webhook.config.id === id);
    if (line) this.#leave(line);
    if (key !== undefined) this.#progress.revive(key);
    this.#lookUp(scope, taskId, undefined);
  }

  /** Lets what is under way arrive, for `graceMs` at most; what is not then is owed by the next process. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#atWork > 0) {
      this.#quiet = new Deferred();
      const cancel = this.#clock.after(graceMs, () => this.#stop.abort());
      await this.#quiet.promise;
      cancel();
    }
    this.#stop.abort();
    for (const { lines } of this.#watches.values()) for (const line of lines) line.forgetRetry?.();
    this.#progress.stop();
    await this.#progress.flush();
    this.#progress.stop();
  }

  // --- which webhooks there are

  /** Learns from the store which webhooks a task has; asked again meanwhile, it looks again. */
  #lookUp(scope: Scope, taskId: string, live: Watched | undefined, registered: Iterable<string> = []): void {
    const name = nameOf(scope, taskId);
    const underWay = this.#lookUps.get(name);
    if (underWay) {
      underWay.again = true;
      underWay.live ??= live;
      for (const id of registered) underWay.registered.add(id);
      return;
    }
    const lookUp: LookUp = { again: false, live, registered: new Set(registered) };
    this.#lookUps.set(name, lookUp);
    this.#begin();
    void this.#learn(scope, taskId, lookUp).finally(() => this.#end());
  }

  async #learn(scope: Scope, taskId: string, lookUp: LookUp): Promise<void> {
    const name = nameOf(scope, taskId);
    try {
      let webhooks: Webhook[];
      do {
        lookUp.again = false;
        webhooks = (await this.#store.push.list(scope, taskId)) ?? [];
      } while (lookUp.again);
      this.#lookUps.delete(name);
      for (const { key, config } of webhooks)
        if (lookUp.registered.has(config.id)) this.#progress.revive(key);
      const owed = webhooks.filter(({ key, dead }) => !dead && !isOver(this.#progress.of(key)));
      if (owed.length > 0) this.#watch(scope, taskId, owed);
      else this.#unwatch(name);
      // One that is dead is owed something again only when it is registered again, of which there is word.
      if (owed.length === 0 && lookUp.live) lookUp.live.watched = false;
      this.#refillIfRoom();
    } catch (error) {
      this.#lookUps.delete(name);
      this.#observer.onError?.({ where: "push", error, taskId });
      if (this.#closing) return;
      this.#clock.after(STORE_RETRY_MS, () => this.#lookUp(scope, taskId, lookUp.live, lookUp.registered));
    }
  }

  #watch(scope: Scope, taskId: string, webhooks: Webhook[]): void {
    const name = nameOf(scope, taskId);
    const known = this.#watches.get(name);
    if (!known && this.#watches.size >= this.#mostTasks && !this.#makeRoom()) {
      this.#overflow = true;
      return;
    }
    const watch = known ?? { scope, taskId, lines: [], stale: false };
    this.#watches.set(name, watch);
    const before = new Map(watch.lines.map((line) => [line.webhook.key, line]));
    watch.lines = webhooks.map((webhook) => {
      const line = before.get(webhook.key);
      if (line && !line.gone && line.serves(webhook)) return line;
      if (line) this.#leave(line);
      return new Line(webhook, Math.max(line?.seq ?? 0, this.#progress.of(webhook.key)?.delivered ?? 0));
    });
    for (const line of watch.lines) if (line.state === "idle") this.#enqueue(line);
    this.#touch(watch);
  }

  #unwatch(name: string): void {
    const watch = this.#watches.get(name);
    if (!watch) return;
    this.#watches.delete(name);
    this.#resting.delete(watch);
    for (const line of watch.lines) this.#leave(line);
  }

  /** Nothing that this line does counts any more. */
  #leave(line: Line): void {
    line.gone = true;
    line.forgetRetry?.();
  }

  #touch(watch: Watch): void {
    watch.stale = false;
    this.#resting.delete(watch);
  }

  /** Lets go of what has had nothing to do for a while; the next commit finds it again in the store. */
  #sweep(): void {
    for (const watch of this.#resting) {
      if (watch.stale) this.#forget(watch);
      else watch.stale = true;
    }
    if (this.#resting.size > 0 && !this.#closing) this.#progress.schedule();
  }

  #forget(watch: Watch): void {
    this.#resting.delete(watch);
    this.#watches.delete(nameOf(watch.scope, watch.taskId));
    this.#refillIfRoom();
  }

  /** Leaves a task to the store whose webhooks wait for their next try anyway. */
  #makeRoom(): boolean {
    for (const watch of this.#watches.values()) {
      if (!watch.lines.every(({ state }) => state === "waiting" || state === "idle")) continue;
      for (const line of watch.lines) line.forgetRetry?.();
      this.#overflow = true;
      this.#forget(watch);
      return true;
    }
    return false;
  }

  /** Takes up what is owed according to the store, as much as there is room for. */
  async #refill(): Promise<void> {
    if (this.#refilling || this.#closing) return;
    this.#refilling = true;
    // Not at the end: what finds no room meanwhile was perhaps not owed yet when the store was asked.
    this.#overflow = false;
    try {
      await this.#progress.flush();
      let after = 0;
      for (let more = true; more;) {
        if (this.#closing || this.#watches.size + this.#lookUps.size >= this.#mostTasks) {
          this.#overflow = true;
          break;
        }
        const due = await this.#store.push.due(after, DUE_PAGE);
        for (const { key, scope, taskId } of due) {
          after = key;
          const name = nameOf(scope, taskId);
          if (!this.#watches.has(name) && !this.#lookUps.has(name)) this.#lookUp(scope, taskId, undefined);
        }
        more = due.length === DUE_PAGE;
      }
      this.#refilling = false;
      this.#refillIfRoom();
    } catch (error) {
      this.#refilling = false;
      this.#overflow = true;
      this.#observer.onError?.({ where: "push", error });
      if (!this.#closing) this.#clock.after(STORE_RETRY_MS, () => void this.#refill());
    }
  }

  #refillIfRoom(): void {
    const taken = this.#watches.size + this.#lookUps.size;
    if (this.#overflow && taken < this.#mostTasks / 2) void this.#refill();
  }

  // --- sending

  #enqueue(line: Line): void {
    if (this.#closing && line.state === "waiting") return;
    line.state = "ready";
    this.#begin();
    this.#laneOf(line).add(line.host, line);
    this.#dispatch();
  }

  #laneOf(line: Line): Lanes<Line> {
    return line.failures === 0 ? this.#lanes : this.#retries;
  }

  #dispatch(): void {
    for (const lanes of [this.#lanes, this.#retries]) {
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
    this.#end();
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
    else if (end === "caught up") this.#rest(line);
    else if (end === "finished") this.#finish(line);
    else if (end !== "gone" && !this.#stop.signal.aborted) this.#failed(line, end);
  }

  #arrived(line: Line): void {
    line.failures = 0;
    line.failingSince = undefined;
    if (line.gone) return;
    const { key, scope, taskId, config } = line.webhook;
    this.#progress.note({ key, delivered: line.seq, finished: false });
    this.#observer.onPush?.({ scope, taskId, configId: config.id, seq: line.seq, outcome: "delivered" });
  }

  #rest(line: Line): void {
    const watch = this.#watchOf(line);
    if (!watch?.lines.every(({ state }) => state === "idle")) return;
    watch.stale = false;
    this.#resting.add(watch);
    this.#progress.schedule();
  }

  #finish(line: Line): void {
    this.#progress.note({ key: line.webhook.key, delivered: line.seq, finished: true });
    this.#drop(line);
  }

  #failed(line: Line, { reason, retryAfterMs, hopeless }: Failed): void {
    const now = this.#clock.now();
    const first = line.failingSince === undefined;
    line.failingSince ??= now;
    line.failures++;
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
      this.#drop(line);
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

  /** Nothing is owed to it any more. */
  #drop(line: Line): void {
    const watch = this.#watchOf(line);
    if (!watch) return;
    watch.lines = watch.lines.filter((other) => other !== line);
    if (watch.lines.length === 0) this.#forget(watch);
    else if (watch.lines.every(({ state }) => state === "idle")) this.#resting.add(watch);
  }

  #watchOf({ webhook }: Line): Watch | undefined {
    return this.#watches.get(nameOf(webhook.scope, webhook.taskId));
  }

  #begin(): void {
    this.#atWork++;
  }

  #end(): void {
    this.#atWork--;
    if (this.#atWork === 0) this.#quiet?.resolve();
  }
}

function isOver(progress: WebhookProgress | undefined): boolean {
  return progress !== undefined && (progress.finished || progress.dead !== undefined);
}

function nameOf(scope: Scope, taskId: string): string {
  return `${scope.agent}/${taskId}/${callerKey(scope)}`;
}
