/** Adapter that serves agents of Mastra over A2A. Install the package `@mastra/core` yourself. */
export type { MastraOptions, MastraTextMessage } from "./from-mastra.ts";
export { fromMastra } from "./from-mastra.ts";
