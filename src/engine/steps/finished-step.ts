/**
 * A finished step of a running turn. The store keeps the step until the turn ends, so that a later attempt at the turn
 * does not execute the step again. Stores treat `turnSeq`, `key`, and `json` as opaque.
 */
export interface FinishedStep {
  /** Sequence number of the message that began the turn. */
  readonly turnSeq: number;
  /** Key of the step, which is unique in its turn. */
  readonly key: string;
  /** JSON object with the result of the step as its member `result`. The member is absent for `undefined`. */
  readonly json: string;
}
