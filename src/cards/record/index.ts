/** THE RECORD: what a run leaves behind, line by line. */
export type {
  CallLine,
  CardCarrier,
  CardLine,
  EndLine,
  Recording,
  RecordLine,
  RunLine,
  ScoreLine,
} from "./lines.ts";
export type { CallSeen, CardSeen, Recorder } from "./recorder.ts";
