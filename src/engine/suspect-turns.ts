import { getTaskKey, type TaskScope } from "./caller.ts";
import { type Clock, waitAtMost } from "./clock.ts";
import type { ClaimedTask } from "./task-store.ts";
import { countFailedAttempts, excuseAttempt } from "./turn-restart-data.ts";

/** Number of attempts in which the node died, from which a turn is suspected to have killed its node. */
const SUSPECT_ATTEMPTS = 2;
/** Time in milliseconds for which a group of suspect turns runs before the next group starts. */
const GROUP_RUN_MS = 10_000;
/** First and longest time in milliseconds for which a turn runs alone. The time doubles for each run that it has outlived. */
const LONE_RUN_MS = 2500;
const MAX_LONE_RUN_MS = 40_000;

/** A claimed task with the turn that its node ran when the node died. */
type TaskWithTurn = ClaimedTask & { readonly turn: NonNullable<ClaimedTask["turn"]> };

/** Starts suspect turns. Resolves with promises for the ends of the turns, once the turns have started. Never rejects. */
type GroupStarter = (group: readonly ClaimedTask[]) => Promise<readonly Promise<void>[]>;

/** Persists that other turns start while a turn may be running that has started alone (`persistCompany`). Never rejects. */
type CompanyRecorder = (lone: ClaimedTask) => Promise<void>;

/** Returns true if the turn of the task may have killed its node. */
export function isSuspect(task: ClaimedTask): task is TaskWithTurn {
  return task.turn !== undefined && countFailedAttempts(task.turn) >= SUSPECT_ATTEMPTS;
}

/**
 * Starts suspect turns in groups. The node of a suspect turn died in at least two attempts, so the turn itself may have
 * killed the node. If all of these turns started together each time, the next death would count as an attempt of each,
 * and healthy turns would fail together with the turn that kills the node. Therefore, the death of a node counts only
 * for a turn that started alone. The members of a group that died start again in groups of at most half its size, until
 * a turn that kills its node is alone. A new group starts when the turns of the group before have ended, or have run for
 * ten seconds. A turn that is alone runs for 2.5 seconds before the next group starts, and then its death no longer
 * counts. This time doubles with each such death, up to 40 seconds, because the turn may be the one that kills its node.
 */
export class SuspectTurnQueue {
  readonly #clock: Clock;
  readonly #start: GroupStarter;
  readonly #persistCompany: CompanyRecorder;
  readonly #waiting = new Map<string, TaskWithTurn>();
  /** Size of the groups of turns that have not been in a group before. */
  #firstGroupSize = 0;
  #isRunning = false;
  /** Turn of the last group, if the turn has started alone. */
  #lone: ClaimedTask | undefined;

  constructor(clock: Clock, start: GroupStarter, persistCompany: CompanyRecorder) {
    this.#clock = clock;
    this.#start = start;
    this.#persistCompany = persistCompany;
  }

  /** Number of turns that have not started. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Returns true if the turn of the task has not started. */
  isWaiting(scope: TaskScope, taskId: string): boolean {
    return this.#waiting.has(getTaskKey(scope, taskId));
  }

  /** Adds turns. Resolves once the first group has started, unless another group is running. */
  async add(suspects: readonly TaskWithTurn[]): Promise<void> {
    for (const task of suspects) this.#waiting.set(getTaskKey(task.scope, task.taskId), task);
    if (!this.#isRunning) await this.#startNextGroup();
  }

  /** Removes and returns a turn that has not started. */
  take(scope: TaskScope, taskId: string): ClaimedTask | undefined {
    const key = getTaskKey(scope, taskId);
    const task = this.#waiting.get(key);
    this.#waiting.delete(key);
    return task;
  }

  /** Removes and returns all turns that have not started. */
  takeAll(): readonly ClaimedTask[] {
    const tasks = [...this.#waiting.values()];
    this.#waiting.clear();
    return tasks;
  }

  async #startNextGroup(): Promise<void> {
    this.#isRunning = this.#waiting.size > 0;
    // The next turns wait meanwhile, so that they can be canceled.
    if (this.#isRunning && this.#lone) await this.#persistCompany(this.#lone);
    const group = this.#takeNextGroup();
    const [first] = group;
    this.#isRunning = first !== undefined;
    if (!first) return;
    this.#lone = group.length === 1 ? first : undefined;
    const runMs = this.#lone
      ? Math.min(LONE_RUN_MS * 2 ** (first.turn.outlivedRuns ?? 0), MAX_LONE_RUN_MS)
      : GROUP_RUN_MS;
    const ends = await this.#start(group.map((task) => toGroupMember(task, group.length)));
    void waitAtMost(Promise.all(ends), runMs, this.#clock).then(() => this.#startNextGroup());
  }

  /**
   * Removes and returns the turns of the next group. The most suspect turns start first, so that their deaths interrupt no
   * other turns.
   */
  #takeNextGroup(): readonly TaskWithTurn[] {
    const tasks = [...this.#waiting.values()].toSorted(compareSuspects);
    const [first] = tasks;
    if (!first) {
      this.#firstGroupSize = 0;
      return [];
    }
    // The first tasks to arrive are few, so that the size can grow with the others.
    this.#firstGroupSize = Math.max(this.#firstGroupSize, Math.ceil(tasks.length / 2));
    const { groupSize } = first.turn;
    const maxSize = groupSize === undefined ? this.#firstGroupSize : Math.max(1, Math.floor(groupSize / 2));
    const group = tasks.slice(0, maxSize);
    for (const { scope, taskId } of group) this.#waiting.delete(getTaskKey(scope, taskId));
    return group;
  }
}

/** Returns the task for an attempt in a group. The death of the earlier group excuses its attempt. */
function toGroupMember(task: TaskWithTurn, groupSize: number): ClaimedTask {
  const { turn } = task;
  const hasSharedDeath = turn.groupSize !== undefined && turn.groupSize > 1;
  return { ...task, turn: { ...(hasSharedDeath ? excuseAttempt(turn) : turn), groupSize } };
}

/**
 * Puts the turn first that has most likely killed its node: the turn of the smallest group, then the turn with the most
 * failed attempts, and then the newest task, because older tasks have run for longer without a death. Ids of tasks begin
 * with their time.
 */
function compareSuspects(a: TaskWithTurn, b: TaskWithTurn): number {
  return (
    (a.turn.groupSize ?? Infinity) - (b.turn.groupSize ?? Infinity) ||
    countFailedAttempts(b.turn) - countFailedAttempts(a.turn) ||
    (a.taskId < b.taskId ? 1 : -1)
  );
}
