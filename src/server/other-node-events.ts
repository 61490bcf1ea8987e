import { LruCache } from "../base/data-structures/index.ts";
import { systemClock, withSafeListeners, type Observer, type TaskScope } from "../engine/index.ts";
import type { FollowedPosition, NodeHint } from "../cluster/index.ts";
import type { ServerStore, TaskOverviewEntry } from "./resolve-store.ts";

/** Time in milliseconds between a hint and the read of the new events, in which further hints arrive. */
const READ_DELAY_MS = 100;
/** Number of tasks whose positions are known. */
const MAX_KNOWN_TASKS = 10_000;
/** Number of tasks that wait for a read. Hints of further tasks are ignored. */
const MAX_WAITING_TASKS = 1_000;
/** Number of earlier events that are reported of a task whose first hint arrives. */
const MAX_EARLIER_EVENTS = 50;
const MAX_BYTES_PER_TASK = 256 * 1024;
/** Delay in milliseconds between two polls of the task list, without hints. */
const POLL_DELAY_MS = 1_000;
/** Difference in milliseconds between the clocks of two nodes for which a poll finds all changed tasks. */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;
/** Maximum number of tasks that one list of a poll returns. */
const MAX_POLLED_TASKS = 100;

/** The position of the server in the log of a task. */
type KnownPosition = Pick<FollowedPosition, "scope" | "taskId" | "afterSeq">;

/** A listener for the events of other nodes. */
interface OtherNodeEventListener {
  readonly onOtherNodeEvent?: Observer["onEvent"];
}

interface OtherNodeEventsOptions {
  /** Returns the ids of the agents whose tasks are reported. */
  readonly listAgentIds: () => Iterable<string>;
  /** True if the task list is polled while the server receives no hints. The store has the indexes for operators. */
  readonly pollsTaskList: boolean;
  /**
   * Receives the events of a task in the order of its log. Events are missing while hints are lost, and an event that this
   * server has committed can be reported, too.
   */
  readonly onEvent: NonNullable<Observer["onEvent"]>;
}

/**
 * Reports the events that other nodes of the store commit, for live views. The hints between the nodes name the tasks, and
 * one statement reads the new events of all of these tasks. Without hints, a poll finds the tasks whose status has changed
 * and the newest working tasks.
 */
