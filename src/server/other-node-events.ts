import { LruCache } from "../data-structures/index.ts";
import {
  withSafeListeners,
  type FollowedPosition,
  type NodeHint,
  type Observer,
  type TaskScope,
  type TaskStore,
} from "../engine/index.ts";

/** Time in milliseconds between a hint and the read of the new events, in which further hints arrive. */
const READ_DELAY_MS = 100;
/** Number of tasks whose positions are known. */
const MAX_KNOWN_TASKS = 10_000;
/** Number of tasks that wait for a read. Hints of further tasks are ignored. */
const MAX_WAITING_TASKS = 1_000;
/** Number of earlier events that are reported of a task whose first hint arrives. */
const MAX_EARLIER_EVENTS = 50;
const MAX_BYTES_PER_TASK = 256 * 1024;

/** The position of the server in the log of a task. */
type KnownPosition = Pick<FollowedPosition, "scope" | "taskId" | "afterSeq">;

/** A listener for the events of other nodes. */
interface OtherNodeEventListener {
  readonly onOtherNodeEvent?: Observer["onEvent"];
}

interface OtherNodeEventsOptions {
  /** Returns the ids of the agents whose tasks are reported. */
  readonly listAgentIds: () => Iterable<string>;
  /**
   * Receives the events of a task in the order of its log. Events are missing while hints are lost, and an event that this
   * server has committed can be reported, too.
   */
  readonly onEvent: NonNullable<Observer["onEvent"]>;
}

/**
 * Reports the events that other nodes of the store commit, for live views. The hints between the nodes name the tasks, and
 * one statement reads the new events of all of these tasks. Without hints, nothing is reported.
 */
export class OtherNodeEvents {
  readonly #store: TaskStore;
  readonly #options: OtherNodeEventsOptions;
  readonly #positions = new LruCache<KnownPosition>(MAX_KNOWN_TASKS);
  readonly #waitingTaskIds = new Set<string>();
  #stopHints: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(store: TaskStore, options: OtherNodeEventsOptions) {
    this.#store = store;
    this.#options = options;
  }

  start(): void {
    this.#stopHints ??= this.#store.hints?.onHint((hint) => this.#addHint(hint));
  }

  stop(): void {
    this.#stopHints?.();
    this.#stopHints = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waitingTaskIds.clear();
  }

  #addHint(hint: NodeHint): void {
    if (hint.kind !== "events") return;
    for (const taskId of hint.taskIds)
      if (this.#waitingTaskIds.size < MAX_WAITING_TASKS) this.#waitingTaskIds.add(taskId);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isReading || !this.#stopHints || this.#waitingTaskIds.size === 0) return;
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
  ): ReturnType<NonNullable<TaskStore["nodes"]>["readChanges"]> | undefined {
    const followed = positions.map((position): FollowedPosition => ({ ...position, turnStatus: "none" }));
    return this.#store.nodes?.readChanges(followed, maxBytesPerTask);
  }
}

/** Creates the reports for the handlers that listen to other nodes. Returns `undefined` if there is nothing to report. */
export function createOtherNodeEvents(
  store: TaskStore,
  handlers: readonly OtherNodeEventListener[],
  listAgentIds: () => Iterable<string>,
): OtherNodeEvents | undefined {
  const listeners = handlers
    .filter(({ onOtherNodeEvent }) => onOtherNodeEvent !== undefined)
    .map((handler) => withSafeListeners({ onEvent: (seen) => handler.onOtherNodeEvent?.(seen) }));
  if (!store.hints || listeners.length === 0) return undefined;
  return new OtherNodeEvents(store, {
    listAgentIds,
    onEvent: (seen) => {
      for (const listener of listeners) listener.onEvent?.(seen);
    },
  });
}
