/** EXPERIMENTS: roles over datasets, and the file that a run leaves behind. */
export * from "./recorder/index.ts";
