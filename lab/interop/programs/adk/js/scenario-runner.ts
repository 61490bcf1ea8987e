import {
  type BaseAgent,
  type Event,
  InMemoryRunner,
  LlmAgent,
  LoopAgent,
  type Session,
  StreamingMode,
} from "@google/adk";
import type { Content, Part } from "@google/genai";
import { ScriptedLlm } from "../../../../../src/agents/adk/index.ts";
import type { Scenario, ScenarioTurn } from "../scripted-agent-file.ts";
import type { SessionReport } from "../session-report.ts";

const SESSION = { appName: "caller", userId: "user", sessionId: "session" };

/** Runs a scenario with an agent in a Runner. Returns the session of the caller. */
export async function runScenario(
  { turns, isLoop = false, isWhole = false }: Scenario,
  agent: BaseAgent,
  interrupt: () => Promise<void>,
): Promise<SessionReport> {
  const runner = new InMemoryRunner({ agent: isLoop ? wrapInLoop(agent) : agent, appName: "caller" });
  const { sessionService, artifactService } = runner;
  await sessionService.createSession({ ...SESSION, state: { color: "blue" } });
  const getSession = async (): Promise<Session> => {
    const session = await sessionService.getSession(SESSION);
    if (!session) throw new Error("The session of the caller is lost.");
    return session;
  };
  for (const turn of turns) {
    if ("interruption" in turn) {
      await interrupt();
      continue;
    }
    const newMessage = toMessage(turn, (await getSession()).events);
    const runConfig = { streamingMode: isWhole ? StreamingMode.NONE : StreamingMode.SSE };
    const { userId, sessionId } = SESSION;
    for await (const _ of runner.runAsync({ userId, sessionId, newMessage, runConfig })) void _;
  }
  const { events, state } = await getSession();
  const names = await artifactService?.listArtifactKeys(SESSION);
  const artifacts: Record<string, Part | undefined> = {};
  for (const filename of names ?? []) {
    artifacts[filename] = await artifactService?.loadArtifact({ ...SESSION, filename });
  }
  return { events, state, artifacts } as unknown as SessionReport;
}

function wrapInLoop(agent: BaseAgent): LoopAgent {
  const nag = new LlmAgent({ name: "nag", model: new ScriptedLlm(["Again."]) });
  return new LoopAgent({ name: "loop", subAgents: [agent, nag], maxIterations: 3 });
}

function toMessage(turn: Exclude<ScenarioTurn, { interruption: true }>, events: readonly Event[]): Content {
  if (!("answer" in turn)) {
    return { role: "user", parts: [{ text: turn.text }, ...(turn.file ? [{ inlineData: turn.file }] : [])] };
  }
  const longRunningIds = new Set(events.flatMap(({ longRunningToolIds }) => longRunningToolIds ?? []));
  const call = events
    .flatMap(({ content }) => content?.parts ?? [])
    .findLast(({ functionCall }) => longRunningIds.has(functionCall?.id ?? ""))?.functionCall;
  if (!call) return { role: "user", parts: [{ text: turn.text ?? "There is no pending call." }] };
  const functionResponse = { id: call.id ?? "", name: call.name ?? "", response: { ...turn.answer } };
  return { role: "user", parts: [{ functionResponse }] };
}
