import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectTestMcpHost2026 } from "../agents/mcp/mcp-hosts.fixture.ts";
import { type ScriptedAgentServer, serveScriptedAgent } from "../agents/mcp/scripted-agent.fixture.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "./cli-test-process.fixture.ts";
import { isWindows } from "../../test/support/is-windows.ts";

const NOISY = `
import { agent } from "colloquy";
console.log("loaded");
process.stdout.write("{}\\n");
export const rootAgent = agent({ name: "noisy", description: "Prints" }, async function* ({ text }) {
  console.log("working");
  process.stdout.write("half a line");
  yield text.toUpperCase();
});`;

let parrot: ScriptedAgentServer;
beforeAll(async () => {
  parrot = await serveScriptedAgent();
});
afterAll(() => parrot.close());

describe("mcp", () => {
  it("serves agent files and remote agents, and keeps stdout for the protocol even if agents print", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "noisy.ts": NOISY });
    const host = await connectTestMcpHost2026({ args: [`${cwd}/noisy.ts`, parrot.url] });
    onTestFinished(() => host.close());
    expect((await host.listTools()).map(({ name }) => name)).toEqual(["noisy", "parrot_say", "parrot_count"]);
    const { content } = await host.callTool("noisy", { message: "quiet" });
    expect(content).toEqual([{ type: "text", text: "QUIET" }]);
    const remote = await host.callTool("parrot_say", { message: "hi" });
    expect(remote.content).toEqual([{ type: "text", text: "You said: hi" }]);
  });

  it("lets a model answer an ADK agent's request with data", async () => {
    const file = fileURLToPath(new URL("../../examples/09-adk-approval.ts", import.meta.url));
    const host = await connectTestMcpHost2026({ args: [file] });
    onTestFinished(() => host.close());
    const tool = "refunds";
    const asked = await host.callTool(tool, { message: "Refund 80 euros" });
    const { state, taskId, artifacts = [] } = asked.structuredContent ?? {};
    expect(state).toBe("TASK_STATE_INPUT_REQUIRED");
    const [question] = artifacts.at(-1)?.parts ?? [];
    const { id } = (question && "data" in question ? question.data : {}) as { id: string };
    const done = await host.callTool(tool, { taskId, data: { id, response: { approved: true } } });
    expect(done.structuredContent?.state).toBe("TASK_STATE_COMPLETED");
    expect(done.content.at(-1)?.text).toBe("The money is on its way.");
  });

  it("writes one protocol message per line, and exits when its host closes stdin", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "noisy.ts": NOISY });
    const cli = spawnColloquyForTest(["mcp", "noisy.ts"], cwd);
    // Stdin is already closed.
    const { code, out, err } = await cli.result;
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toContain("loaded");
  });

  it.skipIf(isWindows)("listens for HTTP with --port until it is stopped", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const cli = spawnColloquyForTest(["mcp", parrot.url, "--port", "0"], cwd);
    const said = await cli.waitForOutput("Ctrl-C stops it.");
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said) ?? [];
    const host = await connectTestMcpHost2026({ url });
    expect((await host.listTools()).map(({ name }) => name)).toEqual(["parrot_say", "parrot_count"]);
    await host.close();
    cli.child.kill("SIGTERM");
    const { code, out } = await cli.result;
    expect({ code, out }).toEqual({ code: 0, out: `${url}\n` });
  });

  it("sends credentials to a single agent only", async () => {
    const { code, err } = await runCliInTestProcess([
      "mcp",
      parrot.url,
      parrot.url,
      "--port",
      "0",
      "--bearer",
      "s3cret",
    ]);
    expect(code).toBe(2);
    expect(err).toContain("The credentials would be sent to 2 agents.");
    expect(err).not.toContain("s3cret");
  });

  it.skipIf(isWindows)("skips an unreachable agent, and reports it", async () => {
    const cli = spawnColloquyForTest(
      ["mcp", "http://127.0.0.1:9", parrot.url, "--port", "0"],
      await createTempTestDirectoryWithFiles({}),
    );
    const said = await cli.waitForOutput("Ctrl-C stops it.");
    expect(said).toContain("Not among the tools: http://127.0.0.1:9: ");
    expect(said).toContain("  parrot_say\n");
    cli.child.kill("SIGTERM");
    expect((await cli.result).code).toBe(0);
  });

  it.each([
    [["mcp", "http://127.0.0.1:9", "--port", "0"], 3, "127.0.0.1:9"],
    [["mcp", "missing.ts", "--port", "0"], 2, "missing.ts does not exist"],
    [["mcp"], 2, "missing required argument"],
  ])("says what is wrong with %j", async (args, code, text) => {
    const ended = await runCliInTestProcess(args);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toContain(text);
  });

  it("explains the host's configuration in its help, and hides irrelevant flags", async () => {
    const { out } = await runCliInTestProcess(["mcp", "--help"]);
    expect(out).toContain('"mcpServers"');
    expect(out).toContain("--bearer");
    expect(out).not.toMatch(/^ +(-\S, )?--(stream|output|timeout)\b/m);
  });
});
