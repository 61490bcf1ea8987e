/** Datasets of an experiment, read from files or shipped with the package. */
export { selectDatasetSamples, type Dataset } from "./dataset.ts";
export { readDataset, readRecordedAnswers } from "./read-dataset.ts";
