import type { Clock } from "../clock.ts";
import type { Committer } from "../committer.ts";
import type { IdGenerator } from "../id-generator.ts";
import type { Observer } from "../observer.ts";
import type { RunnerRegistry } from "../runner-registry.ts";
import { createServerClosingError } from "../task-errors.ts";
import type { ActiveTask } from "../active-task.ts";
import type { TaskStore } from "../task-store.ts";
import type { Turn } from "../turn.ts";
import { answerTaskRequest, type TaskRequestDependencies } from "./answer-task-request.ts";
import { FollowedTask } from "./followed-task.ts";
import { FollowedTurnFinder } from "./followed-turn-finder.ts";
import { NodeLink, type NodeLinkOptions } from "./node-link.ts";
import { OwnerRequests } from "./owner-requests.ts";
import { TurnSubmitter } from "./turn-submitter.ts";

/** Parts of an engine that its access to other nodes uses. */
interface NodeAccessDependencies {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly runners: RunnerRegistry;
  readonly observer: Observer;
  readonly deduplicateMessages: boolean;
  readonly generateId: IdGenerator;
}

/** Access of one engine to the tasks whose turns other nodes run. */
export class NodeAccess {
  readonly ownerRequests: OwnerRequests;
  readonly turnSubmitter: TurnSubmitter;
  readonly followedTurns: FollowedTurnFinder;
  readonly #link: NodeLink;
  readonly #agentId: string;
  readonly #runners: RunnerRegistry;

  constructor(link: NodeLink, dependencies: NodeAccessDependencies) {
    const { agentId, store, runners, generateId } = dependencies;
    this.#link = link;
    this.#agentId = agentId;
    this.#runners = runners;
    this.ownerRequests = new OwnerRequests(link, generateId);
    this.turnSubmitter = new TurnSubmitter({ ...dependencies, link });
    this.followedTurns = new FollowedTurnFinder(store);
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
  followHandedOverTurn(runner: ActiveTask, turn: Turn): void {
    this.#runners.remove(runner);
    void this.#followHandedOverTurn(runner, turn).catch((error: unknown) => turn.stoppedTask.reject(error));
  }

  async #followHandedOverTurn({ scope, taskId }: ActiveTask, turn: Turn): Promise<void> {
    const { startPoint, message, stoppedTask } = turn;
    const task = await this.#runners.openForReading(scope, taskId);
    try {
      if (!(task instanceof FollowedTask) || !startPoint) throw createServerClosingError();
      const followed = await this.followedTurns.followUnlessStopped(task, message, startPoint.seq);
      stoppedTask.resolve(followed ? await followed.stoppedTask.promise : task.getSnapshot());
    } finally {
      task?.release();
    }
  }

  close(): void {
    this.#link.closeAgent(this.#agentId);
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
