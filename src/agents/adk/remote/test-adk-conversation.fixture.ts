import {
  type BaseAgent,
  type BaseArtifactService,
  type BaseSessionService,
  type Event,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
  type Workflow,
} from "@google/adk";
import { onTestFinished } from "vitest";
import type { Agent, Run } from "../../../engine/index.ts";
import { createServer, type ListenOptions, type Server, type ServerOptions } from "../../../server/index.ts";
import { type Script, ScriptedLlm } from "../models/index.ts";
import { RemoteAgent } from "./remote-agent.ts";
import type { RemoteAgentOptions } from "./remote-agent-options.ts";

setLogLevel(LogLevel.ERROR);

/** Starts a server for the duration of the test and returns its URL. */
export async function startServerForTest(server: Server, options: ListenOptions = {}): Promise<string> {
  onTestFinished(() => server.close({ graceMs: 0 }));
  return (await server.listen({ port: 0, ...options })).url;
}

export function serveAgentForTest(
  agent: Agent,
  options: ServerOptions = {},
  listen: ListenOptions = {},
): Promise<string> {
  return startServerForTest(createServer({ agent }, { store: "memory", ...options }), listen);
}

/** Returns an A2A agent that yields the events of `execute`. */
export function createTestPeerAgent(
  execute: (run: Run) => ReturnType<Agent["execute"]>,
  capabilities: object = { streaming: true },
): Agent {
  return { describe: () => ({ name: "peer", description: "p", capabilities }), execute };
}

export const createScriptedLlmAgent = (name: string, script: Script, more: object = {}): LlmAgent =>
  new LlmAgent({ name, model: new ScriptedLlm(script), ...more });

export const createTestRemoteAgent = (
  agent: RemoteAgentOptions["agent"],
  more: Partial<RemoteAgentOptions> = {},
): RemoteAgent => new RemoteAgent({ name: "remote", description: "Far away.", agent, ...more });

export interface TestAdkConversationOptions {
  readonly streamingMode?: "sse" | "none";
  readonly isResumable?: boolean;
  readonly sessionService?: BaseSessionService;
  readonly artifactService?: BaseArtifactService;
}

/** A conversation of one user with an ADK agent. */
export class TestAdkConversation {
  readonly #runner: Runner;
  readonly #streamingMode: "sse" | "none";
  #sessionReady: Promise<unknown> | undefined;

  constructor(agent: BaseAgent | Workflow, options: TestAdkConversationOptions = {}) {
    const {
      streamingMode = "sse",
      isResumable = true,
      sessionService = new InMemorySessionService(),
      artifactService,
    } = options;
    this.#runner = new Runner({
      agent,
      appName: "app",
      sessionService,
      ...(artifactService && { artifactService }),
      resumabilityConfig: { isResumable },
    });
    this.#streamingMode = streamingMode;
  }

  async sendUserMessage(
    parts: string | object[],
    abort?: AbortController,
    onEvent?: (event: Event) => void,
  ): Promise<Event[]> {
    const sessionKey = { userId: "u", sessionId: "s" };
    this.#sessionReady ??= this.#runner.sessionService.getOrCreateSession({ appName: "app", ...sessionKey });
    await this.#sessionReady;
    const events: Event[] = [];
    for await (const event of this.#runner.runAsync({
      ...sessionKey,
      newMessage: { role: "user", parts: typeof parts === "string" ? [{ text: parts }] : parts },
      runConfig: { streamingMode: this.#streamingMode as never },
      ...(abort && { abortSignal: abort.signal }),
    })) {
      events.push(event);
      onEvent?.(event);
    }
    return events;
  }
}

/** Returns the authors and texts of all events that are not partial. */
export function listFinalEventTexts(events: readonly Event[]): string[] {
  return events.flatMap(({ author, partial, content }) => {
    const text = content?.parts?.map((part) => part.text ?? "").join("");
    return partial || !text ? [] : [`${author}: ${text}`];
  });
}

/** Returns the joined texts of all partial events. */
export function joinPartialTexts(events: readonly Event[]): string {
  const partials = events.filter(({ partial }) => partial);
  return partials.flatMap(({ content }) => content?.parts?.map(({ text = "" }) => text) ?? []).join("");
}
