import type { AgentEvent } from "./agent.ts";
import type { IdGenerator } from "./id-generator.ts";
import type { MessageAcceptResult } from "./message-accept-result.ts";
import type { ReplaceableAgent } from "./replaceable-agent.ts";
import type { ActiveTask } from "./active-task.ts";
import { toTasklessReply } from "./to-task-event.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

/** Starts the agent before its task exists. The agent's first event decides whether the runner creates the task. */
export async function startAgentBeforeTask(
  runner: ActiveTask,
  turn: Turn,
  { agent, generateId }: { readonly agent: ReplaceableAgent; readonly generateId: IdGenerator },
): Promise<MessageAcceptResult> {
  runner.reserveForTurnWithoutTask(turn);
  await agent.contextTurns?.enterTurn(runner.scope, turn);
  const output = await readFirstAgentEvent(turn, () =>
    turn.startAgent(runner, runner.buildTaskWithMessage(turn.message)),
  );
  if (turn.hasEnded) {
    void turn.closeIterator(runner, output.iterator);
    return { feed: runner, turn };
  }
  const firstEvent = output.firstResult?.value;
  if (typeof firstEvent !== "object" || firstEvent === null || !("message" in firstEvent)) {
    runner.startOrQueueTurn(turn, output);
    return { feed: runner, turn };
  }
  runner.discardWithoutTask();
  turn.end();
  void turn.closeIterator(runner, output.iterator);
  return { reply: toTasklessReply(runner.contextId, firstEvent.message, generateId) };
}

/**
 * Starts an agent and waits for its first event. If the agent throws an error before its first event, the
 * returned iterator throws the same error.
 */
async function readFirstAgentEvent(
  turn: Pick<Turn, "runInSpan">,
  startAgent: () => StartedAgentIterator,
): Promise<StartedAgentIterator> {
  try {
    const { iterator } = startAgent();
    return { iterator, firstResult: await turn.runInSpan(() => iterator.next()) };
  } catch (error) {
    return { iterator: { next: (): Promise<IteratorResult<AgentEvent>> => Promise.reject(error) } };
  }
}
