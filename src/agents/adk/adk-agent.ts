import { reportAdkCalls } from "./report-adk-calls.ts";
import type { RunConfig } from "@google/adk";
import { SlotReuseMap } from "../../base/data-structures/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, Observer, Run, TurnPolicy } from "../../engine/index.ts";
import { deriveAgentId, type Part, type Task } from "../../protocol/index.ts";
import { describeAdkAgent, type AdkCardOptions } from "./describe-adk-agent.ts";
import { isStatusEvent, type RunHooks, applyRunHooksToEvents } from "./run-hooks.ts";
import { checkPendingCallAnswers } from "./pending-function-calls.ts";
import { redactCredentialAnswers } from "./redact-credential-request.ts";
import { decodeAllowedStateDelta, toAdkMetadataKey } from "./adk-event-metadata.ts";
import { toGenaiPart } from "./part-conversion.ts";
import { RunEventProcessor, type RunEventProcessorOptions } from "./run-event-processor.ts";
import { type StartedRunOrOutcome, RunStream } from "./run-stream.ts";
import { cancelRemoteTasksOfCanceledTask } from "./remote/cancel-remote-tasks-of-canceled-task.ts";
import { registerRunContext, type AdkRunContext } from "./adk-run-context.ts";
import { IdleRunFlusher } from "./idle-run-flusher.ts";
import { discardEventsOfEarlierAttempt } from "./sessions/discard-earlier-attempt.ts";
import { deriveSessionKey } from "./sessions/session-key.ts";
import type { ServedFrom } from "./sessions/store-session-service.ts";
import { loadSavedFiles } from "./saved-file-artifacts.ts";
import {
  createLazyRunner,
  isApp,
  isRunner,
  type AdkRunnableSource,
  type RunnerOptions,
} from "./lazy-runner.ts";
import type { AdkRunner, AdkRunRequest, GenaiPart, SessionKey } from "./adk-structural-types.ts";

/** Options of `adkAgent`. */
export interface AdkAgentOptions
  extends
    RunnerOptions,
    AdkCardOptions,
    RunHooks,
    Pick<Agent, "concurrentTurns" | keyof TurnPolicy>,
    Pick<
      RunEventProcessorOptions,
      "exposeErrors" | "recoveredErrorPolicy" | "artifacts" | "toA2aPart" | "sendState"
    > {
  /**
   * Determines which runs request partial events from the model (ADK's `StreamingMode.SSE`). With
   * `by-request` (default), SendStreamingMessage runs request partial events, and SendMessage runs use ADK's
   * cheaper `StreamingMode.NONE`. Clients that subscribe to a SendMessage task then receive each model answer
   * as one chunk. With `always`, all runs request partial events. With `never`, no run requests partial
   * events.
   */
  streaming?: "always" | "by-request" | "never";
  /**
   * ADK `RunConfig` for every run, for example `{ maxLlmCalls: 50 }`. A `streamingMode` in `runConfig` takes
   * precedence over `streaming`.
   */
  runConfig?: Partial<RunConfig>;
  /**
   * Initial state of each new session, or a function that returns the initial state. The bridge passes the
   * run that creates the session to the function. Default: no state.
   */
  initialState?: SessionState | ((run: Run) => SessionState | Promise<SessionState>);
  /**
   * Session state keys that a caller may set with a message. `RemoteAgent` sends the keys in its `sendState`
   * option. Default: none, because the state often contains identities and permissions.
   */
  receiveState?: readonly string[];
  /**
   * Converts each part of an incoming message for the agent. If the converter returns `undefined`, the part
   * is dropped. Default: `toGenaiPart`.
   */
  toGenaiPart?: (part: Part) => GenaiPart | undefined;
  /**
   * Observer for errors that occur while the bridge generates the agent card. The bridge calls `onError` with
   * each error. The server's observer receives the errors that occur in a run. The default observer writes
   * errors to stderr, and the value `false` disables the default observer.
   */
  observer?: Pick<Observer, "onError"> | false;
  /**
   * Determines what happens to a turn that a server restart interrupted. `restart` runs the agent again, from the
   * conversation at the start of the turn. Calls of models and tools that `durable` wraps are not repeated. The session
   * service must be durable, and must replace a stored event with the same id, as `SqliteSessionService` does. `fail`
   * ends the task as FAILED. Default: `fail`.
   */
  afterRestart?: "fail" | "restart";
  /**
   * Id of the agent in its URL path and in the task store. Default: an id that is derived from the agent's name in the
   * agent card, or `agent` if a function creates the agent.
   */
  id?: string;
  /** Returns the members of the extended agent card that differ from the public card. */
  describeExtended?: NonNullable<Agent["describeExtended"]>;
}

/**
 * Returns the id for the name of the agent that the source runs, which is also the name in the agent card. Returns
 * `undefined` if a function creates the agent later.
 */
