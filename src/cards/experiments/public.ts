/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export { A2AVisualizer, saveCardVisualization } from "./card-visualization-text-file.ts";
export { type BenchmarkAgentOptions, createBenchmarkAgent } from "./benchmark-agent.ts";
export { openCassetteFile } from "./cassette-file.ts";
export { type Dataset, readDataset } from "./read-dataset.ts";
export {
  createMemorySink,
  createRunRecorder,
  type FileSink,
  openFileSink,
  type FileSinkOptions,
  openRunFile,
  type RunFile,
  type OpenRunFileOptions,
  type RunRecorder,
  type RunRecorderOptions,
  type RunSink,
  writeMessageCardListFile,
} from "./recorder/index.ts";
export {
  createJudgeScorer,
  type CustomScore,
  type CustomScorer,
  type ExperimentOptions,
  type ExperimentOutcome,
  type ExperimentMethod,
  type ExperimentProgress,
  type FailedSample,
  runExperiment,
  type ScorableAnswer,
} from "./run/index.ts";
