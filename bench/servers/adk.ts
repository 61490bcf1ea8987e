import { InMemorySessionService, LogLevel, Runner, setLogLevel, StreamingMode, toA2a } from "@google/adk";
import type { StartedSystem } from "../system-process-main.ts";
import { SCRIPTED_MODEL_REPLY_TEXT } from "../scripted-model-reply.ts";
import { createScriptedAdkAgent } from "./scripted-adk-agent.ts";
import { listenOnFreePort } from "./listen-on-free-port.ts";

/** Starts ADK's own A2A server (A2A 0.3, Express, tasks and sessions in memory). */
export async function startAdkToA2aServer(): Promise<StartedSystem> {
  setLogLevel(LogLevel.ERROR);
  const url = await listenOnFreePort(await toA2a(createScriptedAdkAgent(), { allowUnauthenticated: true }));
  return { url: `${url}/jsonrpc` };
}

/**
 * Creates an ADK runner without a network, with one in-memory session per task. It measures the cost of the
 * agent itself.
 */
export async function createAdkRunnerSystem(): Promise<StartedSystem> {
  setLogLevel(LogLevel.ERROR);
  const sessionService = new InMemorySessionService();
  const runner = new Runner({ agent: createScriptedAdkAgent(), appName: "bench", sessionService });
  let started = 0;
  const runTask = async (): Promise<string> => {
    const session = { userId: "bench", sessionId: String(++started) };
    await sessionService.createSession({ appName: "bench", ...session });
    const events = runner.runAsync({
      ...session,
      newMessage: { role: "user", parts: [{ text: "go" }] },
      runConfig: { streamingMode: StreamingMode.SSE },
    });
    let text = "";
    for await (const { content, partial } of events) {
      if (!partial) text = content?.parts?.map((part) => part.text ?? "").join("") ?? "";
    }
    return text;
  };
  return {
    async runJobsWithoutServer({ connections, rampUpMs, durationMs }) {
      const begin = performance.now() + rampUpMs;
      const end = begin + durationMs;
      const faults: string[] = [];
      let completed = 0;
      let counted = 0;
      const runWorker = async (): Promise<void> => {
        for (;;) {
          const text = await runTask();
          const now = performance.now();
          if (now > end) return;
          if (text !== SCRIPTED_MODEL_REPLY_TEXT) faults.push(`the text has ${text.length} characters`);
          completed++;
          if (now > begin) counted++;
        }
      };
      await Promise.all(Array.from({ length: connections }, runWorker));
      return { perSecond: (counted / durationMs) * 1000, completed, checked: completed, faults };
    },
  };
}
