import type { TaskScope } from "./caller.ts";
import type { IdGenerator } from "./id-generator.ts";
import type { LiveTaskDependencies } from "./live-task-dependencies.ts";
import type { QueuedTurnData } from "./queued-turn-data.ts";
import type { ReplaceableAgent } from "./replaceable-agent.ts";
import type { RunTracing } from "./run-tracing.ts";
import type { TaskFeed } from "./task-feed.ts";
import type { TaskLease } from "./task-leases.ts";
import type { LogAppend } from "./task-store.ts";
import type { Turn } from "./turn.ts";

/** Dependencies that the turns of all tasks of an engine share. */
export interface TurnDependencies extends LiveTaskDependencies {
  readonly agent: ReplaceableAgent;
  readonly generateId: IdGenerator;
  /** Returns false if this node starts no agents. */
  readonly startsTurns: () => boolean;
  /** Time limit in milliseconds for a canceled agent to stop. */
  readonly cancelGraceMs: number;
  /** Creates the turn of a message that an earlier server process queued. */
  readonly restoreQueuedTurn: (scope: TaskScope, queued: QueuedTurnData) => Turn;
  /**
   * Called when the runner abandons a turn that has not ended, so that the turn can be recovered. The agent has
   * stopped, or has ignored the signal to stop for `cancelGraceMs`. `handover` is the append that releases the lease
   * of a turn that a later process continues.
   */
  readonly releaseLease: (lease: TaskLease, handover?: LogAppend) => void;
  /** Continues the traces of requests in the runs of agents. */
  readonly runTracing?: RunTracing | undefined;
  /** Called before an agent starts. */
  readonly onRunStart: () => void;
  /** True if other nodes can open the store, and continue the tasks. */
  readonly isShared: boolean;
  /** Resolves with the current feed of a task. Absent if the store is not shared. */
  readonly openForReading?: ((scope: TaskScope, taskId: string) => Promise<TaskFeed | undefined>) | undefined;
}
