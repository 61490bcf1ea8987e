import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FunctionTool, LlmAgent, LogLevel, LongRunningFunctionTool, setLogLevel } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, type A2AClient } from "../../../client/index.ts";
import { type DataPart, type Part, type Task, getText } from "../../../protocol/index.ts";
import { bearer } from "../../../server/auth/index.ts";
import { ScriptedLlm } from "../models/index.ts";
import { toA2a } from "../to-a2a.ts";
import { SessionServiceHarness, type SessionServiceUnderTest } from "./session-service.contract.ts";

setLogLevel(LogLevel.ERROR);

const rememberTool = new FunctionTool({
  name: "remember",
  description: "Keeps values in the state of the session",
  parameters: z.object({ values: z.record(z.string(), z.number()) }),
  execute: ({ values }, context) => {
    for (const [name, value] of Object.entries(values)) context?.state.set(name, value);
    return {};
  },
});

const approveTool = new LongRunningFunctionTool({
  name: "approve",
  description: "Asks a human",
  parameters: z.object({}),
  execute: () => ({ status: "pending" }),
});

/**
 * Returns an agent that repeats the user's messages and the state of its session. It also executes `remember
 * {…}` and `approve` commands.
 */
function createStatefulAgent(): LlmAgent {
  return new LlmAgent({
    name: "keeper",
    tools: [rememberTool, approveTool],
    instruction: ({ state }) => JSON.stringify(state.toRecord()),
    model: new ScriptedLlm(({ text, results, request }) => {
      const [result] = results;
      if (result?.name === "approve") return String(result.response?.["status"]);
      if (!result && text === "approve") return { call: "approve" };
      if (!result && text.startsWith("remember "))
        return { call: "remember", args: { values: JSON.parse(text.slice("remember ".length)) as object } };
      const texts = request.contents.flatMap(({ role, parts }) =>
        role === "user" ? (parts ?? []).flatMap((part) => part.text ?? []) : [],
      );
      const state = /\{.*\}/.exec(JSON.stringify(request.config?.systemInstruction).replaceAll("\\", ""));
      return [{ text: [`${texts.length} said, ${state?.[0]}`] }];
    }),
  });
}

const TOKENS = { "token-of-ada-0123456789": "ada", "token-of-bob-0123456789": "bob" };

function requireTask(result: object): Task {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
}