export function deriveAdkAgentId(source: AdkRunnableSource): string | undefined {
  if (typeof source === "function") return undefined;
  const agent = isApp(source) ? source.rootAgent : isRunner(source) ? source.agent : source;
  return deriveAgentId(agent.name);
}
/** The option names of `adkAgent`, separated by spaces. */
export const ADK_AGENT_OPTION_NAMES = [
  "afterRestart afterRun appName artifactService artifacts beforeRun concurrentTurns credentialService",
  "describeExtended exposeErrors id includeInstructions initialState maxSilenceMs maxTurnMs memoryService observer",
  "onEvent",
  "plugins receiveState recoveredErrorPolicy runConfig sendState sessionService streaming toA2aPart",
  "toGenaiPart version whenUnread",
] as const;

const assertKnownOptions = defineOptionNames<AdkAgentOptions>()("adkAgent", ...ADK_AGENT_OPTION_NAMES);

type SessionState = Readonly<Record<string, unknown>>;

const USER_ID_KEY = toAdkMetadataKey("user_id");
const SESSION_ID_KEY = toAdkMetadataKey("session_id");

/**
 * Returns an engine agent that runs an ADK agent. Every turn of a task is an ADK run in the session of the
 * task's context.
 */
export function adkAgent(source: AdkRunnableSource, options: AdkAgentOptions = {}): Agent {
  assertKnownOptions(options);
  let server: ServedFrom | undefined;
  const runner = createLazyRunner(source, options, () => server);
  const openSession = createSessionOpener();
  const idleFlusher = new IdleRunFlusher();
  return {
    id: options.id ?? deriveAdkAgentId(source),
    describe: async (): Promise<AgentDescription> => describeAdkAgent((await runner()).agent, options),
    ...(options.describeExtended ? { describeExtended: options.describeExtended } : {}),
    ...(options.afterRestart ? { afterRestart: options.afterRestart } : {}),
    ...(options.concurrentTurns ? { concurrentTurns: options.concurrentTurns } : {}),
    maxSilenceMs: options.maxSilenceMs,
    maxTurnMs: options.maxTurnMs,
    whenUnread: options.whenUnread,
    redactMessage: redactCredentialAnswers,
    useStore: (store, agentId) => {
      server = { store, agentId };
    },
    prepareContext: async (contextId, caller, source) => {
      const { prepareSession } = await import("./sessions/prepare-session.ts");
      await prepareSession(await runner(), contextId, caller, source, options.toA2aPart);
    },
    onTaskCanceled: async (task, caller) => {
      const adkRunner = await runner();
      const session = resolveSessionKey(task, deriveSessionKey(adkRunner.appName, task.contextId, caller));
      await cancelRemoteTasksOfCanceledTask(adkRunner, session, task);
    },
    execute: (run) => ({
      [Symbol.asyncIterator]: () => {
        const stream = new RunStream(() => startRun(run, runner, openSession, options), run, idleFlusher);
        return options.onEvent || options.afterRun ? applyRunHooksToEvents(stream, options, run) : stream;
      },
    }),
  };
}

/**
 * Returns the ADK session of a task. The session comes from the task's metadata, because a `beforeRun` hook
 * may have chosen another session. If the metadata contains no session, returns the session of the task's
 * context and caller.
 */
function resolveSessionKey({ metadata = {} }: Task, defaultKey: SessionKey): SessionKey {
  const { [USER_ID_KEY]: userId, [SESSION_ID_KEY]: sessionId } = metadata;
  return typeof userId === "string" && typeof sessionId === "string"
    ? { ...defaultKey, userId, sessionId }
    : defaultKey;
}

