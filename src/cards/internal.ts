/**
 * THE BACK DOOR OF CARDS: what other rooms of the house need and no user does. The package does not export it, so that
 * `index.ts` stays small and this may change with any release.
 */
export {
  cardInMetadata,
  type Envelope,
  envelopeOf,
  isTraceparent,
  MAX_HOPS,
  nextTraceparent,
  toCardMetadata,
  toEnvelopeMetadata,
} from "./a2a/index.ts";
export { cut } from "./card/index.ts";
export { liveHtmlOf } from "./html/index.ts";
export { batchSteps, oracleAnswer, oraclePlan, type OracleStep, writeNumber } from "./oracle/index.ts";
export { decodeLine, doneSamples, momentsOf, readLine, seedFileName } from "./record/index.ts";
export { wordsOf } from "./retrieval/index.ts";
export { lastNumber, strictAnswer } from "./scoring/index.ts";
export { criticalPathOf, seeded } from "./statistics/index.ts";
export { fit, widthOf } from "./views/index.ts";
