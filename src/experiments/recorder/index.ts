/**
 * THE RECORD AS A FILE: appended to line by line, by one process at a time, and gone on with after a kill. What stands on
 * the lines is `cards/record/`.
 */
export { type FileSink, openFileSink, type FileSinkOptions } from "./file-sink.ts";
export { openRunFile, type RunFile, type RunFileOptions } from "./run-file.ts";
export { writeSpecificationFile } from "./specification-file.ts";
