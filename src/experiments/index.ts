/** Experiments, which run the roles of a method over a dataset and write a record file. */
export { A2AVisualizer, saveCardVisualization } from "./a2a-visualizer.ts";
export { openCassetteFile } from "./cassette-file.ts";
export { selectDatasetSamples, type Dataset, readDataset, readRecordedAnswers } from "./data/index.ts";
export {
  type FileSink,
  openFileSink,
  type FileSinkOptions,
  openRunFile,
  type RunFile,
  type RunFileOptions,
  writeSpecificationFile,
} from "./recorder/index.ts";
export {
  type ExperimentOptions,
  type ExperimentOutcome,
  type ExperimentMethod,
  type ExperimentProgress,
  runExperiment,
} from "./run/index.ts";
