import { describe, expect, it } from "vitest";
import {
  CliTestProcess,
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  startServeCommandForTest,
} from "../../src/cli/cli-test-process.fixture.ts";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { TASK_STORE_RULES } from "../../src/stores/testing/index.ts";
import { type DataPart, type Task, getText } from "../../src/protocol/index.ts";

const getExamplePath = (name: string): string =>
  fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

describe("the examples", () => {
  it.each([
    ["01-hello.ts", "hello", "Ada", "Hello, Ada! Nice to meet you."],
    ["02-adk-agent.ts", "weather", "What is the weather in Seoul?", "It is sunny in Seoul, 21 °C."],
    ["19-a2a-js-executor.ts", "greeter", "Ada", "Hello, Ada!"],
    ["10-adk-mcp.ts", "grocer", "How many pears are there?", "There are 3."],
  ])("%s can be served", async (file, id, text, answer) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startServeCommandForTest(["serve", getExamplePath(file), "--store", "memory"], cwd);
    try {
      const { out } = await spawnColloquyForTest(["send", server.agentUrls[id] as string, text], cwd).result;
      expect(out).toContain(`${answer}\n`);
    } finally {
      server.process.child.kill("SIGKILL");
    }
  });

  it("23-custom-store.ts follows all rules for task stores, and serves an agent", async () => {
    const fromSource = new URL("../../test/support/from-source.mjs", import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--import",
      fromSource,
      getExamplePath("23-custom-store.ts"),
    ]);
    expect(stdout.match(/^The store follows the rule: /gm)).toHaveLength(TASK_STORE_RULES.length);
    expect(stdout).toContain("TASK_STATE_COMPLETED [ { text: 'hello' } ]");
  });

  it("09-adk-approval.ts continues with an approval after its server was killed", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const args = [
      "serve",
      getExamplePath("09-adk-approval.ts"),
      "--store",
      `sqlite:${join(cwd, "tasks.db")}`,
    ];
    const before = await startServeCommandForTest(args, cwd);
    const send = async (url: string, ...options: string[]): Promise<Task> => {
      const { out } = await spawnColloquyForTest(["send", url, "-o", "json", ...options], cwd).result;
      return (JSON.parse(out) as { task: Task }).task;
    };
    const question = await send(before.agentUrls["refunds"] as string, "Refund 80 euros");
    before.process.child.kill("SIGKILL");
    await before.process.result;
    expect(question.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const call = question.status.message?.parts[0] as DataPart;
    const { id } = call.data as { id: string };
    const after = await startServeCommandForTest(args, cwd);
    try {
      const answer = JSON.stringify({ id, response: { approved: true } });
      const url = after.agentUrls["refunds"] as string;
      const done = await send(url, "--task-id", question.id, "--data", answer);
      expect(done.status.state).toBe("TASK_STATE_COMPLETED");
      expect(done.artifacts?.map(({ parts }) => getText(parts)).join(" ")).toBe(
        "I have requested approval. The money is on its way.",
      );
    } finally {
      after.process.child.kill("SIGKILL");
    }
  });

  it.each([
    [
      "08-adk-workflows.ts",
      /^sequence \| "author": A draft. "editor": A better draft.\nparallel \| "prose": A story. "verse": A poem.\nloop \| "polisher": Version 1. "polisher": Version 2.\nworkflow \| "count": \{"words":3\} "counted": One two three.\n$/,
    ],
    ["03-streaming-client.ts", /^1 2 3 (\d+ )+29 30 \nCut [1-9]\d* times\.\n$/],
    ["05-extension.ts", /^\[\{[^\n]*veni, vidi[^\n]*\}\]\n[^\n]*veni, vidi[^\n]*"tense":"perfect"[^\n]*\n$/],
    [
      "06-signed-card.ts",
      /^The signature of the bank card is valid\.\nThe card of "bank" has no trusted signature: /,
    ],
    [
      "07-authentication.ts",
      /^Authentication schemes: apiKey or bearer\n[^]*Noted for ada: a secret[^]*Bob sees 0 tasks\.\nTask \S+ was not found[^\n]*\n[^\n]*not authenticated[^\n]*\n$/,
    ],
    [
      "11-push.ts",
      /^task: TASK_STATE_SUBMITTED\nartifact: Here is your cake\.\nstatus: TASK_STATE_COMPLETED\n$/,
    ],
    [
      "12-remote-agent.ts",
      /^TASK_STATE_INPUT_REQUIRED \{"input_required":"Which city\?"\}\nIt is sunny in Seoul, 21 °C\.\n$/,
    ],
    [
      "13-cards.ts",
      /^18\n1\. CONTROLLER {4}→ \[TASK\] {4}PLANNER\n[^]*\n6\. PLANNER {7}← \[RESULT\] {2}CONTROLLER\n$/,
    ],
    [
      "14-mcp-server.ts",
      /^station_forecast: Returns tomorrow's weather\nTASK_STATE_INPUT_REQUIRED For which city\?\nLooking at the sky…\nIt will be sunny in Busan\.\nIt will be sunny in Busan\.\n$/,
    ],
    ["15-mcp-tools.ts", /^There are 12 apples\.\n$/],
    ["16-adk-mcp-http.ts", /^The station says: It is sunny in Busan, 21 °C\.\n$/],
    [
      "17-openai-facade.ts",
      /^model: baker\nA birthday cake, gladly\. Which size\?\nHere is your large cake\.\n$/,
    ],
    [
      "20-ai-sdk.ts",
      /^\{"data":\{"type":"tool-call"[^\n]*\n\{"data":\{"type":"tool-result"[^\n]*\nIt is sunny in Seoul, 21 °C\.\nTake your sunglasses\.\n$/,
    ],
    ["04-no-socket.ts", /INPUT_REQUIRED[^]*Which size\?[^]*COMPLETED[^]*Here is your large cake\./],
  ])("%s runs", async (file, output) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, out } = await new CliTestProcess(process.execPath, [getExamplePath(file)], cwd).result;
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(output) as string });
  });
});
