/** EXPERIMENTS: roles over datasets, and the file that a run leaves behind. */
export { A2AVisualizer, saveCardVisualization } from "./a2a-visualizer.ts";
export { cassetteFile } from "./cassette-file.ts";
export * from "./data/index.ts";
export * from "./recorder/index.ts";
export * from "./run/index.ts";
