/**
 * Functions that read and write the record file of an experiment run. Only one process at a time can append
 * to a record file. A killed run can be resumed. The record file is a traffic record.
 */
export * from "./file-sink.ts";
export * from "./run-recorder.ts";
