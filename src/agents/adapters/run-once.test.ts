import { AgentCard } from "@a2a-js/sdk";
import { describe, expect, it } from "vitest";
import type { Agent, Run } from "../../engine/index.ts";
import { getText, type Task } from "../../protocol/index.ts";
import { fromExecutor, getRunOfRequest } from "./a2a-js/index.ts";
import { agent, command } from "./index.ts";
import { fromLangGraph } from "./langgraph/index.ts";
import { createTestGraph } from "./langgraph/test-graph.fixture.ts";
import { runThroughRestart } from "./server-restart.fixture.ts";

const DESCRIPTION = { name: "worker", description: "For tests" };
const CARD = AgentCard.fromJSON({ ...DESCRIPTION, version: "1.0.0", capabilities: { streaming: true } });

/** Executes one step, and does not end in the first attempt. */
type Work = (run: Pick<Run, "once">) => Promise<string>;

const createGenerator = (work: Work): Agent =>
  agent(
    DESCRIPTION,
    async function* ({ once }) {
      yield await work({ once });
    },
    { afterRestart: "restart" },
  );

const createGraphAgent = (work: Work): Agent => {
  const graph = createTestGraph({
    work: async (_state, { configurable }) => ({ answer: await work(configurable as Pick<Run, "once">) }),
  });
  return fromLangGraph(graph, {
    ...DESCRIPTION,
    toGraphInput: () => ({ answer: "" }),
    toAnswer: ({ answer }) => String(answer),
    toGraphConfig: ({ once }) => ({ configurable: { once } }),
    afterRestart: "restart",
  });
};

const createExecutorAgent = (work: Work): Agent =>
  fromExecutor(
    {
      async execute(request, bus) {
        const text = await work(getRunOfRequest(request));
        const { taskId, contextId } = request;
        bus.publish({
          kind: "artifactUpdate",
          data: {
            taskId,
            contextId,
            artifact: {
              artifactId: "answer",
              name: "",
              description: "",
              parts: [
                { content: { $case: "text", value: text }, mediaType: "", filename: "", metadata: undefined },
              ],
              metadata: undefined,
              extensions: [],
            },
            append: false,
            lastChunk: true,
            metadata: undefined,
          },
        });
        bus.finished();
      },
      cancelTask: () => Promise.resolve(),
    },
    CARD,
    { afterRestart: "restart", respondsWith: "task" },
  );

const getAnswer = ({ artifacts = [] }: Task): string => getText(artifacts[0]?.parts ?? []);

describe.each([
  ["generator", createGenerator],
  ["LangGraph graph", createGraphAgent],
  ["a2a-js executor", createExecutorAgent],
])("the agent of a %s", (_, createAgent) => {
  it("does not repeat a finished step after a restart [E18]", async () => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const executions: string[] = [];
    const task = await runThroughRestart(
      (attempt) =>
        createAgent(async ({ once }) => {
          const paid = await once("pay", ({ attempt: current }) => {
            executions.push(`pay ${current}`);
            return "paid";
          });
          if (attempt === 1) {
            interrupt();
            await new Promise(() => {});
          }
          return paid + (await once("mail", ({ attempt: current }) => ` and mailed in attempt ${current}`));
        }),
      interrupted,
    );
    expect(executions).toEqual(["pay 1"]);
    expect(getAnswer(task)).toBe("paid and mailed in attempt 2");
  });
});

it("a command receives the number of its attempt, and the same idempotency key in each attempt [E18]", async () => {
  const script = `echo "$COLLOQUY_ATTEMPT $COLLOQUY_IDEMPOTENCY_KEY"; test $COLLOQUY_ATTEMPT -gt 1 || sleep 60`;
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
  let firstOutput = "";
  const task = await runThroughRestart((attempt) => {
    const served = command(script, { shell: true, afterRestart: "restart", killGraceMs: 0 });
    if (attempt > 1) return served;
    return {
      ...served,
      async *execute(run) {
        for await (const event of served.execute(run)) {
          if ("artifact" in event && firstOutput === "") {
            firstOutput = getText(event.artifact.parts);
            interrupt();
          }
          yield event;
        }
      },
    };
  }, interrupted);
  expect(firstOutput).toMatch(/^1 [0-9a-f]{32}\n$/);
  expect(getAnswer(task)).toBe(firstOutput.replace("1 ", "2 "));
});

it("an executor's request of another server has no run", () => {
  expect(() => getRunOfRequest({} as never)).toThrow("serve the executor with fromExecutor");
});
