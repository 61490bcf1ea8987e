/** THE PROBLEMS of an experiment, from files or from what is shipped. */
export { type Choice, choose, type Dataset } from "./dataset.ts";
export { readDataset, readRecorded } from "./read-dataset.ts";
