import type { IdGenerator } from "../id-generator.ts";
import type { RunnerRegistry } from "../runner-registry.ts";
import { createServerClosingError } from "../task-errors.ts";
import type { ActiveTask } from "../active-task.ts";
import type { TaskStore } from "../task-store.ts";
import type { Turn } from "../turn.ts";
import { answerTaskRequest, type TaskRequestDependencies } from "./answer-task-request.ts";
import type { FollowedTask } from "./followed-task.ts";
import { FollowedTurnFinder } from "./followed-turn-finder.ts";
import { NodeLink, type NodeLinkOptions } from "./node-link.ts";
import { OwnerRequests } from "./owner-requests.ts";

/** Parts of an engine that its access to other nodes uses. */
interface NodeAccessDependencies {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
  readonly generateId: IdGenerator;
}

/** Access of one engine to the tasks whose turns other nodes run. */
export class NodeAccess {
  readonly ownerRequests: OwnerRequests;
  readonly followedTurns: FollowedTurnFinder;
  readonly #link: NodeLink;
  readonly #agentId: string;
  readonly #runners: RunnerRegistry;

  constructor(link: NodeLink, { agentId, store, runners, generateId }: NodeAccessDependencies) {
    this.#link = link;
    this.#agentId = agentId;
    this.#runners = runners;
    this.ownerRequests = new OwnerRequests(link, generateId);
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
    const task = this.#runners.follow(runner).retain();
    void this.#followHandedOverTurn(task, turn)
      .catch((error: unknown) => turn.stoppedTask.reject(error))
      .finally(() => task.release());
  }

  async #followHandedOverTurn(task: FollowedTask, turn: Turn): Promise<void> {
    const { startPoint, message, stoppedTask } = turn;
    if (!startPoint) throw createServerClosingError();
    // A reader can have followed the task before the turn began.
    if (task.seq < startPoint.seq) await this.#link.logs.refresh(task);
    const followed = await this.followedTurns.followUnlessStopped(task, message, startPoint.seq);
    stoppedTask.resolve(followed ? await followed.stoppedTask.promise : task.getSnapshot());
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
