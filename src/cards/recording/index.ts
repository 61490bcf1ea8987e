/**
 * Recordings of experiment runs. `createRecorder` writes record lines to a sink, `decodeRecording` reads a
 * record file, and `mergeRecordings` joins the recordings of several processes.
 */
export { getCardKey, isBetterCardLine, mapBestCardLines } from "./best-card-line.ts";
export { listRecordedCards, decodeCards, createRecordingFromCards } from "./recorded-cards.ts";
export { decodeRecordLine, parseRecordLine } from "./decode-record-line.ts";
export { decodeRecording } from "./decode-recording.ts";
export { encodeRecordLine } from "./encode-record-line.ts";
export type {
  ModelCallLine,
  CardTransportInfo,
  CardLine,
  ClockAdjustment,
  EndLine,
  EvidenceKind,
  Recording,
  RecordLine,
  RunLine,
  ScoreLine,
  TornLine,
} from "./record-lines.ts";
export { mergeRecordings, type NamedRecording } from "./merge-recordings.ts";
export { type CardTiming, computeCardTimings, createCardTiming } from "./card-timing.ts";
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
} from "./recorder.ts";
export { toSpecificationCards, formatSpecificationFileName } from "./specification-export.ts";
export { collectScoredSampleIds, type RunSample, collectRunSamples } from "./run-samples.ts";
