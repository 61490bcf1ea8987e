import type { TaskScope } from "./caller.ts";
import { systemClock, type Clock } from "./clock.ts";
import { resolveEngineLimits, type EngineLimits } from "./engine-limits.ts";
import type { EngineOptions } from "./engine-options.ts";
import { generateUuidV7 } from "./id-generator.ts";
import { MessageAcceptor } from "./message-acceptor.ts";
import type { NodeAccess } from "./nodes/node-access.ts";
import { withSafeListeners } from "./observer.ts";
import { createEnginePushConfigs } from "./push/create-engine-push-configs.ts";
import type { PushConfigOperations } from "./push/push-config-operations.ts";
import type { QueuedTurnData } from "./turn-restart-data.ts";
import { ReplaceableAgent } from "./replaceable-agent.ts";
import { listInterruptedTasks, loadReferencedTasks } from "./related-tasks.ts";
import { RequestWaitLimit } from "./request-wait-limit.ts";
import { RunnerRegistry } from "./runner-registry.ts";
import { StreamLimit } from "./stream-limit.ts";
import { createServerClosingError } from "./task-errors.ts";
import type { TaskLease } from "./task-leases.ts";
import { TaskRecovery } from "./task-recovery.ts";
import type { ActiveTask } from "./active-task.ts";
import type { LogAppend } from "./task-store.ts";
import { TurnAdmission } from "./turn-admission.ts";
import { TurnFactory } from "./turn-factory.ts";
import type { Turn } from "./turn.ts";

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
  readonly streamLimit: StreamLimit;
  readonly runners: RunnerRegistry;
  readonly messageAcceptor: MessageAcceptor;
  readonly recovery: TaskRecovery;
  /** Absent if only this process can open the store. */
  readonly nodes: NodeAccess | undefined;
  /** Absent if the agent does not support push notifications. */
  readonly pushConfigs: PushConfigOperations | undefined;
}

/** Creates and connects the parts of an engine. */
export function assembleEngine(options: EngineOptions, state: EngineState): EngineParts {
  const { agentId, store, committer, push, generateId = generateUuidV7, clock = systemClock } = options;
  const { deduplicateMessages = true } = options;
  const limits = resolveEngineLimits(options.limits);
  const agent = new ReplaceableAgent(options.agent, limits.queuedTurns);
  const observer = withSafeListeners(options.observer ?? {});
  const link = options.nodeCooperation?.link;
  const startsTurns = (): boolean => state.startsTurns;
  const runnerContext = {
    agent,
    store,
    committer,
    clock,
    generateId,
    observer,
    runTracing: options.runTracing,
    isShared: link !== undefined,
    mergeChunks: options.mergeChunks ?? true,
    deduplicateMessages,
    taskSizeLimit: limits.taskSize,
    cancelGraceMs: options.cancelGraceMs ?? 5000,
    outbox: push?.outbox,
    restoreQueuedTurn: (scope: TaskScope, queued: QueuedTurnData) =>
      turnFactory.restoreQueuedTurn(scope, queued),
    releaseLease: (lease: TaskLease, handover?: LogAppend) => recovery.releaseLease(lease, handover),
    startsTurns,
    onRunStart: (): void => void state.startedRunCount++,
    loadReferencedTasks: (scope: TaskScope, turn: Turn) => loadReferencedTasks(store, runners, scope, turn),
    listInterruptedTasks: (scope: TaskScope, turn: Turn) => listInterruptedTasks(store, runners, scope, turn),
    followHandedOverTurn: (runner: ActiveTask, turn: Turn): boolean => {
      if (!nodes || state.isClosing) return false;
      nodes.followHandedOverTurn(runner, turn);
      return true;
    },
    onCommit: link && ((taskId: string) => link.notifyCommit(taskId)),
  };
  const runners = new RunnerRegistry(runnerContext, link, {
    requestPass: () => recovery.requestPass(),
    isWaitingSuspect: (scope, taskId) => recovery.isWaitingSuspect(scope, taskId),
  });
  const turnAdmission = new TurnAdmission(limits);
  const turnFactory = new TurnFactory(turnAdmission, runnerContext);
  const parts = { agentId, store, committer, clock, runners, observer, deduplicateMessages, generateId };
  const nodes = options.nodeCooperation?.createAccess(parts);
  push?.outbox.onWebhookFound((scope, taskId) => {
    const runner = runners.findLive(scope, taskId);
    if (runner) runner.mayHaveWebhooks = true;
  });
  const requestWaitLimit = new RequestWaitLimit(store.health, clock);
  const messageAcceptor = new MessageAcceptor({
    agent,
    store,
    runners,
    turnAdmission,
    turnFactory,
    generateId,
    limits,
    requestWaitLimit,
    deduplicateMessages,
    nodes,
    startsTurns,
    assertOpen: () => assertEngineOpen(state),
  });
  const recovery = new TaskRecovery({
    agent,
    agentId,
    store,
    runners,
    turnAdmission,
    turnFactory,
    turnAttempts: limits.turnAttempts,
    clock,
    observer,
    startsTurns,
    // The last commits of a stopped node can have ended tasks whose webhooks no node delivers to.
    onNodesLost: () => void (link && push?.outbox.loadDueWebhooks()),
  });
  return {
    agent,
    clock,
    limits,
    requestWaitLimit,
    streamLimit: new StreamLimit(limits.streams),
    runners,
    messageAcceptor,
    recovery,
    nodes,
    pushConfigs: push && createEnginePushConfigs(push, { agentId, store, runners, generateId }),
  };
}

export function assertEngineOpen({ isClosing }: EngineState): void {
  if (isClosing) throw createServerClosingError();
}
