import { type Card, CONTROLLER, type ErrorCard, type Recorder, type ResultCard } from "../../cards/index.ts";

/**
 * The reply says nothing of the method: a model or an agent could not be had, or somebody other than the run stopped it.
 * The same again, later, may be answered.
 */
export function isOutOfReach({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  const { error_type, retryable } = metadata as { error_type?: unknown; retryable?: unknown };
  // Also of a planner that still had something: it was not given its time.
  if (error_type === "cancelled") return true;
  if (message_type !== "error" || retryable !== true) return false;
  return error_type === "model_error" || error_type === "transport_error";
}

interface Problem {
  /** What the tasks ask that were delegated, by their ids. A task that is tried again asks the same. */
  readonly asked: Map<string, string>;
  /** What nobody could be reached for, and why. */
  readonly lost: Map<string, string>;
}

/**
 * Passes on what is recorded, and notes for each problem whether a subtask came to nothing, in all of its tries, because
 * whoever was to do it was out of reach. A planner makes the best of that; its answer is none of the method's.
 */
export class Unreached implements Recorder {
  readonly #recorder: Recorder;
  readonly #problems = new Map<string, Problem>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  card: Recorder["card"] = (seen) => {
    this.#recorder.card(seen);
    if (seen.sample_id !== undefined) this.#note(seen.sample_id, seen.card);
  };

  call: Recorder["call"] = (seen) => this.#recorder.call(seen);

  /** Why, when there is such a subtask. The problem is forgotten then. */
  take(sampleId: string): string | undefined {
    const [why] = this.#problems.get(sampleId)?.lost.values() ?? [];
    this.#problems.delete(sampleId);
    return why;
  }

  #note(sampleId: string, card: Card): void {
    const { sender, recipient, message_type, metadata, content } = card;
    if (message_type === "task") {
      if (sender === CONTROLLER || metadata.card_id === undefined) return;
      const problem = this.#problems.get(sampleId) ?? { asked: new Map(), lost: new Map() };
      this.#problems.set(sampleId, problem);
      problem.asked.set(metadata.card_id, JSON.stringify([recipient, metadata.turn, content]));
      return;
    }
    if (message_type !== "result" && message_type !== "error") return;
    const problem = this.#problems.get(sampleId);
    const what = problem?.asked.get(metadata.in_reply_to ?? "");
    if (!problem || what === undefined) return;
    if (isOutOfReach(card as ResultCard | ErrorCard)) problem.lost.set(what, content);
    else problem.lost.delete(what);
  }
}
