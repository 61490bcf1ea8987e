import type { Recorder } from "../../cards/index.ts";
import { documentsOf } from "../../roles/index.ts";

/** Passes on what is recorded, and notes for each problem the titles of the documents that its planner sent to solvers. */
export class ShownDocuments implements Recorder {
  readonly #recorder: Recorder;
  readonly #titles = new Map<string, Set<string>>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  card: Recorder["card"] = (seen) => {
    this.#recorder.card(seen);
    const { card, dir, sample_id } = seen;
    if (sample_id === undefined || dir !== "out" || card.sender !== "planner" || card.message_type !== "task")
      return;
    const titles = this.#titles.get(sample_id) ?? new Set();
    const { context } = card.metadata;
    // A task card's context is an object; `parse` has seen to it.
    for (const { title } of documentsOf(context as Parameters<typeof documentsOf>[0])) titles.add(title);
    this.#titles.set(sample_id, titles);
  };

  call: Recorder["call"] = (seen) => this.#recorder.call(seen);

  /** The titles of a problem, which are forgotten then. */
  take(sampleId: string): ReadonlySet<string> {
    const titles = this.#titles.get(sampleId) ?? new Set();
    this.#titles.delete(sampleId);
    return titles;
  }
}
