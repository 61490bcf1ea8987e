import type { CardRecorder, CardRecordInput, MessageCard, ModelCallRecordInput } from "../../index.ts";

/** Forwards the reports of the roles to a recorder, and collects the message cards of each unfinished problem. */
export class SampleCardCollector implements CardRecorder {
  readonly #recorder: CardRecorder;
  readonly #cardsBySample = new Map<string, MessageCard[]>();

  constructor(recorder: CardRecorder) {
    this.#recorder = recorder;
  }

  readonly recordCard = (input: CardRecordInput): void => {
    this.#recorder.recordCard(input);
    const { sample_id, card } = input;
    if (sample_id === undefined) return;
    const cards = this.#cardsBySample.get(sample_id) ?? [];
    this.#cardsBySample.set(sample_id, cards);
    cards.push(card);
  };

  readonly recordModelCall = (input: ModelCallRecordInput): void => this.#recorder.recordModelCall(input);

  /** Returns the message cards of a problem, some of them twice, and removes them from memory. */
  takeCards(sampleId: string): readonly MessageCard[] {
    const cards = this.#cardsBySample.get(sampleId) ?? [];
    this.#cardsBySample.delete(sampleId);
    return cards;
  }
}
