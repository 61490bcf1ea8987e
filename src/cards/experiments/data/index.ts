/** Datasets for experiments, either read from files or included in the package. */
export { selectDatasetSamples, type Dataset } from "./dataset.ts";
export { readDataset, readQuestions } from "./read-dataset.ts";