function getArtifactText(task: Task): string {
  return (task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
}

function buildApproval(waitingTask: Task): Part[] {
  const call = waitingTask.status.message?.parts[0] as DataPart;
  const { id } = call.data as { id: string };
  return [{ data: { id, response: { status: "approved" } } }];
}

/** Describes the sessions of an ADK agent that is served over A2A with a session service. */
export function defineSessionsOverA2aContract(sessions: SessionServiceUnderTest): void {
  describe(`an ADK agent served with ${sessions.name}`, () => {
    let folder: string;
    let opened: SessionServiceHarness;
    let stop = async (): Promise<void> => {};

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "colloquy-served-"));
      opened = new SessionServiceHarness(sessions);
      await opened.prepareStorage();
    });
    afterEach(async () => {
      await stop();
      await opened.cleanUp();
      rmSync(folder, { recursive: true });
    });

    /** Starts the server, or restarts it, and returns clients for Ada and Bob. */
    async function start(): Promise<A2AClient[]> {
      await stop();
      const server = toA2a(createStatefulAgent(), {
        port: 0,
        store: `sqlite:${join(folder, "tasks.db")}`,
        sessionService: opened.openService(),
        authenticate: bearer({ tokens: TOKENS }),
      });
      stop = async () => {
        await server.close({ graceMs: 0 });
        await opened.closeServices();
      };
      const { url } = await server.listen();
      return Promise.all(Object.keys(TOKENS).map((token) => connect(url, { auth: { bearer: token } })));
    }

    const ask = async (remote: A2AClient | undefined, contextId: string, text: string): Promise<string> =>
      getArtifactText(requireTask(await (remote as A2AClient).send(text, { contextId })));

    it("remembers a context only for its user", async () => {
      const [ada, bob] = await start();
      expect(await ask(ada, "one", "a")).toBe("1 said, {}");
      expect(await ask(ada, "one", "b")).toBe("2 said, {}");
      expect(await ask(ada, "one", "c")).toBe("3 said, {}");
      expect(await ask(ada, "two", "d")).toBe("1 said, {}");
      expect(await ask(bob, "one", "e")).toBe("1 said, {}");
    });

    it("keeps state of the app, the user, the session, and the run apart", async () => {
      const [ada, bob] = await start();
      const expectedState = { own: 1, "app:a": 2, "user:u": 3 };
      const all = { ...expectedState, "temp:t": 4 };
      const askForState = async (...args: Parameters<typeof ask>): Promise<object> =>
        JSON.parse((await ask(...args)).split("said, ")[1] ?? "") as object;
      const during = await askForState(ada, "one", `remember ${JSON.stringify(all)}`);
      expect(during).toEqual(sessions.traits.keepsTemporaryState ? all : expectedState);
      expect(await askForState(ada, "one", "?")).toEqual(expectedState);
      expect(await askForState(ada, "two", "?")).toEqual({ "app:a": 2, "user:u": 3 });
      expect(await askForState(bob, "one", "?")).toEqual({ "app:a": 2 });
    });

    it("accepts concurrent turns of a context and remembers all of them", async () => {
      const [ada] = await start();
      const texts = Array.from({ length: 20 }, (_, n) => `${n}`);
      const tasks = await Promise.all(
        texts.map(async (text) => requireTask(await (ada as A2AClient).send(text, { contextId: "one" }))),
      );
      expect(new Set(tasks.map(({ status }) => status.state))).toEqual(new Set(["TASK_STATE_COMPLETED"]));
      expect(await ask(ada, "one", "?")).toBe("21 said, {}");
    });

    it.runIf(sessions.traits.isDurable)("shares its contexts with a second server", async () => {
      const servers = ["a.db", "b.db"].map((file) =>
        toA2a(createStatefulAgent(), {
          port: 0,
          store: `sqlite:${join(folder, file)}`,
          sessionService: opened.openService(),
        }),
      );
      stop = async () => {
        await Promise.all(servers.map((server) => server.close({ graceMs: 0 })));
      };
      const remotes = await Promise.all(servers.map(async (server) => connect((await server.listen()).url)));
      const contexts = Array.from({ length: 10 }, (_, n) => `context-${n}`);
      // Both callers start every context concurrently.
      const tasks = contexts.flatMap((contextId) =>
        remotes.map(async (remote) => requireTask(await remote.send("a", { contextId }))),
      );
      for (const { status } of await Promise.all(tasks)) expect(status.state).toBe("TASK_STATE_COMPLETED");
      for (const contextId of contexts) expect(await ask(remotes[1], contextId, "b")).toBe("3 said, {}");
    });

    it("continues with an approval after another turn of its context", async () => {
      const [ada] = await start();
      const waitingTask = requireTask(await (ada as A2AClient).send("approve", { contextId: "one" }));
      expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(await ask(ada, "one", "b")).toBe("2 said, {}");
      const completedTask = requireTask(
        await (ada as A2AClient).send(buildApproval(waitingTask), { taskId: waitingTask.id }),
      );
      expect([completedTask.status.state, getArtifactText(completedTask)]).toEqual([
        "TASK_STATE_COMPLETED",
        "pendingapproved",
      ]);
    });

    it.runIf(sessions.traits.isDurable)("continues after a restart, including approvals", async () => {
      let [ada] = await start();
      await ask(ada, "one", 'remember {"own":1,"app:a":2,"temp:t":4}');
      const waitingTask = requireTask(await (ada as A2AClient).send("approve", { contextId: "one" }));
      [ada] = await start();
      const completedTask = requireTask(
        await (ada as A2AClient).send(buildApproval(waitingTask), { taskId: waitingTask.id }),
      );
      expect([completedTask.status.state, getArtifactText(completedTask)]).toEqual([
        "TASK_STATE_COMPLETED",
        "pendingapproved",
      ]);
      expect(await ask(ada, "one", "?")).toBe('3 said, {"own":1,"app:a":2}');
    });

    it.skipIf(sessions.traits.isDurable)(
      "fails an approval whose session was lost in a restart",
      async () => {
        let [ada] = await start();
        const waitingTask = requireTask(await (ada as A2AClient).send("approve", { contextId: "one" }));
        [ada] = await start();
        const completedTask = requireTask(
          await (ada as A2AClient).send(buildApproval(waitingTask), { taskId: waitingTask.id }),
        );
        expect(completedTask.status.state).toBe("TASK_STATE_FAILED");
      },
    );
  });
}
