import type { RunConfig } from "@google/adk";
import { SlotMap } from "../base/index.ts";
import type { Agent, AgentDescription, Observer, Run } from "../engine/index.ts";
import type { Part, Task } from "../protocol/index.ts";
import { describeAdk, type DescribeOptions } from "./card.ts";
import { isStatus, type RunHooks, throughHooks } from "./hooks.ts";
import { admit } from "./input-required.ts";
import { metadataKey, type SessionPlace } from "./metadata.ts";
import { toGenaiPart } from "./parts.ts";
import { Processor, type ProcessorOptions } from "./processor.ts";
import { type Beginning, RunStream } from "./run-stream.ts";
import { cancelWaiting } from "./remote/cancel-waiting.ts";
import { beginServing, type Serving } from "./serving.ts";
import { Silences } from "./silences.ts";
import { sessionPlace } from "./sessions/place.ts";
import { runnerOf, type AdkSource, type RunnerOptions } from "./source.ts";
import type { AdkRunner, AdkRunRequest, GenaiPart } from "./types.ts";

export interface AdkAgentOptions
  extends
    RunnerOptions,
    DescribeOptions,
    RunHooks,
    Pick<ProcessorOptions, "exposeErrors" | "recoveredErrors" | "artifacts" | "toA2aPart"> {
  /** For every run, for example `{ maxLlmCalls: 50 }`. Streaming is on unless it says otherwise. */
  runConfig?: Partial<RunConfig>;
  /** What the agent is given of a part of a message; undefined drops it. Default: `toGenaiPart`. */
  toGenaiPart?: (part: Part) => GenaiPart | undefined;
  /** Told of what goes wrong while the card is made. What goes wrong in a run, the observer of the server is told. */
  observer?: Pick<Observer, "onError">;
  /** What the extended card says instead of the public one, to callers who are authenticated. */
  describeExtended?: NonNullable<Agent["describeExtended"]>;
}

const USER_ID = metadataKey("user_id");
const SESSION_ID = metadataKey("session_id");

/** An ADK agent as an agent of the engine: every task is a run in the session of its context. */
export function adkAgent(source: AdkSource, options: AdkAgentOptions = {}): Agent {
  const runner = runnerOf(source, options);
  const openSession = sessionOpener();
  const silences = new Silences();
  return {
    describe: async (): Promise<AgentDescription> => describeAdk((await runner()).agent, options),
    ...(options.describeExtended ? { describeExtended: options.describeExtended } : {}),
    cancelled: async (task, caller) => {
      const made = await runner();
      const place = placeOf(task, sessionPlace(made.appName, task.contextId, caller));
      await cancelWaiting(made, place, task);
    },
    execute: (run) => ({
      [Symbol.asyncIterator]: () => {
        const stream = new RunStream(() => begin(run, runner, openSession, options), run.signal, silences);
        return options.onEvent || options.afterRun ? throughHooks(stream, options, run) : stream;
      },
    }),
  };
}

/** Where a task has run: its owner may have chosen another session than that of its caller. */
function placeOf({ metadata = {} }: Task, { appName, ...place }: SessionPlace): SessionPlace {
  const { [USER_ID]: userId, [SESSION_ID]: sessionId } = metadata;
  return typeof userId === "string" && typeof sessionId === "string"
    ? { appName, userId, sessionId }
    : { appName, ...place };
}

async function begin(
  run: Run,
  makeRunner: () => Promise<AdkRunner>,
  openSession: (runner: AdkRunner, place: SessionPlace) => Promise<void>,
  options: AdkAgentOptions,
): Promise<Beginning> {
  const runner = await makeRunner();
  const place = sessionPlace(runner.appName, run.contextId, run.caller);
  const serving = beginServing(run);
  const processor = processorOf(place, serving, options);
  const admission = admit(run.message, run.task, options.runConfig?.allowRemoteToolConfirmation ?? false);
  if ("refused" in admission) return { processor, ending: { events: [admission.refused] } };
  let request: AdkRunRequest;
  try {
    request = requestOf(run, place, admission.parts, options);
    const instead = await options.beforeRun?.(request, run);
    if (instead && isStatus(instead)) return { processor, ending: { events: [instead] } };
    if (instead) request = instead;
  } catch (error) {
    return { processor, ending: processor.fail("processor failed", error) };
  }
  // The owner may have chosen another session.
  const { userId, sessionId } = request;
  const moved = userId !== place.userId || sessionId !== place.sessionId;
  const session = moved ? { ...place, userId, sessionId } : place;
  const chosen = moved ? processorOf(session, serving, options) : processor;
  try {
    await openSession(runner, session);
  } catch (error) {
    return { processor: chosen, ending: chosen.fail("failed to create a session", error) };
  }
  return {
    processor: chosen,
    opening: chosen.working(run.task.metadata),
    events: runner.runAsync(request),
  };
}

function processorOf(session: SessionPlace, serving: Serving, options: AdkAgentOptions): Processor {
  return new Processor({
    session,
    serving,
    newId: () => crypto.randomUUID(),
    now: () => performance.now(),
    exposeErrors: options.exposeErrors ?? false,
    recoveredErrors: options.recoveredErrors ?? "fail",
    artifacts: options.artifacts ?? "per-event",
    ...(options.toA2aPart && { toA2aPart: options.toA2aPart }),
  });
}

function requestOf(
  run: Run,
  { userId, sessionId }: SessionPlace,
  parts: readonly Part[],
  { runConfig, toGenaiPart: convert = toGenaiPart }: AdkAgentOptions,
): AdkRunRequest {
  const request: AdkRunRequest = {
    userId,
    sessionId,
    newMessage: { role: "user", parts: parts.flatMap((part) => convert(part) ?? []) },
    // A message from the network is not the operator's word. ADK's own guard (`remoteDelivered`) warns on every run;
    // `admit` has let through no confirmation that is not allowed, and plain text must not count as one either.
    runConfig: {
      streamingMode: "sse",
      ...runConfig,
      ...(!runConfig?.allowRemoteToolConfirmation && { plainTextToolConfirmation: false }),
    },
    abortSignal: run.signal,
  };
  if (Object.keys(run.metadata).length > 0) request.customMetadata = { a2a_metadata: run.metadata };
  return request;
}

/** Makes sure that a session exists. Two runs that begin a context at once make it once. */
function sessionOpener(): (runner: AdkRunner, place: SessionPlace) => Promise<void> {
  const opening = new SlotMap<Promise<void>>();
  return async (runner, place) => {
    const key = `${place.userId.length}:${place.userId}${place.sessionId}`;
    const others = opening.get(key);
    if (others) return others;
    const open = openSession(runner, place);
    opening.add(key, open);
    try {
      await open;
    } finally {
      opening.delete(key);
    }
  };
}

async function openSession({ sessionService }: AdkRunner, place: SessionPlace): Promise<void> {
  const find = (): Promise<unknown> =>
    sessionService.getSession({ ...place, config: { numRecentEvents: 1 } });
  for (let tries = 1; !(await find()); tries++) {
    try {
      await sessionService.createSession({ ...place });
      return;
    } catch (error) {
      // Others may have been first: with the session, or, in a database, with the rows of its app and of its user.
      if (tries === MOST_TRIES) throw error;
    }
  }
}

const MOST_TRIES = 4;
