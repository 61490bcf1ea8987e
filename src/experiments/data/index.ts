/** Datasets for experiments, which are read from files or are part of the package. */
export { selectDatasetSamples, type Dataset } from "./dataset.ts";
export { readDataset, readGsm8kModelAnswers } from "./read-dataset.ts";
