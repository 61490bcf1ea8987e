import type * as Adk from "@google/adk";
import type { AdkEvent, AdkFunctionCall } from "../adk-structural-types.ts";
import {
  isPeerOutputEvent,
  PEER_TASK_STATE_METADATA_KEY,
  getCustomMetadataText,
} from "./event-custom-metadata.ts";
import { listRemoteAgentTools } from "./cancel-remote-tasks-of-canceled-task.ts";
import { PLACEHOLDER_CALLS_BY_TASK_STATE } from "../to-session-event.ts";

/** Name of the confirmation payload member that contains the peer's unanswered function calls. */
export const PEER_CALLS_MEMBER = "peerCalls";

const PLACEHOLDER_NAMES: readonly (string | undefined)[] = Object.values(PLACEHOLDER_CALLS_BY_TASK_STATE).map(
  ({ name }) => name,
);

type ToolRequest = Parameters<Adk.PluginManager["runBeforeToolCallback"]>[0];

/**
 * Makes the remote agent tools in an agent tree accept the answers to their peers' questions. ADK rejects an
 * answer unless the tool requires a confirmation when the answer arrives.
 */
export function acceptAnswersToPeerCalls(root: object): void {
  for (const tool of listRemoteAgentTools(root)) {
    const checkRequireConfirmation = async (_: unknown, context: Adk.Context): Promise<boolean> =>
      (await loadPendingPeerCalls(tool.agent.name, context.invocationContext)).length > 0;
    Object.assign(tool, { checkRequireConfirmation });
  }
}

/**
 * Pauses an agent's run if one of its remote agent tools waits for an answer. Without the pause, ADK's
 * `AgentTool` would return an empty text. The question becomes an ADK confirmation request, and the payload
 * contains the peer's calls. Returns the interim result of the tool, or `undefined` if the peer has not asked
 * a question.
 */
export async function pauseForPeerCalls(
  agentName: string,
  { toolContext }: Pick<ToolRequest, "toolContext">,
): Promise<Record<string, unknown> | undefined> {
  const calls = await loadPendingPeerCalls(agentName, toolContext.invocationContext);
  if (calls.length === 0) return undefined;
  const hint =
    `The agent ${agentName} waits for the result of ${calls.map(({ name }) => name).join(", ")}. ` +
    `Confirm with the result as the payload.`;
  toolContext.requestConfirmation({ hint, payload: { [PEER_CALLS_MEMBER]: calls } });
  return { status: "pending", [PEER_CALLS_MEMBER]: calls };
}

/**
 * Sends the user's answer to the remote agent that asked the question, instead of running the tool again.
 * Returns the result of the tool, or `undefined` if the user has not answered a question of the remote agent.
 * The answer is the payload of the confirmation. If the peer made several calls, the payload contains an
 * answer for each call id.
 */
export async function sendAnswerToPeerCalls(
  agent: Adk.BaseAgent,
  { toolContext }: Pick<ToolRequest, "toolContext">,
  adk: typeof Adk,
): Promise<Record<string, unknown> | undefined> {
  const { toolConfirmation, invocationContext, abortSignal } = toolContext;
  if (!toolConfirmation) return undefined;
  const calls = await loadPendingPeerCalls(agent.name, invocationContext);
  const { sessionService, memoryService, credentialService, userId, session } = invocationContext;
  if (calls.length === 0 || !sessionService) return undefined;
  const { confirmed, payload } = toolConfirmation;
  const parts = calls.map(({ id = "", name = "" }) => {
    const answer = calls.length > 1 ? toRecord(payload)[id] : payload;
    const response = confirmed ? toRecord(answer) : { error: "The user declined to answer." };
    return { functionResponse: { id, name, response } };
  });
  const runner = new adk.Runner({
    appName: agent.name,
    agent,
    sessionService,
    ...(memoryService && { memoryService }),
    ...(credentialService && { credentialService }),
  });
  let last: AdkEvent | undefined;
  for await (const event of runner.runAsync({
    userId,
    sessionId: session.id,
    newMessage: { role: "user", parts },
    ...(abortSignal && { abortSignal }),
  })) {
    // As ADK's `AgentTool` does, the tool changes the state of its caller.
    toolContext.state.update(event.actions.stateDelta);
    last = event;
  }
  const texts = last?.content?.parts?.flatMap(({ text, thought }) => (text && !thought ? [text] : [])) ?? [];
  return { result: texts.join("\n") };
}

/** Loads a peer's unanswered calls from the session of the agent tool. */
async function loadPendingPeerCalls(
  agentName: string,
  { sessionService, userId, session: { id } }: Adk.InvocationContext,
): Promise<AdkFunctionCall[]> {
  const session = await sessionService?.getSession({ appName: agentName, userId, sessionId: id });
  const events: readonly AdkEvent[] = (session?.events as readonly object[] | undefined) ?? [];
  const last = events.findLast((event) => isPeerOutputEvent(agentName, event));
  if (!last || getCustomMetadataText(PEER_TASK_STATE_METADATA_KEY, last) === undefined) return [];
  const calls = last.content?.parts?.flatMap(({ functionCall }) => functionCall ?? []) ?? [];
  return calls.filter(
    ({ id: callId = "", name }) =>
      last.longRunningToolIds?.includes(callId) && !PLACEHOLDER_NAMES.includes(name),
  );
}

function toRecord(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  return value === undefined ? {} : { result: value };
}
