import type { Engine } from "../engine/index.ts";
import type { Outbox } from "../webhooks/index.ts";

/** Keeps a serverless function running until the promise settles. */
export type WaitUntilFunction = (work: Promise<unknown>) => void;

/**
 * Returns the function of a serverless host that keeps a request's process running, from the second argument of
 * `Server.fetch`. Vercel and Cloudflare name the function `waitUntil`.
 */
export function findWaitUntil(runtimeInfo: unknown): WaitUntilFunction | undefined {
  if (typeof runtimeInfo !== "object" || runtimeInfo === null || !("waitUntil" in runtimeInfo))
    return undefined;
  const { waitUntil } = runtimeInfo;
  // Cloudflare's function requires its execution context as `this`.
  return typeof waitUntil === "function" ? (work) => void waitUntil.call(runtimeInfo, work) : undefined;
}

/**
 * Resolves when no agent is running, and when no push notification is being sent. Suspended turns and notifications
 * that wait for a retry do not count, because a scheduler continues them (`Server.processDueWork`).
 */
export async function waitForRunningWork(
  engines: readonly Engine[],
  outbox: Outbox | undefined,
): Promise<void> {
  await Promise.all(engines.map((engine) => engine.waitUntilIdle()));
  await outbox?.waitUntilIdle();
}
