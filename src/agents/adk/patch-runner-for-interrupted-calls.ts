import type * as Adk from "@google/adk";
import { type AdkRunContext, registerRunContextForInvocation } from "./adk-run-context.ts";
import type { AdkEvent, AdkFunctionCall, GenaiContent, SessionFunctionCall } from "./adk-structural-types.ts";
import { isAgentTool } from "./is-agent-tool.ts";
import { collectLongRunningCallIds } from "./part-conversion.ts";
import {
  acceptAnswersToPeerCalls,
  pauseForPeerCalls,
  sendAnswerToPeerCalls,
} from "./remote/agent-tool-question.ts";
import { isRemoteAgentProxy } from "./remote/cancel-remote-tasks-of-canceled-task.ts";
import { CONFIRMATION_CALL_NAME, CREDENTIAL_CALL_NAME, isReservedCallName } from "./reserved-calls.ts";
import { skipEmptyPluginManagerCallbacks } from "./skip-empty-plugin-manager-callbacks.ts";

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

interface CallAwaitingUser extends SessionFunctionCall {
  /**
   * The unanswered call, which is either the request to the user or the tool call that the request blocks.
   */
  readonly orphanedCall?: SessionFunctionCall;
}

/** The unanswered calls in the history of a session. */
interface UnansweredCalls {
  /** Calls to tools that were running when the run ended, for example because the task was canceled. */
  readonly interrupted: readonly SessionFunctionCall[];
  /** Calls that still wait for a response from the user. */
  readonly awaitingUser: readonly CallAwaitingUser[];
}

const NO_UNANSWERED_CALLS: UnansweredCalls = { interrupted: [], awaitingUser: [] };

function hasFunctionCallOrResponse({ content }: AdkEvent): boolean {
  return content?.parts?.some((part) => part.functionCall ?? part.functionResponse) ?? false;
}

/**
 * Returns the unanswered calls in a session. The parameter `message` is the message that the bridge is
 * about to add to the session.
 */
export function findUnansweredCalls(events: readonly AdkEvent[], message?: GenaiContent): UnansweredCalls {
  if (!events.some(hasFunctionCallOrResponse)) return NO_UNANSWERED_CALLS;
  const calls = new Map<string, SessionFunctionCall>();
  const answered = new Set<string>();
  const answeredByUser = new Set<string>();
  for (const event of events) {
    for (const { functionCall: call, functionResponse: response } of event.content?.parts ?? []) {
      if (call?.id !== undefined && event.author !== "user") calls.set(call.id, { event, call });
      if (response?.id === undefined) continue;
      answered.add(response.id);
      if (event.author === "user") answeredByUser.add(response.id);
    }
  }
  const isUnanswered = (candidate: SessionFunctionCall | undefined): candidate is SessionFunctionCall =>
    candidate?.call.id !== undefined && !answered.has(candidate.call.id) && isCallVisibleToModel(candidate);
  const isAwaitingUser = (id: string, { event }: SessionFunctionCall): boolean =>
    event.longRunningToolIds?.includes(id) === true && !answeredByUser.has(id);
  const blockedCallIds = new Set<string>();
  const awaitingUser: CallAwaitingUser[] = [];
  const answeredNow = new Set(message?.parts?.map(({ functionResponse }) => functionResponse?.id));
  for (const [id, candidate] of calls) {
    if (!isAwaitingUser(id, candidate)) continue;
    const blockedCallId = findCallIdBlockedByRequest(candidate.call);
    if (blockedCallId !== undefined) blockedCallIds.add(blockedCallId);
    const orphanedCall = [candidate, calls.get(blockedCallId ?? "")].find(isUnanswered);
    if (!answeredNow.has(id)) awaitingUser.push(orphanedCall ? { ...candidate, orphanedCall } : candidate);
  }
  const interrupted = [...calls].flatMap(([id, candidate]) =>
    isUnanswered(candidate) && !candidate.event.longRunningToolIds?.includes(id) && !blockedCallIds.has(id)
      ? [candidate]
      : [],
  );
  return { interrupted, awaitingUser };
}

/**
 * Returns the id of the tool call that a confirmation or credential request blocks, if any.
 */
function findCallIdBlockedByRequest({ name, args }: AdkFunctionCall): string | undefined {
  if (name === CONFIRMATION_CALL_NAME) return (args?.["originalFunctionCall"] as AdkFunctionCall)?.id;
  return name === CREDENTIAL_CALL_NAME ? (args?.["function_call_id"] as string) : undefined;
}

/**
 * Returns true if models see the call in their conversation history. ADK hides its own requests from
 * models, and `RemoteAgent` handles the calls of its peer.
 */
function isCallVisibleToModel({ call, event: { customMetadata = {} } }: SessionFunctionCall): boolean {
  if (isReservedCallName(call.name)) return false;
  return !Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

interface InterruptedCallResponseContent {
  readonly role: "user";
  readonly parts: { functionResponse: { id: string; name: string; response: { error: string } } }[];
}

/**
 * Returns error responses for interrupted tool calls. Models reject a conversation history in which a call
 * has no response. If the tool still runs in another turn, the later response of the tool replaces the error
 * response.
 */
function buildInterruptedCallResponses(calls: readonly AdkFunctionCall[]): InterruptedCallResponseContent {
  const error =
    "No result: the call was interrupted or is still running. It is unknown whether it took effect.";
  const parts = calls.map(({ id = "", name = "" }) => ({
    functionResponse: { id, name, response: { error } },
  }));
  return { role: "user", parts };
}
