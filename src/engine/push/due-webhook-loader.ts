import type { Clock } from "../clock.ts";
import type { Webhook } from "./push-store.ts";
import type { WebhookSource } from "./webhook-source.ts";

const DUE_PAGE_SIZE = 256;
const STORE_RETRY_MS = 1000;
/** Number of polls for the webhooks that other nodes have left, until a poll searches all webhooks. */
const POLLS_PER_SEARCH_OF_ALL = 60;

interface DueWebhookLoaderDependencies {
  readonly source: WebhookSource;
  readonly clock: Clock;
  /** Saves the progress of all deliveries. Otherwise, delivered webhooks are still due. */
  readonly saveProgress: () => Promise<void>;
  /** Returns true if no place in memory is free for a further task. */
  readonly isFull: () => boolean;
  /** Starts the deliveries of a due webhook. Returns false if its owner uses its entire share of the places. */
  readonly onDue: (webhook: Webhook) => boolean;
  /** Called with the webhooks that were claimed, but have no place in memory. */
  readonly onRefused: (keys: readonly number[]) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Loads webhooks that need deliveries from the store, up to the limit of tasks in memory. If several nodes share the
 * store, the loader polls for webhooks that other nodes have left.
 */
export class DueWebhookLoader {
  readonly #context: DueWebhookLoaderDependencies;
  /** True if at least one webhook needs deliveries but is not in memory. */
  hasOverflow = false;
  #currentLoad: Promise<void> | undefined;
  /** A load of all webhooks that begins after the current load. */
  #nextLoad: Promise<void> | undefined;
  #isStopped = false;
  #pollCount = 0;
  #cancelPoll: () => void = () => {};

  constructor(context: DueWebhookLoaderDependencies) {
    this.#context = context;
  }

  /** Loads all due webhooks, and starts to poll. */
  start(): void {
    this.#schedulePoll();
    void this.load("all");
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPoll();
  }

  /** Loads due webhooks. With `all`, resolves after a load that has begun after the call. */
  load(search: "left" | "all"): Promise<void> {
    if (!this.#currentLoad) return this.#startLoad(search);
    if (search === "left") return this.#currentLoad;
    this.#nextLoad ??= this.#currentLoad.then(() => {
      this.#nextLoad = undefined;
      return this.#startLoad("all");
    });
    return this.#nextLoad;
  }

  #startLoad(search: "left" | "all"): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#currentLoad = this.#loadOnce(search).finally(() => {
      this.#currentLoad = undefined;
    });
    return this.#currentLoad;
  }

  async #loadOnce(search: "left" | "all"): Promise<void> {
    // Reset this before the query, because a webhook that overflows in the meantime may be missing from the
    // result.
    if (search === "all") this.hasOverflow = false;
    try {
      await this.#context.saveProgress();
      await this.#loadPages(search);
    } catch (error) {
      this.hasOverflow = true;
      this.#context.onError(error);
      if (!this.#isStopped) this.#context.clock.schedule(STORE_RETRY_MS, () => void this.load("all"));
    }
  }

  async #loadPages(search: "left" | "all"): Promise<void> {
    const { source, isFull, onDue, onRefused } = this.#context;
    let after = 0;
    for (let more = true; more;) {
      if (this.#isStopped || isFull()) {
        this.hasOverflow = true;
        return;
      }
      const due = await source.claimDue(after, DUE_PAGE_SIZE, search);
      const refused = due.filter((webhook) => !onDue(webhook)).map(({ key }) => key);
      if (refused.length > 0) {
        this.hasOverflow = true;
        onRefused(refused);
      }
      after = due.at(-1)?.key ?? after;
      more = due.length === DUE_PAGE_SIZE;
    }
  }

  #schedulePoll(): void {
    const { source, clock } = this.#context;
    if (!source.leases || this.#isStopped) return;
    this.#cancelPoll = clock.schedule(source.leases.pollIntervalMs, () => {
      const search = ++this.#pollCount % POLLS_PER_SEARCH_OF_ALL === 0 ? "all" : "left";
      void this.load(search).then(() => this.#schedulePoll());
    });
  }
}
