/**
 * Recordings of experiment runs. `createRecorder` writes record lines to a sink, `decodeRecording` reads a
 * record file, and `mergeRecordings` joins the recordings of several processes.
 */
export {
  getCardDeduplicationKey,
  isMoreReliableCardLine,
  mapMostReliableLinesByCardKey,
} from "./most-reliable-card-line.ts";
export {
  listDistinctRecordedCards,
  decodeMessageCardArray,
  createRecordingFromCards,
} from "./recorded-cards.ts";
export { decodeRecordLine, decodeRecordLineFromJsonValue } from "./decode-record-line.ts";
export { decodeRecording } from "./decode-recording.ts";
export { encodeRecordLine } from "./encode-record-line.ts";
export type {
  ModelCallLine,
  CardA2ARequestInfo,
  CardLine,
  RunEndLine,
  AnswerSourceKind,
  Recording,
  RecordLine,
  RunLine,
  ScoreLine,
  SkipLine,
  TornLine,
} from "./record-line-types.ts";
export { mergeRecordings, type NamedRecording } from "./merge-recordings.ts";
export {
  type CardTransitTimes,
  computeCardTransitTimes,
  cardLineToTransitTimes,
} from "./card-transit-times.ts";
export {
  type ModelCallRecordInput,
  type CardRecordInput,
  createRecorder,
  createMemorySink,
  type CardRecorder,
  type RecorderOptions,
  type RecordSink,
  type RunRecorder,
  type RunRecordInput,
  type ScoreRecordInput,
  type SkipRecordInput,
} from "./recorder.ts";
export { listCardsInSpecificationFormat, formatCardListFileName } from "./card-list-export.ts";
export { collectFinishedSampleIds, type RecordedSample, collectRecordedSamples } from "./recorded-samples.ts";
