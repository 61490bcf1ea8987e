import { callerKey, type Scope } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { Line } from "./line.ts";
import type { Progress } from "./progress.ts";
import type { PushStore, Webhook, WebhookProgress, WebhookRegistration } from "./store.ts";
import type { UnderWay } from "./under-way.ts";

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

/** What the watches work with. */
export interface WatchesContext {
  readonly store: PushStore;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly underWay: UnderWay;
  /** How many tasks there may be; what is beyond waits in the store. */
  readonly mostTasks: number;
  /** A line may have something to deliver. */
  readonly onReady: (line: Line) => void;
  readonly onError: (error: unknown, taskId?: string) => void;
}

/**
 * Which webhooks are served: for a bounded number of tasks a line for each. What a commit leaves word of is looked up in
 * the store, what rests is let go, and what there was no room for is taken up when there is.
 */
export class Watches {
  readonly #context: WatchesContext;
  readonly #watches = new Map<string, Watch>();
  readonly #lookUps = new Map<string, LookUp>();
  /** Watches of which every line is idle. */
  readonly #resting = new Set<Watch>();
  /** Something is owed that is not in memory. */
  #overflow = false;
  #refilling = false;
  #closing = false;

  constructor(context: WatchesContext) {
    this.#context = context;
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
      if (line.state === "idle" && !ids.includes(line.webhook.config.id)) this.#context.onReady(line);
      else line.grown = true;
    }
    this.#touch(watch);
  }

  /** Word that the task's webhook of that id was removed, or registered, perhaps again: then `key` is the one it has. */
  changed(scope: Scope, taskId: string, id: string, key?: number): void {
    const watch = this.#watches.get(nameOf(scope, taskId));
    const line = watch?.lines.find(({ webhook }) => webhook.config.id === id);
    if (line) this.#leave(line);
    if (key !== undefined) this.#context.progress.revive(key);
    this.#lookUp(scope, taskId, undefined);
  }

  /** The line has nothing to do. */
  rest(line: Line): void {
    const watch = this.#watchOf(line);
    if (!watch?.lines.every(({ state }) => state === "idle")) return;
    watch.stale = false;
    this.#resting.add(watch);
    this.#context.progress.schedule();
  }

  /** Nothing is owed to the line any more. */
  drop(line: Line): void {
    const watch = this.#watchOf(line);
    if (!watch) return;
    watch.lines = watch.lines.filter((other) => other !== line);
    if (watch.lines.length === 0) this.#forget(watch);
    else if (watch.lines.every(({ state }) => state === "idle")) this.#resting.add(watch);
  }

  #watchOf({ webhook }: Line): Watch | undefined {
    return this.#watches.get(nameOf(webhook.scope, webhook.taskId));
  }

  /** Takes nothing up any more that is owed from before. */
  close(): void {
    this.#closing = true;
  }

  /** Takes back all next tries. */
  forgetRetries(): void {
    for (const { lines } of this.#watches.values()) for (const line of lines) line.forgetRetry?.();
  }

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
    const { underWay: work } = this.#context;
    work.begin();
    void this.#learn(scope, taskId, lookUp).finally(() => work.end());
  }

  async #learn(scope: Scope, taskId: string, lookUp: LookUp): Promise<void> {
    const name = nameOf(scope, taskId);
    try {
      let webhooks: Webhook[];
      do {
        lookUp.again = false;
        webhooks = (await this.#context.store.list(scope, taskId)) ?? [];
      } while (lookUp.again);
      this.#lookUps.delete(name);
      for (const { key, config } of webhooks)
        if (lookUp.registered.has(config.id)) this.#context.progress.revive(key);
      const owed = webhooks.filter(({ key, dead }) => !dead && !isOver(this.#context.progress.of(key)));
      if (owed.length > 0) this.#watch(scope, taskId, owed);
      else this.#unwatch(name);
      // One that is dead is owed something again only when it is registered again, of which there is word.
      if (owed.length === 0 && lookUp.live) lookUp.live.watched = false;
      this.#refillIfRoom();
    } catch (error) {
      this.#lookUps.delete(name);
      this.#context.onError(error, taskId);
      if (this.#closing) return;
      this.#context.clock.after(STORE_RETRY_MS, () =>
        this.#lookUp(scope, taskId, lookUp.live, lookUp.registered),
      );
    }
  }

  #watch(scope: Scope, taskId: string, webhooks: Webhook[]): void {
    const name = nameOf(scope, taskId);
    const known = this.#watches.get(name);
    if (!known && this.#watches.size >= this.#context.mostTasks && !this.#makeRoom()) {
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
      return new Line(
        webhook,
        Math.max(line?.seq ?? 0, this.#context.progress.of(webhook.key)?.delivered ?? 0),
      );
    });
    for (const line of watch.lines) if (line.state === "idle") this.#context.onReady(line);
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
  sweep(): void {
    for (const watch of this.#resting) {
      if (watch.stale) this.#forget(watch);
      else watch.stale = true;
    }
    if (this.#resting.size > 0 && !this.#closing) this.#context.progress.schedule();
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
  async refill(): Promise<void> {
    if (this.#refilling || this.#closing) return;
    this.#refilling = true;
    // Not at the end: what finds no room meanwhile was perhaps not owed yet when the store was asked.
    this.#overflow = false;
    try {
      await this.#context.progress.flush();
      let after = 0;
      for (let more = true; more;) {
        if (this.#closing || this.#watches.size + this.#lookUps.size >= this.#context.mostTasks) {
          this.#overflow = true;
          break;
        }
        const due = await this.#context.store.due(after, DUE_PAGE);
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
      this.#context.onError(error);
      if (!this.#closing) this.#context.clock.after(STORE_RETRY_MS, () => void this.refill());
    }
  }

  #refillIfRoom(): void {
    const taken = this.#watches.size + this.#lookUps.size;
    if (this.#overflow && taken < this.#context.mostTasks / 2) void this.refill();
  }
}

function isOver(progress: WebhookProgress | undefined): boolean {
  return progress !== undefined && (progress.finished || progress.dead !== undefined);
}

function nameOf(scope: Scope, taskId: string): string {
  return `${scope.agent}/${taskId}/${callerKey(scope)}`;
}
