import type { AdkEvent } from "../types.ts";

/**
 * Puts the end of a turn onto the last thing that was said in it, when the end itself says nothing: ADK's `AgentTool`
 * takes the last event for the answer. Therefore an event that is kept waits for the one that follows it.
 */
export class LastWord {
  #waiting: AdkEvent | undefined;

  *pass(events: readonly AdkEvent[]): Generator<AdkEvent, void, undefined> {
    for (const event of events) {
      const before = this.#waiting;
      this.#waiting = undefined;
      if (before && isBareEnd(event)) {
        yield { ...before, ...event, customMetadata: { ...before.customMetadata, ...event.customMetadata } };
        continue;
      }
      if (before) yield before;
      if (event.partial || event.turnComplete || !event.content) yield event;
      else this.#waiting = event;
    }
  }

  *rest(): Generator<AdkEvent, void, undefined> {
    if (this.#waiting) yield this.#waiting;
    this.#waiting = undefined;
  }
}

function isBareEnd({ turnComplete, content, errorCode, errorMessage }: AdkEvent): boolean {
  return turnComplete === true && !content && errorCode === undefined && errorMessage === undefined;
}
