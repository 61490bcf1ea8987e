import { A2AError } from "../protocol/index.ts";
import type { ActiveTask, ActiveTaskDependencies } from "./active-task.ts";
import type { TaskScope } from "./caller.ts";
import type { Observer } from "./observer.ts";
import { settleClaimedTask, type SettlementDependencies, type TaskToSettle } from "./settle-claimed-task.ts";
import { isSuspect, SuspectTurnQueue } from "./suspect-turns.ts";
import type { TaskCancellation } from "./task-feed.ts";
import type { AppendRefusal, LogAppend, TaskStore, ClaimedTask, TaskLease, TurnStore } from "./task-store.ts";

/** Number of tasks that one claim returns, and that the service recovers or releases concurrently. */
const MAX_TASKS_PER_CLAIM = 256;
const FIRST_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 1000;
/** Maximum number of tasks that one report names. */
const MAX_REPORTED_TASKS = 10;
/** Delay in milliseconds before the next pass, if lost turns wait for room. */
const ROOM_POLL_MS = 1000;

interface LeaseToRelease {
  readonly lease: TaskLease;
  readonly handover?: LogAppend | undefined;
  /** True if this node has not run the turn, so that the task is not lost. */
  readonly waitsForRoom?: boolean;
}

interface TaskRecoveryDependencies
  extends SettlementDependencies, Pick<ActiveTaskDependencies, "clock" | "startsTurns"> {
  readonly agentId: string;
  /** Called when other nodes have stopped without a release, so that they may have left more than their turns. */
  readonly onNodesLost: () => void;
}

/**
 * Recovers the tasks of one agent from the start to the end of the engine (E17). A task needs recovery if the
 * store has a running turn for the task, and no living node holds the task's lease. The node that held the
 * lease has stopped, or could not commit an event. The service claims such tasks and settles each task as
 * `Agent.afterRestart` declares. If the store fails, the service tries again at least once per second, until
 * the store answers. The service also renews the leases of its node.
 */
export class TaskRecovery {
  readonly #context: TaskRecoveryDependencies;
  readonly #leases: Pick<
    TurnStore,
    keyof ProcessLeases | "waitingTurnPollMs" | "watchOtherNodes" | "getTimeUntilFence"
  >;
  #leasesToRelease: LeaseToRelease[] = [];
  #currentRelease: Promise<void> | undefined;
  /** Tasks that this node has abandoned and not settled yet. */
  readonly #lostTaskIds = new Set<string>();
  #state: "new" | "started" | "stopped" = "new";
  #currentPass: Promise<void> | undefined;
  /** Settles when the last call of `startWaitingTurns` has started its turns. */
  #lastStart: Promise<unknown> = Promise.resolve();
  #isPassRequested = false;
  /** True if the last pass has left lost turns in the store, because the limits on turns admit no more of them. */
  #areTurnsWaitingForRoom = false;
  #failedPasses = 0;
  #cancelTimer: () => void = () => {};
  readonly #suspectTurns: SuspectTurnQueue;
  #cancelFenceTimer: () => void = () => {};