export class OtherNodeEvents {
  readonly #store: ServerStore;
  readonly #options: OtherNodeEventsOptions;
  readonly #positions = new LruCache<KnownPosition>(MAX_KNOWN_TASKS);
  readonly #waitingTaskIds = new Set<string>();
  /** Listener for the events that this server commits, which a poll does not report again. */
  readonly observer: Observer = {
    onEvent: ({ scope, taskId, event }) => {
      if (this.#pollTimer) this.#positions.set(taskId, { scope, taskId, afterSeq: event.seq });
    },
  };
  #stopHints: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #lastPollMs = systemClock.now();
  #isStarted = false;
  #isPolling = false;
  #isReading = false;

  constructor(store: ServerStore, options: OtherNodeEventsOptions) {
    this.#store = store;
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    if (this.#options.pollsTaskList)
      this.#pollTimer ??= setInterval(() => void this.#poll(), POLL_DELAY_MS).unref();
    this.#stopHints ??= this.#store.nodes?.hints?.onHint((hint) => this.#addHint(hint));
  }

  stop(): void {
    this.#stopHints?.();
    this.#stopHints = undefined;
    this.#isStarted = false;
    clearInterval(this.#pollTimer);
    this.#pollTimer = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waitingTaskIds.clear();
  }

  #addHint(hint: NodeHint): void {
    if (hint.kind !== "events") return;
    for (const taskId of hint.taskIds) this.#addWaitingTask(taskId);
    this.#schedule();
  }

  #addWaitingTask(taskId: string): void {
    if (this.#waitingTaskIds.size < MAX_WAITING_TASKS) this.#waitingTaskIds.add(taskId);
  }

  async #poll(): Promise<void> {
    const { overview, nodes } = this.#store;
    if (!overview || this.#isPolling || !nodes?.hasOtherNodes || nodes.hints?.isReceiving) return;
    this.#isPolling = true;
    const startMs = systemClock.now();
    const statusSince = new Date(this.#lastPollMs - MAX_CLOCK_DIFFERENCE_MS).toISOString();
    try {
      const changed = await overview.list({ statusSince, limit: MAX_POLLED_TASKS });
      const working = await overview.list({ status: "TASK_STATE_WORKING", limit: MAX_POLLED_TASKS });
      this.#addPolledTasks([...changed.tasks, ...working.tasks]);
      this.#lastPollMs = startMs;
    } catch {
      // The next poll finds the changed tasks, too.
    }
    this.#isPolling = false;
    this.#schedule();
  }

  #addPolledTasks(tasks: readonly TaskOverviewEntry[]): void {
    const agentIds = new Set(this.#options.listAgentIds());
    for (const { scope, taskId, seq } of tasks) {
      const known = this.#positions.get(taskId);
      if (!agentIds.has(scope.agent) || (known && known.afterSeq >= seq)) continue;
      if (!known)
        this.#positions.set(taskId, { scope, taskId, afterSeq: Math.max(0, seq - MAX_EARLIER_EVENTS) });
      this.#addWaitingTask(taskId);
    }
  }

  #schedule(): void {
    if (this.#isReading || !this.#isStarted || this.#waitingTaskIds.size === 0) return;
    this.#timer ??= setTimeout(() => void this.#readWaitingTasks(), READ_DELAY_MS).unref();
  }

  async #readWaitingTasks(): Promise<void> {
    this.#timer = undefined;
    this.#isReading = true;
    const taskIds = [...this.#waitingTaskIds];
    this.#waitingTaskIds.clear();
    try {
      await this.#readTasks(taskIds);
    } catch {
      // The next hint of a task reads the missing events, too.
    }
    this.#isReading = false;
    this.#schedule();
  }

  async #readTasks(taskIds: readonly string[]): Promise<void> {
    const positions: KnownPosition[] = [];
    for (const taskId of taskIds) {
      const position = this.#positions.get(taskId) ?? (await this.#findPosition(taskId));
      if (position) positions.push(position);
    }
    if (positions.length === 0) return;
    const changes = await this.#readChanges(positions, MAX_BYTES_PER_TASK);
    for (const [at, { scope, taskId, afterSeq }] of positions.entries()) {
      const change = changes?.[at];
      if (change === undefined || change === "deleted") continue;
      for (const event of change.events) this.#options.onEvent({ scope, taskId, event });
      const readSeq = change.events.at(-1)?.seq ?? afterSeq;
      // The store has deleted events, or the task has more events than one read returns.
      if (change.events.length === 0)
        this.#positions.set(taskId, { scope, taskId, afterSeq: change.lastSeq });
      else this.#positions.set(taskId, { scope, taskId, afterSeq: readSeq });
      if (change.events.length > 0 && readSeq < change.lastSeq) this.#waitingTaskIds.add(taskId);
    }
  }

  /** Finds a task of the agents, and the position before its newest events. */
  async #findPosition(taskId: string): Promise<KnownPosition | undefined> {
    const scope = await this.#findScope(taskId);
    if (!scope) return undefined;
    const end = { scope, taskId, afterSeq: Number.MAX_SAFE_INTEGER };
    const [change] = (await this.#readChanges([end], 0)) ?? [];
    if (change === undefined || change === "deleted") return undefined;
    return { scope, taskId, afterSeq: Math.max(0, change.lastSeq - MAX_EARLIER_EVENTS) };
  }

  async #findScope(taskId: string): Promise<TaskScope | undefined> {
    for (const agentId of this.#options.listAgentIds()) {
      const scope = await this.#store.overview?.findScope(agentId, taskId);
      if (scope) return scope;
    }
    return undefined;
  }

  #readChanges(
    positions: readonly KnownPosition[],
    maxBytesPerTask: number,
  ): ReturnType<NonNullable<ServerStore["nodes"]>["readChanges"]> | undefined {
    const followed = positions.map((position): FollowedPosition => ({ ...position, turnStatus: "none" }));
    return this.#store.nodes?.readChanges(followed, maxBytesPerTask);
  }
}

/** Creates the reports for the handlers that listen to other nodes. Returns `undefined` if there is nothing to report. */
export function createOtherNodeEvents(
  store: ServerStore,
  handlers: readonly OtherNodeEventListener[],
  options: Pick<OtherNodeEventsOptions, "listAgentIds" | "pollsTaskList">,
): OtherNodeEvents | undefined {
  const listeners = handlers
    .filter(({ onOtherNodeEvent }) => onOtherNodeEvent !== undefined)
    .map((handler) => withSafeListeners({ onEvent: (seen) => handler.onOtherNodeEvent?.(seen) }));
  const pollsTaskList = options.pollsTaskList && store.nodes !== undefined;
  if ((!store.nodes?.hints && !pollsTaskList) || listeners.length === 0) return undefined;
  return new OtherNodeEvents(store, {
    ...options,
    pollsTaskList,
    onEvent: (seen) => {
      for (const listener of listeners) listener.onEvent?.(seen);
    },
  });
}
