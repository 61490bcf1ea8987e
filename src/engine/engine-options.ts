import type { Agent } from "./agent.ts";
import type { Clock } from "./clock.ts";
import type { EngineLimits } from "./engine-limits.ts";
import type { Committer } from "./committer.ts";
import type { IdGenerator } from "./id-generator.ts";
import type { NodeCooperation } from "./nodes/node-access.ts";
import type { Observer } from "./observer.ts";
import type { EnginePushOptions } from "./push-notifications.ts";
import type { RunTracing } from "./run-tracing.ts";
import type { TaskStore } from "./task-store.ts";

export interface EngineOptions {
  readonly agent: Agent;
  /**
   * Id of the agent within its server. The store uses the agent id to separate the tasks of different agents.
   */
  readonly agentId: string;
  /** An open store. Engines that share a store must also share their `committer`. */
  readonly store: TaskStore;
  readonly committer: Committer;
  /**
   * The cooperation with the other nodes of the store. Required for a store with `nodes`. Engines that share a store must
   * also share their `nodeCooperation`.
   */
  readonly nodeCooperation?: NodeCooperation | undefined;
  /** Push notification options. By default, the agent does not support push notifications. */
  readonly push?: EnginePushOptions | undefined;
  /**
   * Whether this node starts agents. If false, the engine commits each message for another node with the same store,
   * which starts the agent. Requires a store with `nodes`. Default: true.
   */
  readonly startsTurns?: boolean;
  readonly observer?: Observer;
  /** Continues the traces of requests in the runs of agents. Default: runs have no spans. */
  readonly runTracing?: RunTracing | undefined;
  readonly clock?: Clock;
  readonly generateId?: IdGenerator;
  readonly limits?: Partial<EngineLimits>;
  /** If true, the engine merges text chunks that wait for the same commit. Default: true. */
  readonly mergeChunks?: boolean;
  /** If true, the engine deduplicates messages by their `messageId` (E10). Default: true. */
  readonly deduplicateMessages?: boolean;
  /**
   * Time limit in milliseconds for a canceled agent to stop. After this time, the engine ignores the agent's
   * output. Default: 5,000 ms.
   */
  readonly cancelGraceMs?: number;
}
