/**
 * Recordings of experiment runs. A run is a traffic record, whose messages contain the message cards. `decodeRecording`
 * reads the message cards, model calls, and scores of such a record.
 */
export type {
  CardA2ARequestInfo,
  CardRecorder,
  CardRecordInput,
  ModelCallRecordInput,
} from "./card-recorder.ts";
export { listCardsInSpecificationFormat, formatCardListFileName } from "./card-list-export.ts";
export { decodeRecordFiles, decodeRecording, decodeRecordLine, type RecordFile } from "./decode-recording.ts";
export { findLineCards, listCardJson } from "./find-line-cards.ts";
export { createRecordingFromCards, decodeMessageCardArray } from "./recorded-cards.ts";
export {
  type RecordedCall,
  type RecordedCard,
  type RecordedSample,
  type Recording,
  RecordingBuilder,
  type TornLine,
} from "./recording.ts";
export type {
  AnswerSourceKind,
  RunEndLine,
  RunLine,
  ScoreLine,
  SkipLine,
} from "../../observe/trace/index.ts";
