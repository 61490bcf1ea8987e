/**
 * THE RECORD: what a run leaves behind, line by line. `createRecorder` writes it to a sink, `decodeRecording` reads it,
 * `mergeRecordings` joins what several processes wrote, and the rest asks it: for its cards, its problems, its times.
 */
export { cardsOf, decodeCards, recordingOfCards } from "./cards-of.ts";
export { decodeLine, readLine } from "./decode-line.ts";
export { type DecodeOptions, decodeRecording } from "./decode-recording.ts";
export { encodeLine } from "./encode-line.ts";
export type {
  CallLine,
  CardCarrier,
  CardLine,
  Clock,
  EndLine,
  Recording,
  RecordLine,
  RunLine,
  ScoreLine,
  TornLine,
} from "./lines.ts";
export { mergeRecordings, type NamedRecording } from "./merge-recordings.ts";
export { type Moments, momentsOf } from "./moments.ts";
export {
  type CallSeen,
  type CardSeen,
  createRecorder,
  memorySink,
  type Recorder,
  type RecorderOptions,
  type RecordSink,
  type RunRecorder,
  type RunSeen,
  type ScoreSeen,
} from "./recorder.ts";
export { exportSeed, seedFileName } from "./seed-export.ts";
export { doneSamples, type RunSample, samplesOf } from "./samples-of.ts";
