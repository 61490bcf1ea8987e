import type * as Adk from "@google/adk";
import type { Message } from "../protocol/index.ts";
import { isAgentTool } from "./agent-tool.ts";
import {
  type CallAwaitingUser,
  buildInterruptedResponses,
  type UnansweredCall,
  findUnansweredCalls,
} from "./unanswered-calls.ts";
import { parseLongRunningCall } from "./parts.ts";
import { propagateRunContext, type AdkRunContext } from "./adk-run-context.ts";
import { bypassEmptyPlugins } from "./bypass-empty-plugins.ts";
import type { AdkEvent, AdkFunctionCall } from "./types.ts";

const patchedManagers = new WeakSet<Adk.PluginManager>();

/**
 * Patches a runner to close unanswered calls and to share the run context with nested agents.
 *
 * Before ADK adds a message to a session, the patch answers interrupted calls and finds the other tasks that
 * wait for their user. ADK has loaded the session by then. Before a tool runs, the patch registers the run
 * for agents used as tools, which ADK runs in separate sessions.
 *
 * The patch is not a plugin. ADK logs every plugin, calls it for every event, and skips the remaining plugins
 * after one returns a value.
 */
export function patchRunner({ pluginManager }: Adk.Runner, adk: typeof Adk): void {
  if (patchedManagers.has(pluginManager)) return;
  patchedManagers.add(pluginManager);
  bypassEmptyPlugins(pluginManager, adk);
  const { createEvent } = adk;
  const onUserMessage = pluginManager.runOnUserMessageCallback.bind(pluginManager);
  pluginManager.runOnUserMessageCallback = async (asked) => {
    await closeUnansweredCalls(asked, createEvent);
    return onUserMessage(asked);
  };
  const beforeTool = pluginManager.runBeforeToolCallback.bind(pluginManager);
  pluginManager.runBeforeToolCallback = async (asked) => {
    const { invocationContext } = asked.toolContext;
    propagateRunContext(invocationContext);
    if (isAgentTool(asked.tool))
      await closeAgentToolCalls(asked.tool.agent.name, invocationContext, createEvent);
    return beforeTool(asked);
  };
}

async function closeUnansweredCalls(
  { invocationContext, userMessage }: Parameters<Adk.PluginManager["runOnUserMessageCallback"]>[0],
  createEvent: typeof Adk.createEvent,
): Promise<void> {
  const { session, sessionService } = invocationContext;
  const { interrupted, awaitingUser: asked } = findUnansweredCalls(session.events, userMessage);
  const serving = propagateRunContext(invocationContext);
  const given = serving && asked.length > 0 ? await findAbandonedCalls(serving, asked) : [];
  await appendInterruptedResponses([...interrupted, ...given], { session, sessionService, createEvent });
}

/**
 * Answers interrupted calls in the session of an agent used as a tool, which ADK runs with a separate runner.
 */
async function closeAgentToolCalls(
  appName: string,
  { session: { userId, id }, sessionService }: Adk.InvocationContext,
  createEvent: typeof Adk.createEvent,
): Promise<void> {
  const session = await sessionService?.getSession({ appName, userId, sessionId: id });
  if (!session) return;
  const { interrupted } = findUnansweredCalls(session.events);
  await appendInterruptedResponses(interrupted, { session, sessionService, createEvent });
}

interface SessionWriteContext {
  readonly session: Adk.Session;
  readonly sessionService: Adk.BaseSessionService | undefined;
  readonly createEvent: typeof Adk.createEvent;
}

async function appendInterruptedResponses(
  open: readonly UnansweredCall[],
  { session, sessionService, createEvent }: SessionWriteContext,
): Promise<void> {
  for (const [event, calls] of groupByEvent(open)) {
    const { invocationId, author = "", branch, isolationScope } = event as Adk.Event;
    const answer = createEvent({ invocationId, author, content: buildInterruptedResponses(calls) });
    if (branch !== undefined) answer.branch = branch;
    if (isolationScope !== undefined) answer.isolationScope = isolationScope;
    await sessionService?.appendEvent({ session, event: answer });
  }
}

/**
 * Stores the ids of the tasks that wait for their user. Returns the calls that no task waits for any more,
 * because a model would see them without a response.
 */
async function findAbandonedCalls(
  serving: AdkRunContext,
  asked: readonly CallAwaitingUser[],
): Promise<UnansweredCall[]> {
  const tasks = await serving.run.listInterruptedTasks();
  if (tasks.length > 0) serving.waitingTaskIds = tasks.map(({ id }) => id);
  const waiting = new Set(tasks.flatMap(({ status }) => collectLongRunningCallIds(status.message)));
  return asked.flatMap(({ call, orphanedCall: leaves }) =>
    leaves && !waiting.has(call.id ?? "") ? [leaves] : [],
  );
}

function collectLongRunningCallIds(question: Message | undefined): string[] {
  return question?.parts.flatMap((part) => parseLongRunningCall(part)?.id ?? []) ?? [];
}

function groupByEvent(open: readonly UnansweredCall[]): Map<AdkEvent, AdkFunctionCall[]> {
  const events = new Map<AdkEvent, AdkFunctionCall[]>();
  for (const { event, call } of open) events.set(event, [...(events.get(event) ?? []), call]);
  return events;
}
