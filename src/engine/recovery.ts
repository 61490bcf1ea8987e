import type { Runners } from "./runners.ts";
import type { TaskStore } from "./store.ts";

const REASON = "The server stopped while the agent was at work; send the message again.";

/** How many orphans are settled at a time. */
const AT_ONCE = 256;

/** Ends the tasks on which an agent of a process that is gone was at work: they fail with a reason (E9). */
export async function failOrphans(agentId: string, store: TaskStore, runners: Runners): Promise<void> {
  const orphans = (await store.unfinished()).filter(({ scope }) => scope.agent === agentId);
  for (let at = 0; at < orphans.length; at += AT_ONCE) {
    await Promise.all(
      orphans.slice(at, at + AT_ONCE).map(async ({ scope, taskId }) => {
        const runner = await runners.find(scope, taskId);
        if (!runner) return;
        try {
          runner.orphaned(REASON);
          await runner.live.changed();
        } finally {
          runner.letGo();
        }
      }),
    );
  }
}
