/** Experiments. An experiment runs the roles of a method on a dataset and writes a record file. */
export * from "./public.ts";
export { openCassetteFile } from "./cassette-file.ts";
export { readQuestions, selectDatasetSamples } from "./read-dataset.ts";
export {
  type FileWriterState,
  readFileWriterState,
  type RunRecordInput,
  type ScoreRecordInput,
  type SkipRecordInput,
} from "./recorder/index.ts";
export { rescoreRecordLines } from "./run/index.ts";
