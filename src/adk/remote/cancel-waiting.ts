import type { Message } from "../../protocol/index.ts";
import type { SessionPlace } from "../metadata.ts";
import { longRunningCall } from "../parts.ts";
import type { AdkEvent, AdkRunner } from "../types.ts";
import { TASK_ID, textUnder } from "./session-place.ts";

/** A session, as far as it is read. */
export interface SessionLike {
  readonly userId?: string;
  readonly events?: readonly AdkEvent[];
}

/** An agent that stands for one somewhere else. */
export interface StandIn {
  readonly name: string;
  cancelRemoteTask(taskId: string, session: SessionLike): Promise<void>;
}

/** Cancels the tasks of other agents that have asked what nobody will answer any more. */
export async function cancelWaiting(
  { agent, sessionService }: AdkRunner,
  place: SessionPlace,
  question: Message | undefined,
): Promise<void> {
  const asked = new Set(question?.parts.flatMap((part) => longRunningCall(part)?.id ?? []));
  const standIns = new Map([...standInsBelow(agent)].map((found) => [found.name, found]));
  if (asked.size === 0 || standIns.size === 0) return;
  const session: SessionLike | undefined = await sessionService.getSession({ ...place });
  const waiting = new Map<string, StandIn>();
  for (const event of session?.events ?? []) {
    const standIn = standIns.get(event.author ?? "");
    const taskId = textUnder(TASK_ID, event);
    const isAsked = event.content?.parts?.some(({ functionCall }) => asked.has(functionCall?.id ?? ""));
    if (standIn && taskId !== undefined && isAsked) waiting.set(taskId, standIn);
  }
  await Promise.all([...waiting].map(([taskId, standIn]) => standIn.cancelRemoteTask(taskId, session ?? {})));
}

/** All of them among an agent's sub-agents, or among the nodes of a workflow. */
function* standInsBelow(
  root: object,
  seen: Set<object> = new Set<object>(),
): Generator<StandIn, void, undefined> {
  if (seen.has(root)) return;
  seen.add(root);
  if (isStandIn(root)) yield root;
  const { subAgents = [], graph } = root as { subAgents?: object[]; graph?: { nodes?: object[] } };
  for (const below of [...subAgents, ...(graph?.nodes ?? [])]) yield* standInsBelow(below, seen);
}

function isStandIn(agent: object): agent is StandIn {
  return "cancelRemoteTask" in agent && typeof agent.cancelRemoteTask === "function";
}
