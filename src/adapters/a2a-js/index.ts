/**
 * AGENT EXECUTORS of `@a2a-js/sdk` as agents. `fromExecutor(executor, card)` runs one as it is: the same request
 * context, the same event bus, on this engine. The package `@a2a-js/sdk` (1.x) is yours to install.
 */
export type { ExecutorOptions } from "./executor.ts";
export { fromExecutor } from "./executor.ts";
