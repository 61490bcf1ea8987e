import type { CardRecorder } from "../../index.ts";
import { parseContextDocuments } from "../../roles/index.ts";

/**
 * A recorder that forwards all records to another recorder. For each problem, the recorder collects the
 * titles of the documents that the planner sent to solvers.
 */
export class SolverDocumentTitleRecorder implements CardRecorder {
  readonly #recorder: CardRecorder;
  readonly #titlesBySample = new Map<string, Set<string>>();

  constructor(recorder: CardRecorder) {
    this.#recorder = recorder;
  }

  recordCard: CardRecorder["recordCard"] = (record) => {
    this.#recorder.recordCard(record);
    const { card, dir, sample_id } = record;
    if (sample_id === undefined || dir !== "out" || card.sender !== "planner" || card.message_type !== "task")
      return;
    const titles = this.#titlesBySample.get(sample_id) ?? new Set();
    const { context } = card.metadata;
    // The context of a task card is an object, because `parse` has validated the card.
    for (const { title } of parseContextDocuments(context as Parameters<typeof parseContextDocuments>[0]))
      titles.add(title);
    this.#titlesBySample.set(sample_id, titles);
  };

  recordModelCall: CardRecorder["recordModelCall"] = (record) => this.#recorder.recordModelCall(record);

  /** Returns the document titles of a problem and removes the problem from memory. */
  takeSampleDocumentTitles(sampleId: string): ReadonlySet<string> {
    const titles = this.#titlesBySample.get(sampleId) ?? new Set();
    this.#titlesBySample.delete(sampleId);
    return titles;
  }
}
