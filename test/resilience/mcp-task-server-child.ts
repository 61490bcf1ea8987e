/**
 * An MCP server to be killed, with an agent that works in steps and resumes after the last recorded step. It
 * uses the given SQLite file and port, and the product's defaults otherwise.
 */
import { setTimeout } from "node:timers/promises";
import type { Agent } from "../../src/engine/index.ts";
import { createMcpServer } from "../../src/agents/mcp/index.ts";
import { getText } from "../../src/protocol/index.ts";

const [file = "", port = "0", stepCount = "1", stepMs = "1"] = process.argv.slice(2);

const worker: Agent = {
  afterRestart: "resume",
  describe: () => ({ name: "worker", description: "Works in steps" }),
  async *execute({ task, signal, attempt }) {
    const report = task.artifacts?.find(({ artifactId }) => artifactId === "report");
    const first = report ? getText(report.parts).trim().split(" ").length : 0;
    for (let step = first; step < Number(stepCount); step++) {
      const text = `Attempt ${attempt}, step ${step}`;
      yield { status: { state: "TASK_STATE_WORKING", message: { parts: [{ text }] } } };
      await setTimeout(Number(stepMs), undefined, { signal });
      yield { artifact: { artifactId: "report", parts: [{ text: `${step} ` }] }, append: step > 0 };
      process.send?.({ step });
    }
  },
};

const mcp = await createMcpServer({ worker }, { serverOptions: { store: `sqlite:${file}` } });
const { url } = await mcp.listen({ port: Number(port) });
process.send?.({ url });
