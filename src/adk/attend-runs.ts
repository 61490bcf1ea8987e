import type * as Adk from "@google/adk";
import type { Message } from "../protocol/index.ts";
import { isAgentTool } from "./agent-tool.ts";
import { type AskedCall, interruption, type OpenCall, openCalls } from "./open-calls.ts";
import { longRunningCall } from "./parts.ts";
import { makeKnown, type Serving } from "./serving.ts";
import { sparePlugins } from "./spare-plugins.ts";
import type { AdkEvent, AdkFunctionCall } from "./types.ts";

const attended = new WeakSet<Adk.PluginManager>();

/**
 * What the bridge does within the runs of a runner, before its plugins. It looks at the history of the session before the
 * next message goes into it, when ADK has read it anyway: calls that were interrupted are answered, and the task learns
 * which others wait for their user. And it sees to it that the run is known to agents that are tools, which ADK runs in
 * sessions of their own.
 *
 * Not a plugin itself: ADK tells the console of each, asks each about every event, and none once one has answered.
 */
export function attendRuns({ pluginManager }: Adk.Runner, adk: typeof Adk): void {
  if (attended.has(pluginManager)) return;
  attended.add(pluginManager);
  sparePlugins(pluginManager, adk);
  const { createEvent } = adk;
  const onUserMessage = pluginManager.runOnUserMessageCallback.bind(pluginManager);
  pluginManager.runOnUserMessageCallback = async (asked) => {
    await lookBack(asked, createEvent);
    return onUserMessage(asked);
  };
  const beforeTool = pluginManager.runBeforeToolCallback.bind(pluginManager);
  pluginManager.runBeforeToolCallback = async (asked) => {
    const { invocationContext } = asked.toolContext;
    makeKnown(invocationContext);
    if (isAgentTool(asked.tool)) await lookBackIn(asked.tool.agent.name, invocationContext, createEvent);
    return beforeTool(asked);
  };
}

async function lookBack(
  { invocationContext, userMessage }: Parameters<Adk.PluginManager["runOnUserMessageCallback"]>[0],
  createEvent: typeof Adk.createEvent,
): Promise<void> {
  const { session, sessionService } = invocationContext;
  const { interrupted, asked } = openCalls(session.events, userMessage);
  const serving = makeKnown(invocationContext);
  const given = serving && asked.length > 0 ? await givenUp(serving, asked) : [];
  await answerInterrupted([...interrupted, ...given], { session, sessionService, createEvent });
}

/** The session of an agent that is a tool, which ADK runs with a runner of its own. */
async function lookBackIn(
  appName: string,
  { session: { userId, id }, sessionService }: Adk.InvocationContext,
  createEvent: typeof Adk.createEvent,
): Promise<void> {
  const session = await sessionService?.getSession({ appName, userId, sessionId: id });
  if (!session) return;
  const { interrupted } = openCalls(session.events);
  await answerInterrupted(interrupted, { session, sessionService, createEvent });
}

interface Writing {
  readonly session: Adk.Session;
  readonly sessionService: Adk.BaseSessionService | undefined;
  readonly createEvent: typeof Adk.createEvent;
}

async function answerInterrupted(
  open: readonly OpenCall[],
  { session, sessionService, createEvent }: Writing,
): Promise<void> {
  for (const [event, calls] of byEvent(open)) {
    const { invocationId, author = "", branch, isolationScope } = event as Adk.Event;
    const answer = createEvent({ invocationId, author, content: interruption(calls) });
    if (branch !== undefined) answer.branch = branch;
    if (isolationScope !== undefined) answer.isolationScope = isolationScope;
    await sessionService?.appendEvent({ session, event: answer });
  }
}

/** Notes who waits; and what a model would hear of without an answer, since no task waits for it any more. */
async function givenUp(serving: Serving, asked: readonly AskedCall[]): Promise<OpenCall[]> {
  const tasks = await serving.run.waiting();
  if (tasks.length > 0) serving.waiting = tasks.map(({ id }) => id);
  const waiting = new Set(tasks.flatMap(({ status }) => idsIn(status.message)));
  return asked.flatMap(({ call, leaves }) => (leaves && !waiting.has(call.id ?? "") ? [leaves] : []));
}

function idsIn(question: Message | undefined): string[] {
  return question?.parts.flatMap((part) => longRunningCall(part)?.id ?? []) ?? [];
}

function byEvent(open: readonly OpenCall[]): Map<AdkEvent, AdkFunctionCall[]> {
  const events = new Map<AdkEvent, AdkFunctionCall[]>();
  for (const { event, call } of open) events.set(event, [...(events.get(event) ?? []), call]);
  return events;
}
