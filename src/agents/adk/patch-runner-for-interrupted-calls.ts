import type * as Adk from "@google/adk";
import { isAgentTool } from "./is-agent-tool.ts";
import {
  buildInterruptedCallResponses,
  type CallAwaitingUser,
  findUnansweredCalls,
  type UnansweredCalls,
} from "./unanswered-function-calls.ts";
import { collectLongRunningCallIds } from "./part-conversion.ts";
import {
  acceptAnswersToPeerCalls,
  pauseForPeerCalls,
  sendAnswerToPeerCalls,
} from "./remote/agent-tool-question.ts";
import { isRemoteAgentProxy } from "./remote/cancel-remote-tasks-of-canceled-task.ts";
import { registerRunContextForInvocation, type AdkRunContext } from "./adk-run-context.ts";
import { skipEmptyPluginManagerCallbacks } from "./skip-empty-plugin-manager-callbacks.ts";
import type { AdkEvent, AdkFunctionCall, SessionFunctionCall } from "./adk-structural-types.ts";

const patchedPluginManagers = new WeakSet<Adk.PluginManager>();

/**
 * Patches a runner to answer interrupted calls, to share the run context with nested agents, and to pause
 * when a remote agent tool asks a question.
 *
 * Before ADK adds a message to a session, the patch answers interrupted calls and finds other waiting
 * tasks. ADK loads the session before the patch runs. Before a tool runs, the patch registers the run for
 * agent tools, because ADK runs agent tools in separate sessions. Before a model call, the patch registers the run for
 * the abort signals of workflow nodes.
 *
 * A plugin cannot replace the patch. ADK logs every plugin and calls every plugin for each event. If one
 * plugin returns a value, ADK skips the remaining plugins.
 */
export function patchRunnerForInterruptedCalls({ pluginManager, agent }: Adk.Runner, adk: typeof Adk): void {
  if (patchedPluginManagers.has(pluginManager)) return;
  patchedPluginManagers.add(pluginManager);
  skipEmptyPluginManagerCallbacks(pluginManager, adk);
  acceptAnswersToPeerCalls(agent);
  const { createEvent, isBaseAgent } = adk;
  const onUserMessage = pluginManager.runOnUserMessageCallback.bind(pluginManager);
  pluginManager.runOnUserMessageCallback = (request) => {
    const { invocationContext, userMessage } = request;
    const runContext = registerRunContextForInvocation(invocationContext);
    const unanswered = findUnansweredCalls(invocationContext.session.events, userMessage);
    return unanswered.interrupted.length === 0 && unanswered.awaitingUser.length === 0
      ? onUserMessage(request)
      : closeUnansweredCalls(unanswered, invocationContext, runContext, createEvent).then(() =>
          onUserMessage(request),
        );
  };
  const beforeModel = pluginManager.runBeforeModelCallback.bind(pluginManager);
  pluginManager.runBeforeModelCallback = (request) => {
    // Durable models find the run by the abort signal of the invocation.
    registerRunContextForInvocation(request.callbackContext.invocationContext);
    return beforeModel(request);
  };
  const beforeTool = pluginManager.runBeforeToolCallback.bind(pluginManager);
  pluginManager.runBeforeToolCallback = async (request) => {
    const { invocationContext } = request.toolContext;
    registerRunContextForInvocation(invocationContext);
    const { tool } = request;
    if (!isAgentTool(tool)) return beforeTool(request);
    await answerInterruptedAgentToolCalls(tool.agent.name, invocationContext, createEvent);
    return isRemoteAgentProxy(tool.agent) && isBaseAgent(tool.agent)
      ? ((await sendAnswerToPeerCalls(tool.agent, request, adk)) ?? beforeTool(request))
      : beforeTool(request);
  };
  const afterTool = pluginManager.runAfterToolCallback.bind(pluginManager);
  pluginManager.runAfterToolCallback = async (request) => {
    const { tool } = request;
    const isRemoteAgentTool = isAgentTool(tool) && isRemoteAgentProxy(tool.agent);
    const interim = isRemoteAgentTool ? await pauseForPeerCalls(tool.agent.name, request) : undefined;
    return interim ?? afterTool(request);
  };
}

async function closeUnansweredCalls(
  { interrupted, awaitingUser }: UnansweredCalls,
  { session, sessionService }: Adk.InvocationContext,
  runContext: ReturnType<typeof registerRunContextForInvocation>,
  createEvent: typeof Adk.createEvent,
): Promise<void> {
  const abandoned =
    runContext && awaitingUser.length > 0 ? await findCallsWithoutWaitingTask(runContext, awaitingUser) : [];
  await appendInterruptedCallResponses([...interrupted, ...abandoned], {
    session,
    sessionService,
    createEvent,
  });
}

/**
 * Answers the interrupted calls in the session of an agent that is used as a tool. ADK uses a separate
 * runner for an agent that is used as a tool.
 */
async function answerInterruptedAgentToolCalls(
  appName: string,
  { session: { userId, id }, sessionService }: Adk.InvocationContext,
  createEvent: typeof Adk.createEvent,
): Promise<void> {
  const session = await sessionService?.getSession({ appName, userId, sessionId: id });
  if (!session) return;
  const { interrupted } = findUnansweredCalls(session.events);
  await appendInterruptedCallResponses(interrupted, { session, sessionService, createEvent });
}

interface SessionWriteContext {
  readonly session: Adk.Session;
  readonly sessionService: Adk.BaseSessionService | undefined;
  readonly createEvent: typeof Adk.createEvent;
}

async function appendInterruptedCallResponses(
  unanswered: readonly SessionFunctionCall[],
  { session, sessionService, createEvent }: SessionWriteContext,
): Promise<void> {
  for (const [event, calls] of groupCallsByEvent(unanswered)) {
    const { invocationId, author = "", branch, isolationScope } = event as object as Adk.Event;
    const response = createEvent({ invocationId, author, content: buildInterruptedCallResponses(calls) });
    if (branch !== undefined) response.branch = branch;
    if (isolationScope !== undefined) response.isolationScope = isolationScope;
    await sessionService?.appendEvent({ session, event: response });
  }
}

/**
 * Stores the ids of the tasks that wait for the user. Returns the abandoned function calls. No task waits for
 * the response to an abandoned call. The bridge must answer these calls, because a model must not see
 * function calls without a response.
 */
async function findCallsWithoutWaitingTask(
  runContext: AdkRunContext,
  awaitingUser: readonly CallAwaitingUser[],
): Promise<SessionFunctionCall[]> {
  const tasks = await runContext.run.listInterruptedTasks();
  if (tasks.length > 0) runContext.waitingTaskIds = tasks.map(({ id }) => id);
  const waitingCallIds = new Set(
    tasks.flatMap(({ status }) => collectLongRunningCallIds(status.message?.parts ?? [])),
  );
  return awaitingUser.flatMap(({ call, orphanedCall }) =>
    orphanedCall && !waitingCallIds.has(call.id ?? "") ? [orphanedCall] : [],
  );
}

function groupCallsByEvent(unanswered: readonly SessionFunctionCall[]): Map<AdkEvent, AdkFunctionCall[]> {
  const events = new Map<AdkEvent, AdkFunctionCall[]>();
  for (const { event, call } of unanswered) events.set(event, [...(events.get(event) ?? []), call]);
  return events;
}
