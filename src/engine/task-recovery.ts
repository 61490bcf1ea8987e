import type { Clock } from "./clock.ts";
import { recoverTask, type TaskRecoveryDependencies } from "./recover-task.ts";
import { LeaseFence } from "./lease-fence.ts";
import { startQueuedTurns } from "./start-queued-turns.ts";
import type { ClaimedTask, TaskLease } from "./task-leases.ts";

/** Number of tasks that one claim returns and that the service recovers concurrently. */
const MAX_TASKS_PER_CLAIM = 256;
const FIRST_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 1000;

interface TaskRecoveryServiceDependencies extends TaskRecoveryDependencies {
  readonly agentId: string;
  readonly clock: Clock;
}

/**
 * Recovers the tasks of one agent from the start to the end of the engine (E17). A task needs recovery if the
 * store has a running turn for the task, and no living node holds the task's lease. The node that held the
 * lease has stopped, or could not commit an event. The service claims such tasks and settles each task as
 * `Agent.afterRestart` declares. If the store fails, the service tries again at least once per second, until
 * the store answers. The service also renews the leases of its node.
 */
export class TaskRecovery {
  readonly #context: TaskRecoveryServiceDependencies;
  #leasesToRelease: TaskLease[] = [];
  /** Tasks that this node has abandoned and not settled yet. */
  readonly #lostTaskIds = new Set<string>();
  #state: "new" | "started" | "stopped" = "new";
  #currentPass: Promise<void> | undefined;
  #isPassRequested = false;
  #failedPasses = 0;
  #cancelTimer: () => void = () => {};
  readonly #fence: LeaseFence;

  constructor(context: Omit<TaskRecoveryServiceDependencies, "isStopped">) {
    this.#context = { ...context, isStopped: () => this.#state === "stopped" };
    this.#fence = new LeaseFence({
      ...context,
      renewDuringRecovery: async () => (this.#currentPass ? await this.#abandonLostTasks() : undefined),
    });
  }

  /** Starts the service. Resolves after the first pass, even if the pass fails. */
  async start(): Promise<void> {
    this.#state = "started";
    this.#fence.watch();
    this.requestPass();
    await this.#currentPass;
  }

  /** Stops the service. The service starts no more turns. */
  stop(): void {
    this.#state = "stopped";
    this.#fence.stop();
    this.#cancelTimer();
  }

  /** Releases the leases of the turns that the runners have abandoned, so that every node can claim their tasks. */
  async releaseAbandonedLeases(): Promise<void> {
    const { store, runners } = this.#context;
    for (let lease = this.#leasesToRelease[0]; lease; lease = this.#leasesToRelease[0]) {
      // If the store refused the start of the abandoned turn, a newer turn can hold the same lease.
      if (!runners.findLive(lease.scope, lease.taskId)?.hasRunningTurn) {
        await store.leases.release(lease);
        this.#lostTaskIds.add(lease.taskId);
      }
      this.#leasesToRelease.shift();
    }
  }

  /** Releases the lease of a task whose turn has not ended, and recovers the task as soon as possible. */
  releaseLease(lease: TaskLease): void {
    this.#leasesToRelease.push(lease);
    this.requestPass();
  }

  /** Looks for tasks that need recovery. While the store fails, the request waits for the next retry. */
  requestPass(): void {
    this.#isPassRequested = true;
    if (this.#state !== "started" || this.#currentPass || this.#failedPasses > 0) return;
    this.#startPass();
  }

  #startPass(): void {
    this.#cancelTimer();
    this.#isPassRequested = false;
    this.#currentPass = this.#recoverAllAndReport().finally(() => {
      this.#currentPass = undefined;
      if (this.#state === "stopped") return;
      if (this.#isPassRequested && this.#failedPasses === 0) this.#startPass();
      else this.#cancelTimer = this.#context.clock.schedule(this.#computeDelayMs(), () => this.#startPass());
    });
  }

  #computeDelayMs(): number {
    if (this.#failedPasses === 0) return this.#context.store.leases.renewIntervalMs;
    return Math.min(MAX_RETRY_DELAY_MS, FIRST_RETRY_DELAY_MS * 2 ** (this.#failedPasses - 1));
  }

  async #recoverAllAndReport(): Promise<void> {
    try {
      await this.releaseAbandonedLeases();
      await this.#abandonLostTasks();
      await this.#recoverAllClaimableTasks();
      if (this.#state === "started") await startQueuedTurns(this.#context);
      this.#failedPasses = 0;
      this.#lostTaskIds.clear();
    } catch (error) {
      // Report each outage of the store once.
      if (this.#failedPasses++ === 0 && this.#state === "started")
        this.#context.observer.onError?.({ where: "recovery", error });
    }
  }

  /** Renews the leases and stops the turns whose leases are lost. */
  async #abandonLostTasks(): Promise<void> {
    const { store, runners } = this.#context;
    for (const { scope, taskId } of await store.leases.renew())
      runners.findLive(scope, taskId)?.liveTask.onCommitFailed("conflict");
  }

  async #recoverAllClaimableTasks(): Promise<void> {
    const { store, agentId } = this.#context;
    while (this.#state === "started") {
      const claimed = await store.leases.claim(agentId, MAX_TASKS_PER_CLAIM);
      if (claimed.length === 0) return;
      // Wait for all tasks before reporting a failure, so that the next pass does not overlap with this pass.
      const outcomes = await Promise.allSettled(claimed.map((task) => this.#recoverOrReleaseTask(task)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    }
  }

  async #recoverOrReleaseTask(task: ClaimedTask): Promise<void> {
    try {
      await recoverTask(task, this.#lostTaskIds.has(task.taskId), this.#context);
    } catch (error) {
      this.#leasesToRelease.push(task);
      throw error;
    }
  }
}
