import type { RunConfig } from "@google/adk";
import type { Agent, AgentDescription, Observer, Run } from "../engine/index.ts";
import { describeAdk, type DescribeOptions } from "./card.ts";
import { admit } from "./input-required.ts";
import type { SessionPlace } from "./metadata.ts";
import { toGenaiParts } from "./parts.ts";
import { Processor, type ProcessorOptions } from "./processor.ts";
import { type Beginning, RunStream } from "./run-stream.ts";
import { sessionPlace } from "./sessions/place.ts";
import { runnerOf, type AdkSource, type RunnerOptions } from "./source.ts";
import type { AdkRunner, AdkRunRequest } from "./types.ts";

export interface AdkAgentOptions
  extends RunnerOptions, DescribeOptions, Pick<ProcessorOptions, "exposeErrors" | "recoveredErrors"> {
  /** For every run, for example `{ maxLlmCalls: 50 }`. Streaming is on unless it says otherwise. */
  runConfig?: Partial<RunConfig>;
  /** Told of what goes wrong while the card is made. What goes wrong in a run, the observer of the server is told. */
  observer?: Pick<Observer, "onError">;
  /** What the extended card says instead of the public one, to callers who are authenticated. */
  describeExtended?: NonNullable<Agent["describeExtended"]>;
}

/** An ADK agent as an agent of the engine: every task is a run in the session of its context. */
export function adkAgent(source: AdkSource, options: AdkAgentOptions = {}): Agent {
  const runner = runnerOf(source, options);
  const openSession = sessionOpener();
  return {
    describe: async (): Promise<AgentDescription> => describeAdk((await runner()).agent, options),
    ...(options.describeExtended ? { describeExtended: options.describeExtended } : {}),
    execute: (run) => ({
      [Symbol.asyncIterator]: () => new RunStream(() => begin(run, runner, openSession, options), run.signal),
    }),
  };
}

async function begin(
  run: Run,
  makeRunner: () => Promise<AdkRunner>,
  openSession: (runner: AdkRunner, place: SessionPlace) => Promise<void>,
  options: AdkAgentOptions,
): Promise<Beginning> {
  const admission = admit(run.message, run.task, options.runConfig?.allowRemoteToolConfirmation ?? false);
  if ("refused" in admission) return { events: [admission.refused] };
  const runner = await makeRunner();
  const session = sessionPlace(runner.appName, run.contextId, run.caller);
  const processor = new Processor({
    session,
    newId: () => crypto.randomUUID(),
    exposeErrors: options.exposeErrors ?? false,
    recoveredErrors: options.recoveredErrors ?? "fail",
  });
  try {
    await openSession(runner, session);
  } catch (error) {
    return processor.fail("failed to create a session", error);
  }
  const request = requestOf(run, session, toGenaiParts(admission.parts), options);
  return { processor, opening: processor.working(run.task.metadata), events: runner.runAsync(request) };
}

function requestOf(
  run: Run,
  { userId, sessionId }: SessionPlace,
  parts: AdkRunRequest["newMessage"]["parts"] & object,
  { runConfig }: AdkAgentOptions,
): AdkRunRequest {
  const request: AdkRunRequest = {
    userId,
    sessionId,
    newMessage: { role: "user", parts },
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
  const opening = new Map<string, Promise<void>>();
  return (runner, place) => {
    const key = JSON.stringify([place.userId, place.sessionId]);
    let open = opening.get(key);
    if (!open) {
      open = openSession(runner, place).finally(() => opening.delete(key));
      opening.set(key, open);
    }
    return open;
  };
}

async function openSession({ sessionService }: AdkRunner, place: SessionPlace): Promise<void> {
  const found = await sessionService.getSession({ ...place, config: { numRecentEvents: 1 } });
  if (!found) await sessionService.createSession({ ...place });
}
