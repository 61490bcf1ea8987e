import type { Observer } from "../../../src/engine/index.ts";
import { getEventTaskState, isTerminal } from "../../../src/protocol/index.ts";

/** Counts the tasks of a server whose end is committed. */
export class EndedTaskCounter {
  readonly observer: Observer = {
    onEvent: ({ event }) => {
      const state = getEventTaskState(event.event);
      if (state === undefined || !isTerminal(state)) return;
      this.#count++;
      for (const wake of this.#waiting.splice(0)) wake();
    },
  };
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves once `count` tasks have ended since the start of the server. */
  async waitForCount(count: number): Promise<void> {
    while (this.#count < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
