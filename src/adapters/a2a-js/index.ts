/**
 * Adapter for agent executors of `@a2a-js/sdk`. `fromExecutor(executor, card)` runs an unmodified executor on
 * the Colloquy engine, with the SDK's request context and event bus. Install the package `@a2a-js/sdk` (1.x)
 * yourself.
 */
export type { ExecutorOptions } from "./from-executor.ts";
export { fromExecutor } from "./from-executor.ts";