async function startRun(
  run: Run,
  makeRunner: () => Promise<AdkRunner>,
  openSession: SessionOpener,
  options: AdkAgentOptions,
): Promise<StartedRunOrOutcome> {
  const runner = await makeRunner();
  if (run.reportCall) await reportAdkCalls(runner);
  const defaultSession = deriveSessionKey(runner.appName, run.contextId, run.caller);
  const runContext = registerRunContext(run);
  const processor = createRunEventProcessor(defaultSession, runContext, options);
  const admission = checkPendingCallAnswers(
    run.message,
    run.task,
    options.runConfig?.allowRemoteToolConfirmation ?? false,
  );
  if ("refused" in admission) return { processor, outcome: { events: [admission.refused] } };
  let request: AdkRunRequest;
  try {
    request = buildRunRequest(run, defaultSession, admission.parts, options);
    const replacement = await options.beforeRun?.(request, run);
    if (replacement && isStatusEvent(replacement)) return { processor, outcome: { events: [replacement] } };
    if (replacement) request = replacement;
  } catch (error) {
    return { processor, outcome: processor.fail("processor failed", error) };
  }
  // The `beforeRun` hook may have chosen another session.
  const { userId, sessionId } = request;
  const isOtherSession = userId !== defaultSession.userId || sessionId !== defaultSession.sessionId;
  const session = isOtherSession ? { ...defaultSession, userId, sessionId } : defaultSession;
  const sessionProcessor = isOtherSession ? createRunEventProcessor(session, runContext, options) : processor;
  try {
    await openSession(runner, session, async () => {
      const { initialState = {} } = options;
      return typeof initialState === "function" ? await initialState(run) : initialState;
    });
    if (options.afterRestart === "restart")
      await discardEventsOfEarlierAttempt(run, runner, session, request.newMessage);
  } catch (error) {
    return {
      processor: sessionProcessor,
      outcome: sessionProcessor.fail("failed to create a session", error),
    };
  }
  const { artifactService } = runner;
  return {
    processor: sessionProcessor,
    firstEvent: sessionProcessor.buildWorkingEvent(run.task.metadata),
    events: runner.runAsync(request),
    // Without an artifact service, the events are unchanged.
    ...(artifactService && { addSavedFiles: (event) => loadSavedFiles(event, artifactService, session) }),
  };
}

function createRunEventProcessor(
  session: SessionKey,
  runContext: AdkRunContext,
  options: AdkAgentOptions,
): RunEventProcessor {
  return new RunEventProcessor({
    session,
    runContext,
    newId: () => crypto.randomUUID(),
    now: () => performance.now(),
    exposeErrors: options.exposeErrors ?? false,
    recoveredErrorPolicy: options.recoveredErrorPolicy ?? "fail",
    artifacts: options.artifacts ?? "per-event",
    sendState: options.sendState ?? [],
    ...(options.toA2aPart && { toA2aPart: options.toA2aPart }),
  });
}

function buildRunRequest(
  run: Run,
  { userId, sessionId }: SessionKey,
  parts: readonly Part[],
  {
    runConfig,
    streaming = "by-request",
    toGenaiPart: convert = toGenaiPart,
    receiveState = [],
  }: AdkAgentOptions,
): AdkRunRequest {
  const isStreaming = streaming === "always" || (streaming === "by-request" && run.isStreaming);
  const request: AdkRunRequest = {
    userId,
    sessionId,
    newMessage: { role: "user", parts: parts.flatMap((part) => convert(part) ?? []) },
    // A remote message must not confirm tools. ADK's own guard (`remoteDelivered`) logs a warning on every
    // run. `checkPendingCallAnswers` has already rejected forbidden confirmations, and plain text must not count as a
    // confirmation either.
    runConfig: {
      streamingMode: isStreaming ? "sse" : "none",
      ...runConfig,
      ...(!runConfig?.allowRemoteToolConfirmation && { plainTextToolConfirmation: false }),
    },
    abortSignal: run.signal,
  };
  const stateDelta = decodeAllowedStateDelta(run.metadata, receiveState);
  if (stateDelta) request.stateDelta = stateDelta;
  if (Object.keys(run.metadata).length > 0) request.customMetadata = { a2a_metadata: run.metadata };
  return request;
}

/** Opens a session. `getInitialState` is called only if the session does not exist. */
type SessionOpener = (
  runner: AdkRunner,
  session: SessionKey,
  getInitialState: () => Promise<SessionState>,
) => Promise<void>;

/**
 * Returns a function that creates a session if the session does not exist. Concurrent runs that open the
 * same session share one attempt to create the session.
 */
function createSessionOpener(): SessionOpener {
  const pendingOpens = new SlotReuseMap<Promise<void>>();
  return async (runner, session, getInitialState) => {
    const key = `${session.userId.length}:${session.userId}${session.sessionId}`;
    const pendingOpen = pendingOpens.get(key);
    if (pendingOpen) return pendingOpen;
    const open = ensureSession(runner, session, getInitialState);
    pendingOpens.insertNew(key, open);
    try {
      await open;
    } finally {
      pendingOpens.delete(key);
    }
  };
}

async function ensureSession(
  { sessionService }: AdkRunner,
  session: SessionKey,
  getInitialState: () => Promise<SessionState>,
): Promise<void> {
  const find = (): Promise<unknown> =>
    sessionService.getSession({ ...session, config: { numRecentEvents: 1 } });
  for (let attempt = 1; !(await find()); attempt++) {
    const state = { ...(await getInitialState()) };
    try {
      await sessionService.createSession({ ...session, ...(Object.keys(state).length > 0 && { state }) });
      return;
    } catch (error) {
      // Another process may have created the session first or, in a database, the rows of its app and user.
      if (attempt === MAX_SESSION_CREATE_ATTEMPTS) throw error;
    }
  }
}

const MAX_SESSION_CREATE_ATTEMPTS = 4;
