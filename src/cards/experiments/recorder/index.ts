/**
 * Functions that read and write the record file of an experiment run. Only one process at a time can append
 * to a record file. A killed run can be resumed. The record file is a traffic record.
 */
export { type FileSink, openFileSink, type FileSinkOptions } from "./file-sink.ts";
export { type FileWriterState, readFileWriterState } from "./file-lock.ts";
export { openRunFile, type RunFile, type OpenRunFileOptions } from "./run-file.ts";
export { writeMessageCardListFile } from "./message-card-list-file.ts";
export {
  createMemorySink,
  createRunRecorder,
  type RunRecorder,
  type RunRecorderOptions,
  type RunRecordInput,
  type RunSink,
  type ScoreRecordInput,
  type SkipRecordInput,
} from "./run-recorder.ts";
