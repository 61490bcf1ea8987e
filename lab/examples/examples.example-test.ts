import { globSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import { startExample } from "./run-example.ts";

describe("the examples with their own packages", () => {
  it.each([
    [
      "examples/18-langgraph/main.ts",
      "ROLE_USER birthday cake\nROLE_AGENT Noted: birthday cake\nTASK_STATE_INPUT_REQUIRED Which size?\nTASK_STATE_COMPLETED Here is your order: one large birthday cake.\n",
    ],
    [
      "examples/21-openai-agents/main.ts",
      "TASK_STATE_INPUT_REQUIRED May refund be called?\nTASK_STATE_COMPLETED The money is on its way.\n",
    ],
    [
      "examples/22-mastra/main.ts",
      "TASK_STATE_INPUT_REQUIRED May refund be called?\nTASK_STATE_COMPLETED The money is on its way.\n",
    ],
  ])("%s runs", async (file, output) => {
    const { code, out } = await (await startExample(file)).result;
    expect({ code, out }).toEqual({ code: 0, out: output });
  });

  it("examples/testing has 20 tests with their agents, of at most 30 lines each", () => {
    const lengths = globSync("examples/testing/*.test.ts").map(
      (file) => readFileSync(file, "utf8").trimEnd().split("\n").length,
    );
    expect(lengths).toHaveLength(20);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(30);
  });

  it("examples/hosts/fastify/server.ts serves agents below a path", async () => {
    const app = await startExample("examples/hosts/fastify/server.ts", { PORT: "0" });
    onTestFinished(() => void app.child.kill("SIGKILL"));
    const url = (await app.waitForOutput("/agents\n")).trim();
    expect((await (await connect(url)).ask("Ada")).text).toBe("Hello, Ada!");
    expect((await fetch(new URL("/elsewhere", url))).status).toBe(404);
  });
});
