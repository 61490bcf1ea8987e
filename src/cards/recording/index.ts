/**
 * Recordings of experiment runs. A run is a traffic record, whose messages contain the message cards. `decodeRecording`
 * reads the message cards, model calls, and scores of such a record.
 */
export * from "./card-recorder.ts";
export * from "./decode-recording.ts";
export * from "./recording.ts";
export type {
  AnswerSourceKind,
  RunEndLine,
  RunLine,
  ScoreLine,
  SkipLine,
} from "../../observe/trace/index.ts";
