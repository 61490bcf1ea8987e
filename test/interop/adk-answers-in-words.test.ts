import { LlmAgent, LogLevel, LongRunningFunctionTool, setLogLevel } from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { adkAgent, ScriptedLlm } from "../../src/agents/adk/index.ts";
import { runCliInTestProcess } from "../../src/cli/cli-test-process.fixture.ts";
import { connect } from "../../src/client/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { openTestChat } from "../../src/ui/ai-sdk/test-chat.fixture.ts";
import { createChat } from "../../src/ui/index.ts";
import { STORE_FACTORIES, type TemporaryStore } from "../support/store-factories.ts";
import { findTestPort, listenOnRestartPort } from "../support/test-ports.ts";

setLogLevel(LogLevel.ERROR);

function createHelper(): Agent {
  const askUser = new LongRunningFunctionTool({
    name: "ask_user",
    description: "Asks the user a question",
    parameters: z.object({ question: z.string() }),
    execute: () => undefined,
  });
  const model = new ScriptedLlm(({ results, request }) =>
    results[0]
      ? `${request.contents.length} contents, you like ${String(results[0].response?.["result"])}.`
      : { call: "ask_user", args: { question: "Which color?" } },
  );
  const helper = new LlmAgent({ name: "helper", description: "Asks", model, tools: [askUser] });
  return adkAgent(helper, { afterRestart: "restart" });
}

/** Sends a text as a person does, and then an answer in words to the question of the agent. */
interface Caller {
  readonly ask: (text: string) => Promise<unknown>;
  readonly answer: (text: string) => Promise<unknown>;
}

const CALLERS: Readonly<Record<string, (url: string) => Promise<Caller>>> = {
  "the command line": async (url) => {
    let resumeArgs: string[] = [];
    return {
      ask: async (text) => {
        const { err } = await runCliInTestProcess(["send", url, text]);
        expect(err).toContain("the agent asks: Which color? Answer with this command:");
        const [, ref = "", taskId = ""] = /send (\S+) --task-id (\S+) "<your answer>"/.exec(err) ?? [];
        // Another host name, because a new process has no open connection to the stopped server either.
        resumeArgs = ["send", ref.replace("127.0.0.1", "localhost"), "--task-id", taskId];
      },
      answer: (text) => runCliInTestProcess([...resumeArgs, text]),
    };
  },
  createChat: async (url) => {
    const chat = createChat(url, { storage: false });
    return { ask: (text) => chat.send(text), answer: (text) => chat.send(text) };
  },
  useChat: async (url) => {
    const chat = await openTestChat(url);
    const send = (text: string): Promise<void> => chat.sendMessage({ text });
    return { ask: send, answer: send };
  },
};

describe.each(STORE_FACTORIES)(
  "an ADK agent on a $name store, whose question waits during a restart",
  (factory) => {
    let temporary: TemporaryStore | undefined;
    let server: Server | undefined;

    afterEach(async () => {
      await server?.close({ graceMs: 0 });
      await temporary?.remove();
    });

    async function serve(port: number): Promise<string> {
      const started = createServer({ helper: createHelper() }, { store: temporary!.store });
      server = started;
      return (await listenOnRestartPort(() => started.listen({ port }))).url;
    }

    /** A memory store does not survive its server, so its server only replaces the agent. */
    async function restart(url: string): Promise<void> {
      if (temporary?.store === "memory") await server?.replaceAgents({ helper: createHelper() });
      else {
        await server?.close({ graceMs: 0 });
        await serve(Number(new URL(url).port));
      }
    }

    it.each(Object.entries(CALLERS))(
      "completes after an answer in words through %s",
      async (_, openCaller) => {
        temporary = await factory.openStore();
        const url = await serve(await findTestPort());
        const client = await connect(url);
        const caller = await openCaller(url);
        await caller.ask("Paint my house");
        const waiting = (await client.tasks.list()).tasks[0]!;
        expect(waiting.status.state).toBe("TASK_STATE_INPUT_REQUIRED");

        await restart(url);
        await caller.answer("green");
        const task = await client.tasks.get(waiting.id);
        expect([task.status.state, JSON.stringify(task.artifacts)]).toEqual([
          "TASK_STATE_COMPLETED",
          expect.stringContaining("3 contents, you like green."),
        ]);
      },
    );
  },
);
