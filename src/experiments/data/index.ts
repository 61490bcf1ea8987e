/** THE PROBLEMS of an experiment, from files or from what is shipped. */
export { type SampleSelection, selectDatasetSamples, type Dataset } from "./dataset.ts";
export { readDataset, readRecordedAnswers } from "./read-dataset.ts";
