import {
  type Clock,
  systemClock,
  type TaskScope,
  createServerClosingError,
  isChangeByOtherWriter,
  type ActiveTask,
  type Acceptance,
  type OtherNodes,
  type MessageAcceptResult,
  type TaskFeed,
  type TurnAcceptResult,
  type TaskStore,
  type Turn,
  type FollowableTask,
  type NodeCooperation,
  type OwnedTaskOperations,
} from "../engine/index.ts";
import { answerRequest } from "./owner-requests.ts";
import type { FollowedTask } from "./followed-task.ts";
import { NodeLink, type NodeLinkOptions } from "./node-link.ts";
import { Poller } from "./poller.ts";

/** Number of attempts to accept a message. An attempt fails only if another node changes the task at the same time. */
const MAX_ACCEPT_ATTEMPTS = 10;

/** Access of one engine to the tasks whose turns other nodes run. */
class NodeAccess implements OtherNodes {
  readonly isStoreShared = true;
  readonly #link: NodeLink;
  readonly #agentId: string;
  readonly #store: TaskStore;
  readonly #clock: Clock;
  #waitingTurnPoller: Poller | undefined;

  constructor(link: NodeLink, clock: Clock, { agentId, store }: Parameters<NodeCooperation>[0]) {
    this.#link = link;
    this.#agentId = agentId;
    this.#store = store;
    this.#clock = clock;
  }

  get areAlive(): boolean {
    return this.#link.nodes.hasOtherNodes;
  }

  get leaseMs(): number {
    return this.#link.nodes.leaseMs;
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
   * Answers the requests of other nodes for the tasks of the agent, and starts turns that wait for a node. The store must
   * be open.
   */
  serve(operations: OwnedTaskOperations): void {
    this.#waitingTurnPoller = new Poller(
      this.#clock,
      async () => void (await operations.startWaitingTurns()),
      () => (operations.startsTurns() ? this.#store.turns?.waitingTurnPollMs : undefined),
    );
    this.#link.serveAgent(
      this.#agentId,
      (request) => answerRequest(request, operations),
      () => this.#waitingTurnPoller?.wake(),
    );
    this.#waitingTurnPoller.update();
  }

  readonly onTurnStart = ({ scope, taskId }: ActiveTask): void =>
    this.#link.logs.find(scope, taskId)?.markMoved();

  readonly announceCommit = (taskId: string): void => this.#link.announceCommit(taskId);

  readonly announceTurn = (taskId: string): void => {
    this.#link.announceCommit(taskId);
    this.#link.notifyWork();
  };

  findRunning(scope: TaskScope, taskId: string): FollowedTask | undefined {
    const task = this.#link.logs.find(scope, taskId);
    return task?.hasUnfinishedTurn && !task.hasMoved ? task : undefined;
  }

  async refreshFollowed(scope: TaskScope, taskId: string): Promise<FollowedTask | undefined> {
    const task = this.#link.logs.find(scope, taskId)?.retain();
    if (!task) return undefined;
    task.hasMoved = false;
    try {
      await this.#link.logs.refresh(task);
    } catch (error) {
      task.release();
      throw error;
    }
    return task;
  }

  follow(
    scope: TaskScope,
    stored: FollowableTask,
    reopen: () => Promise<TaskFeed | undefined>,
  ): FollowedTask {
    return this.#link.logs.follow(scope, stored, reopen);
  }

  followHandedOverTurn(active: ActiveTask, turn: Turn): void {
    const { scope, seq } = active;
    const stored = { task: active.getSnapshot(), seq, awaitsRecovery: false, runsOnOtherNode: true };
    const task = this.follow(scope, stored, () => active.reopen()).retain();
    void this.#followHandedOverTurn(task, turn)
      .catch((error: unknown) => turn.stoppedTask.reject(error))
      .finally(() => task.release());
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
    this.#waitingTurnPoller?.stop(createServerClosingError());
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

/** Creates the cooperation of a store's nodes, or returns `undefined` if only one process can open the store. */
export function createNodeCooperation(options: NodeLinkOptions): NodeCooperation | undefined {
  const link = NodeLink.create(options);
  return link && ((engine) => new NodeAccess(link, options.clock ?? systemClock, engine));
}
