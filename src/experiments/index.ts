/** EXPERIMENTS: roles over datasets, and the file that a run leaves behind. */
export { A2AVisualizer, saveCardVisualization } from "./a2a-visualizer.ts";
export { cassetteFile } from "./cassette-file.ts";
export { type Choice, choose, type Dataset, readDataset, readRecorded } from "./data/index.ts";
export {
  type FileSink,
  fileSink,
  type FileSinkOptions,
  openRunFile,
  type RunFile,
  type RunFileOptions,
  writeSeedFile,
} from "./recorder/index.ts";
export {
  type ExperimentOptions,
  type ExperimentOutcome,
  type LineUpOptions,
  type Method,
  type Progress,
  runExperiment,
  type ScoreRule,
} from "./run/index.ts";