  constructor(context: Omit<TaskRecoveryDependencies, "isStopped">) {
    this.#context = { ...context, isStopped: () => this.#state === "stopped" };
    this.#suspectTurns = new SuspectTurnQueue(
      context.clock,
      (group) => this.#startSuspectTurns(group),
      (lone) => this.#persistCompany(lone),
    );
    this.#leases = context.store.turns ?? new ProcessLeases(context.store);
  }

  /** Starts the service. Resolves after the first pass, even if the pass fails. */
  async start(): Promise<void> {
    this.#state = "started";
    this.#watchFence();
    this.requestPass();
    await this.#currentPass;
  }

  /** Called when `startsTurns` has become false. The service continues to renew and release the leases of its node. */
  stopStartingTurns(): void {
    this.#leasesToRelease.push(...this.#suspectTurns.takeAll().map((lease) => ({ lease })));
  }

  /** Starts the turns of lost tasks and all waiting turns. Rejects if the store fails. */
  async startDueTurns(): Promise<void> {
    if (!this.#context.startsTurns()) return;
    await this.#currentPass;
    await this.releaseAbandonedLeases();
    await this.#leases.watchOtherNodes?.();
    await this.#startAllTurns();
  }

  async #startAllTurns(): Promise<void> {
    await this.#recoverAllLostTasks();
    // Without other nodes, the claim of lost turns includes the waiting turns.
    if (this.#leases.waitingTurnPollMs !== undefined) await this.startWaitingTurns();
    if (this.#state === "started") await this.#startQueuedTurns();
  }

  /**
   * Starts the queued turns of the store whose tasks are not active. The earlier process has stopped, or the store has
   * failed.
   */
  async #startQueuedTurns(): Promise<void> {
    const { agentId, tasks } = this.#context;
    for (const { scope, taskId } of await this.#leases.listQueued()) {
      if (scope.agent !== agentId) continue;
      const task = await tasks.open(scope, taskId, "recovery");
      // The release of an idle task starts its first queued turn.
      task?.release();
    }
  }

  /**
   * Claims as many waiting turns as this node can run, and starts them. Resolves with their number once they have
   * started. Waits for an earlier call, because the host of `startDueTurns` may freeze the process after the result,
   * although the poller has claimed turns and not started them yet.
   */
  startWaitingTurns(): Promise<number> {
    const started = this.#lastStart.then(() => this.#claimAndStartWaitingTurns());
    this.#lastStart = started.catch(() => {});
    return started;
  }

  async #claimAndStartWaitingTurns(): Promise<number> {
    const { agentId, turnAdmission } = this.#context;
    const limit = Math.min(turnAdmission.freeRunCount, MAX_TASKS_PER_CLAIM);
    if (limit === 0 || this.#state !== "started" || !this.#context.startsTurns()) return 0;
    const claimed = await this.#leases.claim(agentId, limit, "waiting");
    await this.#recoverClaimed(claimed);
    // Another node may have room for the turns that this node could not start.
    if (this.#areTurnsWaitingForRoom) await this.releaseAbandonedLeases();
    return claimed.length;
  }

  /** Stops the service. The service starts no more turns. */
  stop(): void {
    this.#state = "stopped";
    this.stopStartingTurns();
    this.#cancelFenceTimer();
    this.#cancelTimer();
  }

  /** Releases the leases of abandoned turns, so that every node can claim their tasks. */
  releaseAbandonedLeases(): Promise<void> {
    // Two loops over the list would remove leases that neither has released.
    return (this.#currentRelease ??= this.#releaseLeases());
  }

  /** Tries each release, so that no task waits for another one. Keeps the failed ones for the next call. */
  async #releaseLeases(): Promise<void> {
    const failed: LeaseToRelease[] = [];
    let failure: unknown;
    do {
      const releases = this.#leasesToRelease.splice(0, MAX_TASKS_PER_CLAIM).map((entry) =>
        this.#release(entry).catch((error: unknown) => {
          failed.push(entry);
          failure = error;
        }),
      );
      await Promise.all(releases);
    } while (this.#leasesToRelease.length > 0);
    this.#currentRelease = undefined;
    this.#leasesToRelease.push(...failed);
    if (failed.length > 0) throw failure;
  }

  async #release({ lease, handover, waitsForRoom = false }: LeaseToRelease): Promise<void> {
    const { store, tasks } = this.#context;
    // If the store refused the start of the abandoned turn, a newer turn can hold the same lease.
    if (tasks.find(lease.scope, lease.taskId)?.mustKeepTurnInStore) return;
    if (handover) await store.commit([handover]);
    else {
      await this.#leases.release(lease);
      if (!waitsForRoom) this.#lostTaskIds.add(lease.taskId);
    }
  }

  /**
   * Releases the lease of a task whose turn has not ended, and recovers the task as soon as possible. `handover` is the
   * append that releases the lease of a turn whose node stops normally.
   */
  releaseLease(lease: TaskLease, handover?: LogAppend): void {
    this.#addRelease({ lease, handover });
    this.requestPass();
  }

  #addRelease(entry: LeaseToRelease): void {
    this.#leasesToRelease.push(entry);
    // An agent can stop, and a settlement can fail, after the engine has closed. Then no pass follows.
    if (this.#state === "stopped") void this.releaseAbandonedLeases().catch(() => {});
  }

  /** Returns true if this node has claimed the task, and starts its turn after other suspect turns. */
  isWaitingSuspect(scope: TaskScope, taskId: string): boolean {
    return this.#suspectTurns.isWaiting(scope, taskId);
  }

  /** Number of turns that this node has claimed, and starts after other suspect turns. */
  get waitingSuspectCount(): number {
    return this.#suspectTurns.waitingCount;
  }

  /** Cancels a task whose turn waits for other suspect turns of this node. Ignores all other tasks. */
  async cancelWaitingSuspect(
    scope: TaskScope,
    taskId: string,
    cancellation: TaskCancellation,
  ): Promise<void> {
    const task = this.#suspectTurns.take(scope, taskId);
    if (task) await this.#recoverOrReleaseTask({ ...task, cancellation });
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
    const { renewIntervalMs } = this.#leases;
    if (this.#failedPasses === 0)
      return this.#areTurnsWaitingForRoom ? Math.min(ROOM_POLL_MS, renewIntervalMs) : renewIntervalMs;
    return Math.min(MAX_RETRY_DELAY_MS, FIRST_RETRY_DELAY_MS * 2 ** (this.#failedPasses - 1));
  }

  async #recoverAllAndReport(): Promise<void> {
    try {
      const release = this.releaseAbandonedLeases();
      await release.catch(() => {});
      await this.#abandonLostTasks();
      if (this.#context.startsTurns()) await this.#startAllTurns();
      await release;
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
    const { tasks, observer } = this.#context;
    const lost: ActiveTask[] = [];
    for (const { scope, taskId, epoch } of await this.#leases.renew()) {
      const task = tasks.find(scope, taskId);
      // A newer turn of this node can hold a newer lease of the task.
      if (task && task.lease.epoch <= epoch) lost.push(task);
    }
    abandonTasks(lost, "conflict", observer);
  }

  /**
   * Stops the turns of a node that cannot renew its leases, before the leases end and another node runs the turns. The
   * store refuses the appends of a node without a lease in any case. The fence also stops the agents, which have effects
   * outside of the store. Leases that end with their process need no fence.
   */
  #watchFence(): void {
    const { clock, tasks, observer } = this.#context;
    const { renewIntervalMs } = this.#leases;
    const untilFenceMs = this.#leases.getTimeUntilFence?.();
    if (untilFenceMs === undefined) return;
    if (untilFenceMs <= 0) {
      const cause = new Error("The server could not renew the leases of its tasks in time.");
      const running = tasks.list().filter((task) => task.mustKeepTurnInStore);
      abandonTasks(running, cause, observer);
    }
    // A pass can take so long that its next renewal would be late.
    if (this.#currentPass) void this.#abandonLostTasks().catch(() => {});
    const delayMs = untilFenceMs > 0 ? Math.min(untilFenceMs, renewIntervalMs) : renewIntervalMs;
    this.#cancelFenceTimer = clock.schedule(delayMs, () => this.#watchFence());
  }

  async #recoverAllLostTasks(): Promise<void> {
    const { agentId } = this.#context;
    this.#areTurnsWaitingForRoom = false;
    while (this.#state === "started" && this.#context.startsTurns() && !this.#areTurnsWaitingForRoom) {
      const limit = this.#computeLostTurnLimit();
      if (limit === 0) {
        this.#areTurnsWaitingForRoom = true;
        return;
      }
      const claimed = await this.#leases.claim(agentId, limit, "lost");
      if (claimed.length === 0) return;
      this.#context.onNodesLost();
      await this.#recoverClaimed(claimed);
    }
  }

  /**
   * Returns how many lost tasks this node may claim. Turns that start again need room, and other nodes may have room for
   * the rest. Without restarts, the tasks fail at once.
   */
  #computeLostTurnLimit(): number {
    const { agent, turnAdmission } = this.#context;
    if ((agent.current.afterRestart ?? "fail") === "fail") return MAX_TASKS_PER_CLAIM;
    const freeCount = turnAdmission.freeRestartCount - this.#suspectTurns.waitingCount;
    return Math.max(0, Math.min(freeCount, MAX_TASKS_PER_CLAIM));
  }

  /** Starts the turns of claimed tasks, and suspect turns in groups. */
  async #recoverClaimed(claimed: readonly ClaimedTask[]): Promise<void> {
    await this.#addSuspects(claimed.filter(isSuspect));
    await this.#recoverAll(claimed.filter((task) => !isSuspect(task)));
  }

  async #addSuspects(suspects: Parameters<SuspectTurnQueue["add"]>[0]): Promise<void> {
    await this.#suspectTurns.add(suspects);
    const count = this.#suspectTurns.waitingCount;
    if (suspects.length === 0 || count === 0) return;
    const message = `${count} tasks start in groups, because their server died twice: ${formatTaskIds(suspects)}`;
    this.#context.observer.onWarning?.({ where: "recovery", message });
  }

  async #startSuspectTurns(group: readonly ClaimedTask[]): Promise<readonly Promise<void>[]> {
    const { tasks, observer } = this.#context;
    for (let at = 0; at < group.length; at += MAX_TASKS_PER_CLAIM)
      await this.#recoverAll(group.slice(at, at + MAX_TASKS_PER_CLAIM)).catch((error: unknown) =>
        observer.onError?.({ where: "recovery", error }),
      );
    return group.map(({ scope, taskId }) => {
      const turn = tasks.find(scope, taskId)?.currentTurn;
      return turn ? new Promise((resolve) => turn.onEnd(resolve)) : Promise.resolve();
    });
  }

  async #persistCompany({ scope, taskId }: TaskLease): Promise<void> {
    const task = this.#context.tasks.find(scope, taskId);
    // The task reports a commit that fails, and ends the turn.
    await task?.currentTurn?.persistCompany().catch(() => {});
  }

  async #recoverAll(claimed: readonly ClaimedTask[]): Promise<void> {
    // Wait for all tasks before reporting a failure, so that the next pass does not overlap with this pass.
    const outcomes = await Promise.allSettled(claimed.map((task) => this.#recoverOrReleaseTask(task)));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  async #recoverOrReleaseTask(task: TaskToSettle): Promise<void> {
    try {
      await settleClaimedTask(task, this.#lostTaskIds.has(task.taskId), this.#context);
    } catch (error) {
      const waitsForRoom = A2AError.from(error).reason === "RESOURCE_EXHAUSTED";
      this.#addRelease({ lease: task, waitsForRoom });
      if (!waitsForRoom) throw error;
      this.#areTurnsWaitingForRoom = true;
    }
  }
}

/** Stops the turns of tasks that other nodes can run, and reports the tasks together. */
function abandonTasks(tasks: readonly ActiveTask[], cause: AppendRefusal | Error, observer: Observer): void {
  if (tasks.length === 0) return;
  for (const task of tasks) task.onCommitFailed(cause, true);
  const text = `Running tasks were stopped, because their leases were not renewed in time; check the database, and this server for stalls. ${tasks.length} tasks: ${formatTaskIds(tasks)}`;
  observer.onError?.({ where: "recovery", error: new A2AError("UNAVAILABLE", text) });
}

/** Returns the ids of the first tasks. */
function formatTaskIds(tasks: readonly { readonly taskId: string }[]): string {
  return tasks
    .slice(0, MAX_REPORTED_TASKS)
    .map(({ taskId }) => taskId)
    .join(", ");
}

/** Time in milliseconds between two recoveries if the leases end with the process. */
const PROCESS_RENEW_INTERVAL_MS = 5000;

/** The leases of a store without `turns`. The turns that the process has abandoned can be claimed again. */
class ProcessLeases implements Pick<
  TurnStore,
  "renewIntervalMs" | "claim" | "renew" | "release" | "listQueued"
> {
  readonly renewIntervalMs: number = PROCESS_RENEW_INTERVAL_MS;
  readonly #store: Pick<TaskStore, "load">;
  readonly #released = new Set<TaskLease>();

  constructor(store: Pick<TaskStore, "load">) {
    this.#store = store;
  }

  async claim(agent: string, limit: number): Promise<ClaimedTask[]> {
    const leases = [...this.#released].filter(({ scope }) => scope.agent === agent).slice(0, limit);
    const claimed: ClaimedTask[] = [];
    for (const lease of leases) {
      const stored = await this.#store.load(lease.scope, lease.taskId);
      this.#released.delete(lease);
      if (!stored) continue;
      const { task, seq, epoch } = stored;
      const { state, timestamp = "" } = task.status;
      claimed.push({ ...lease, epoch, seq, contextId: task.contextId, state, timestamp });
    }
    return claimed;
  }

  async renew(): Promise<readonly TaskLease[]> {
    return [];
  }

  async release(lease: TaskLease): Promise<void> {
    this.#released.add(lease);
  }

  async listQueued(): Promise<readonly TaskLease[]> {
    return [];
  }
}
