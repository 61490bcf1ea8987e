/**
 * Adapter for agent executors of `@a2a-js/sdk`. `fromExecutor(executor, card)` runs an unmodified executor on
 * the Colloquy engine. The executor receives the SDK's request context and an SDK event bus. Install the
 * package `@a2a-js/sdk` (1.x) yourself.
 */
export { type ExecutorOptions, fromExecutor, getRunOfRequest } from "./from-executor.ts";
