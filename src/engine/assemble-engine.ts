import type { Task } from "../protocol/index.ts";
import { AgentRun } from "./agent-run.ts";
import type { Quota } from "../base/data-structures/index.ts";
import type { TaskScope } from "./caller.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createCallerQuota, type EngineLimits, resolveEngineLimits } from "./engine-limits.ts";
import { generateUuidV7, type IdGenerator } from "./id-generator.ts";
import { MessageAcceptor } from "./message-acceptor.ts";
import { NO_OTHER_NODES, type NodeCooperation, type OtherNodes } from "./other-nodes.ts";
import { type Observer, type RunTracing, withSafeListeners } from "./observer.ts";
import type { EnginePushOptions, PushConfigOperations } from "./push-notifications.ts";
import type { QueuedTurnData } from "./turn-restart-data.ts";
import { ReplaceableAgent } from "./replaceable-agent.ts";
import { RequestWaitLimit } from "./store-health.ts";
import { createServerClosingError } from "./task-errors.ts";
import { TaskRegistry } from "./task-registry.ts";
import type { LogAppend, TaskStore, TaskLease } from "./task-store.ts";
import { TaskRecovery } from "./task-recovery.ts";
import type { ActiveTask } from "./active-task.ts";
import { TurnAdmission, TurnFactory } from "./turn-factory.ts";
import { type TurnLimits, TurnWatch } from "./turn-limits.ts";
import type { Turn } from "./turn.ts";
import type { Agent } from "./agent.ts";
import type { Committer } from "./committer.ts";

export interface EngineOptions extends TurnLimits {
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

/** The state of an engine that its parts read. */
export interface EngineState {
  isClosing: boolean;
  /** False if the engine starts no agents, because other nodes start them. */
  startsTurns: boolean;
  /** Number of agent runs that the engine has started. */
  startedRunCount: number;
}

/** The parts of an engine. */
export interface EngineParts {
  readonly agent: ReplaceableAgent;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly requestWaitLimit: RequestWaitLimit;
  readonly streamQuota: Quota;
  readonly tasks: TaskRegistry;
  readonly messageAcceptor: MessageAcceptor;
  readonly recovery: TaskRecovery;
  readonly otherNodes: OtherNodes;
  /** Absent if the agent does not support push notifications. */
  readonly pushConfigs: PushConfigOperations | undefined;
}

/** Creates and connects the parts of an engine. */
export function assembleEngine(options: EngineOptions, state: EngineState): EngineParts {
  const { agentId, store, committer, push, generateId = generateUuidV7, clock = systemClock } = options;
  const limits = resolveEngineLimits(options.limits);
  const agent = new ReplaceableAgent(options.agent, limits.queuedTurns);
  const observer = withSafeListeners(options.observer ?? {});
  const otherNodes = options.nodeCooperation?.({ agentId, store }) ?? NO_OTHER_NODES;
  const { isStoreShared } = otherNodes;
  const taskContext = {
    agent,
    store,
    committer,
    clock,
    generateId,
    observer,
    runTracing: options.runTracing,
    isShared: isStoreShared,
    otherNodes,
    mergeChunks: options.mergeChunks ?? true,
    deduplicateMessages: options.deduplicateMessages ?? true,
    taskSizeLimit: limits.taskSize,
    cancelGraceMs: options.cancelGraceMs ?? 5000,
    turnWatch: new TurnWatch(clock, options),
    outbox: push?.outbox,
    restoreQueuedTurn: (scope: TaskScope, queued: QueuedTurnData) =>
      turnFactory.restoreQueuedTurn(scope, queued),
    releaseLease: (lease: TaskLease, handover?: LogAppend) => recovery.releaseLease(lease, handover),
    startsTurns: () => state.startsTurns,
    onRunStart: (): void => void state.startedRunCount++,
    createRun: (turn: Turn, startTask: Task) => new AgentRun(turn, startTask, runContext),
    followHandedOverTurn: (task: ActiveTask, turn: Turn): boolean => {
      if (state.isClosing || !isStoreShared) return false;
      tasks.remove(task);
      otherNodes.followHandedOverTurn(task, turn);
      return true;
    },
  };
  const tasks = new TaskRegistry(taskContext, otherNodes, () => recovery.requestPass());
  const runContext = { clock, store, tasks };
  const turnAdmission = new TurnAdmission(limits);
  const turnFactory = new TurnFactory(turnAdmission, taskContext);
  push?.outbox.onWebhookFound((scope, taskId) => {
    const task = tasks.find(scope, taskId);
    if (task) task.mayHaveWebhooks = true;
  });
  const requestWaitLimit = new RequestWaitLimit(store.health, clock);
  const messageAcceptor = new MessageAcceptor({
    ...taskContext,
    tasks,
    turnFactory,
    limits,
    requestWaitLimit,
    assertOpen: () => assertEngineOpen(state),
  });
  const recovery = new TaskRecovery({
    ...taskContext,
    agentId,
    tasks,
    turnAdmission,
    turnFactory,
    turnAttempts: limits.turnAttempts,
    // The last commits of a stopped node can have ended tasks whose webhooks no node delivers to.
    onNodesLost: () => void (isStoreShared && push?.outbox.searchAllWebhooks()),
  });
  return {
    agent,
    clock,
    limits,
    requestWaitLimit,
    streamQuota: createCallerQuota("limits.streams", "open streams", limits.streams),
    tasks,
    messageAcceptor,
    recovery,
    otherNodes,
    pushConfigs: push?.createConfigOperations(agentId, generateId),
  };
}

export function assertEngineOpen({ isClosing }: EngineState): void {
  if (isClosing) throw createServerClosingError();
}
