/** EXPERIMENTS: roles over datasets, and the file that a run leaves behind. */
export { cassetteFile } from "./cassette-file.ts";
export * from "./recorder/index.ts";
