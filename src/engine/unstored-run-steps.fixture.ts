import type { Run } from "./agent.ts";

/** Steps of a run without a store: each call executes its step. */
export const unstoredRunSteps: Pick<
  Run,
  "idempotencyKey" | "once" | "progress" | "sleep" | "suspend" | "traceHeaders"
> = {
  progress: () => {},
  traceHeaders: {},
  idempotencyKey: "0".repeat(32),
  once: async (_key, execute) =>
    await execute({ idempotencyKey: "1".repeat(32), attempt: 1, signal: new AbortController().signal }),
  sleep: () => Promise.resolve(),
  suspend: () => Promise.resolve(),
};
