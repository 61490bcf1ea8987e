import type { RunnerRegistry } from "../runner-registry.ts";
import { createServerClosingError, isChangeByOtherWriter } from "../task-errors.ts";
import type { ActiveTask } from "../active-task.ts";
import type { Acceptance, OtherNodes } from "../other-nodes.ts";
import type { MessageAcceptResult, TurnAcceptResult } from "../task-feed.ts";
import type { TaskStore } from "../task-store.ts";
import type { Turn } from "../turn.ts";
import { answerTaskRequest, type TaskRequestDependencies } from "./answer-task-request.ts";
import type { FollowedTask } from "./followed-task.ts";
import { NodeLink, type NodeLinkOptions } from "./node-link.ts";
import type { NodeStore } from "./node-store.ts";

/** Parts of an engine that its access to other nodes uses. */
interface NodeAccessDependencies {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
}

/** Number of attempts to accept a message. An attempt fails only if another node changes the task at the same time. */
const MAX_ACCEPT_ATTEMPTS = 10;

/** Access of one engine to the tasks whose turns other nodes run. */
export class NodeAccess implements OtherNodes {
  readonly canTakeTurns = true;
  readonly #link: NodeLink;
  readonly #nodes: NodeStore;
  readonly #agentId: string;
  readonly #runners: RunnerRegistry;

  constructor(link: NodeLink, { agentId, store, runners }: NodeAccessDependencies) {
    this.#link = link;
    this.#nodes = store.nodes as NodeStore;
    this.#agentId = agentId;
    this.#runners = runners;
  }

  get refusesRepeatedMessages(): boolean {
    return this.#nodes.hasOtherNodes;
  }

  /** If another node changes the task or stores the message at the same time, tries again. */
  async acceptMessage(tryToAccept: (isRetry: boolean) => Acceptance): Promise<MessageAcceptResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        const accepted = await tryToAccept(attempt > 1);
        if ("turn" in accepted && !accepted.isQueued) await waitUntilDurable(accepted);
        return accepted;
      } catch (error) {
        if (attempt === MAX_ACCEPT_ATTEMPTS || !isChangeByOtherWriter(error)) throw error;
      }
    }
  }

  /**
   * Answers the requests of other nodes for the tasks of the agent. `onWork` is called when a turn may wait for a node
   * that starts agents. The store must be open.
   */
  serve(operations: Omit<TaskRequestDependencies, "runners">, onWork: () => void): void {
    const dependencies = { ...operations, runners: this.#runners };
    this.#link.serveAgent(this.#agentId, (request) => answerTaskRequest(request, dependencies), onWork);
  }

  /** Settles the sender of the message of a turn that this node has handed over, once the turn stops on another node. */
  followHandedOverTurn(runner: ActiveTask, turn: Turn): boolean {
    this.#runners.remove(runner);
    const task = this.#runners.follow(runner).retain();
    void this.#followHandedOverTurn(task, turn)
      .catch((error: unknown) => turn.stoppedTask.reject(error))
      .finally(() => task.release());
    return true;
  }

  async #followHandedOverTurn(task: FollowedTask, turn: Turn): Promise<void> {
    const { startPoint, message, stoppedTask } = turn;
    if (!startPoint) throw createServerClosingError();
    // A reader can have followed the task before the turn began.
    if (task.seq < startPoint.seq) await this.#link.logs.refresh(task);
    const followed = await task.followUnlessStopped(message, startPoint.seq);
    stoppedTask.resolve(followed ? await followed.stoppedTask.promise : task.getSnapshot());
  }

  close(): void {
    this.#link.closeAgent(this.#agentId);
  }
}

async function waitUntilDurable({ feed, turn }: TurnAcceptResult): Promise<void> {
  feed.retain();
  try {
    await turn.durableSeq.promise;
  } finally {
    feed.release();
  }
}

/** The cooperation of the engines of this node with the other nodes of their store. */
export interface NodeCooperation {
  readonly link: NodeLink;
  createAccess(engine: NodeAccessDependencies): NodeAccess;
}

/** Creates the cooperation of a store's nodes, or returns `undefined` if only one process can open the store. */
export function createNodeCooperation(options: NodeLinkOptions): NodeCooperation | undefined {
  const link = NodeLink.create(options);
  return link && { link, createAccess: (engine) => new NodeAccess(link, engine) };
}
