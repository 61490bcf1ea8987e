/** Calls the node as LangGraph does. `lab/peers/langgraph` tests the node in graphs of LangGraph. */
import { once } from "node:events";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Agent } from "../../../engine/index.ts";
import { createServer } from "../../../server/index.ts";
import { agent, data, inputRequired, status } from "../index.ts";
import { a2aNode } from "./index.ts";

/** The user's answers in the current run of the graph. A further question stops the run. */
let answers: unknown[] = [];

vi.mock("@langchain/langgraph", () => ({
  interrupt: (question: unknown): unknown => {
    if (answers.length > 0) return answers.shift();
    throw Object.assign(new Error("interrupted"), { question });
  },
}));

beforeEach(() => {
  answers = [];
});

interface State {
  readonly question: string;
}

async function serveAgent(served: Agent): Promise<string> {
  const server = createServer(served, { store: "memory" });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return (await server.listen()).url;
}

const agentDescription = { name: "station", description: "Tells the weather of a city" };

const createNode = (url: string): ReturnType<typeof a2aNode<State, string>> =>
  a2aNode(url, {
    toInput: ({ question }) => question,
    toStateUpdate: ({ state, text, data }) => [state, text, ...(data ?? []).map(String)].join(" "),
  });

describe("an A2A agent as a LangGraph node", () => {
  it("answers in the thread's conversation, and reports progress as custom events", async () => {
    const contexts: string[] = [];
    const url = await serveAgent(
      agent(agentDescription, async function* ({ text, contextId }) {
        contexts.push(contextId);
        yield status("Looking out of the window…");
        yield `${text}: sunny.`;
        yield data(21);
      }),
    );
    const seen: unknown[] = [];
    const node = createNode(url);
    const config = { configurable: { thread_id: "thread-1" }, writer: (value: unknown) => seen.push(value) };
    expect(await node({ question: "Seoul" }, config)).toBe("completed Seoul: sunny. 21");
    expect(seen).toEqual(["Looking out of the window…"]);
    await node({ question: "Busan" }, config);
    expect(contexts).toEqual(["thread-1", "thread-1"]);
  });

  it.each(["in this process", "after a restart"])(
    "interrupts its graph for a question, and does not call its agent again when the graph resumes %s",
    async (place) => {
      const received: string[] = [];
      const url = await serveAgent(
        agent(agentDescription, async function* ({ text, history }) {
          received.push(text);
          if (history.length === 1) yield inputRequired("Which city?");
          if (history.length === 3) yield inputRequired("Which day?");
          yield `${text}: sunny.`;
        }),
      );
      const first = createNode(url);
      const config = { configurable: { thread_id: "thread-1", checkpoint_ns: "station:1" } };
      // LangGraph runs the node from its beginning with all answers of the user.
      const run = async (...given: string[]): Promise<unknown> => {
        answers = given;
        const node = place === "in this process" ? first : createNode(url);
        return node({ question: "Weather?" }, config).catch(
          (error: unknown) => (error as { question: unknown }).question,
        );
      };
      expect(await run()).toBe("Which city?");
      expect(await run("Seoul")).toBe("Which day?");
      expect(await run("Seoul", "Monday")).toBe("completed Monday: sunny.");
      expect(received).toEqual(["Weather?", "Seoul", "Monday"]);
    },
  );

  it("cancels its task when the run is aborted", async () => {
    const canceled = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const url = await serveAgent(
      agent(agentDescription, async function* ({ signal }) {
        yield status("Waiting…");
        started.resolve();
        await once(signal, "abort");
        canceled.resolve();
      }),
    );
    const abort = new AbortController();
    const running = createNode(url)({ question: "Seoul" }, { signal: abort.signal });
    await started.promise;
    abort.abort();
    await expect(running).rejects.toThrow(/abort/i);
    await canceled.promise;
  });
});
