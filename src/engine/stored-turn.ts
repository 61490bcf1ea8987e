import { isTerminal, type TaskState } from "../protocol/index.ts";
import type { UncommittedSteps } from "./steps/turn-steps.ts";
import type { LogAppend } from "./task-store.ts";
import type { TurnRestartData } from "./turn-restart-data.ts";

/** The running turn of a task in the store: whether the store has it, and which data of the turn the store lacks. */
export class StoredTurn {
  /** Value of `hasRunningTurn` in the store. */
  #isRunning: boolean;
  /** The turn to persist for as long as the turn is running. */
  #restartData: TurnRestartData | undefined;
  #isPersisted = false;
  /** The steps of the running turn, once the turn has finished a step. */
  #steps: UncommittedSteps | undefined;

  constructor(isRunning: boolean) {
    this.#isRunning = isRunning;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Sets the turn of a task that this node has claimed. The store has a running turn for every claimed task, also if this
   * node has loaded the task before that turn.
   */
  setClaimed(turn: TurnRestartData | undefined): void {
    this.#isRunning = true;
    if (turn) this.persist(turn, undefined);
    this.#isPersisted = turn !== undefined;
  }

  /** Adds the turn and its finished steps to the next append, and keeps them in the store until the turn ends. */
  persist(turn: TurnRestartData | undefined, steps: UncommittedSteps | undefined): void {
    this.#restartData = turn;
    this.#isPersisted = false;
    this.#steps = steps;
  }

  setSteps(steps: UncommittedSteps): void {
    this.#steps = steps;
  }

  /**
   * Returns the new value of `hasRunningTurn`, or `undefined` if the store has the value. A task that waits at
   * INPUT_REQUIRED has no running turn even while its agent still runs, because only a message can continue
   * the task. At AUTH_REQUIRED, the agent may continue without a message (A2A §7.6.1).
   */
  getChange(
    state: TaskState | undefined,
    turns: { readonly mustKeepTurnInStore: boolean },
  ): boolean | undefined {
    const canContinue = state !== undefined && !isTerminal(state) && state !== "TASK_STATE_INPUT_REQUIRED";
    const isRunning = canContinue && turns.mustKeepTurnInStore;
    return isRunning === this.#isRunning ? undefined : isRunning;
  }

  /** Returns the members of the next append that change the running turn in the store. */
  takeChange(
    state: TaskState,
    turns: { readonly mustKeepTurnInStore: boolean },
  ): Pick<LogAppend, "hasRunningTurn" | "turn" | "steps"> {
    const hasRunningTurn = this.getChange(state, turns);
    const data = this.#takeData(hasRunningTurn);
    return hasRunningTurn === undefined ? data : { hasRunningTurn, ...data };
  }

  /** Returns the turn and its finished steps if the store lacks them, or a `turn` of `null` if the turn has ended. */
  #takeData(hasRunningTurn: boolean | undefined): Pick<LogAppend, "turn" | "steps"> {
    if (!this.#restartData) return {};
    if (hasRunningTurn === false) {
      this.#isPersisted = false;
      this.#steps?.markAllUnstored();
      return { turn: null };
    }
    if (!(hasRunningTurn ?? this.#isRunning)) return {};
    const steps = this.#steps?.takeUnstored() ?? [];
    const stepChange = steps.length > 0 ? { steps } : {};
    if (this.#isPersisted) return stepChange;
    this.#isPersisted = true;
    return { turn: this.#restartData, ...stepChange };
  }

  /** Returns the data with which any node continues the turn at the time `wakeAt`, or `undefined` without a persisted turn. */
  findHandoverData(wakeAt: number | undefined): TurnRestartData | undefined {
    if (!this.#isRunning || !this.#restartData) return undefined;
    // The span of the attempt has ended.
    const { runStartedAt: _ended, ...turn } = this.#restartData;
    return { ...turn, handovers: (turn.handovers ?? 0) + 1, ...(wakeAt === undefined ? {} : { wakeAt }) };
  }

  onCommitted({ hasRunningTurn }: LogAppend): void {
    this.#isRunning = hasRunningTurn ?? this.#isRunning;
  }
}
