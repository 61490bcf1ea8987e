/**
 * The recording file of a run. One process at a time appends lines to it, and a run that was killed can
 * resume. `src/cards/recording/` defines the lines.
 */
export { type FileSink, openFileSink, type FileSinkOptions } from "./file-sink.ts";
export { openRunFile, type RunFile, type RunFileOptions } from "./run-file.ts";
export { writeSpecificationFile } from "./specification-file.ts";
