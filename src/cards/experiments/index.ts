/** Experiments. An experiment runs the roles of a method on a dataset and writes a record file. */
export { A2AVisualizer, saveCardVisualization } from "./card-visualization-text-file.ts";
export { openCassetteFile } from "./cassette-file.ts";
export {
  selectDatasetSamples,
  type Dataset,
  readDataset,
  readGsm8kModelAnswers,
  readQuestions,
} from "./data/index.ts";
export {
  type FileSink,
  openFileSink,
  type FileSinkOptions,
  openRunFile,
  type RunFile,
  type OpenRunFileOptions,
  writeMessageCardListFile,
  readFileWriterState,
  type FileWriterState,
} from "./recorder/index.ts";
export {
  type ExperimentOptions,
  type ExperimentOutcome,
  type ExperimentMethod,
  type ExperimentProgress,
  type FailedSample,
  rescoreRecordLines,
  runExperiment,
} from "./run/index.ts";
