import type { RunnerRegistry } from "../runner-registry.ts";
import { createServerClosingError } from "../task-errors.ts";
import type { TaskRunner } from "../task-runner.ts";
import type { TaskStore } from "../task-store.ts";
import type { Turn } from "../turn.ts";
import { FollowedTask } from "./followed-task.ts";
import { FollowedTurn, hasTurnStopped } from "./followed-turn.ts";

/**
 * Follows turns that this node has handed over to other nodes, so that the senders of their messages still receive the
 * result from this node.
 */
export class TurnHandover {
  readonly #store: TaskStore;
  readonly #runners: RunnerRegistry;

  constructor(store: TaskStore, runners: RunnerRegistry) {
    this.#store = store;
    this.#runners = runners;
  }

  /** Settles the sender of the turn's message once the turn stops on another node. */
  followTurn(runner: TaskRunner, turn: Turn): void {
    this.#runners.remove(runner);
    void this.#followTurn(runner, turn).catch((error: unknown) => turn.stoppedTask.reject(error));
  }

  async #followTurn({ liveTask: { scope, taskId } }: TaskRunner, turn: Turn): Promise<void> {
    const { startPoint } = turn;
    const task = await this.#runners.openForReading(scope, taskId);
    if (!(task instanceof FollowedTask) || !startPoint) {
      task?.release();
      throw createServerClosingError();
    }
    const followed = new FollowedTurn(turn.message);
    task.followTurn(followed);
    task.release();
    const readSeq = task.seq;
    followed.beginAtKnownSeq(startPoint.seq, startPoint.task);
    if (await hasTurnStopped(this.#store, task, startPoint.seq, readSeq)) {
      task.unfollowTurn(followed);
      turn.stoppedTask.resolve(task.getSnapshot());
    } else turn.stoppedTask.resolve(await followed.stoppedTask.promise);
  }
}
