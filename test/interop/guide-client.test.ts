/**
 * Tests the unmodified Python client from the guide that defines the simple dialect against our server. It
 * runs on any python3: a local module named `requests` replaces the parts of that package that it uses.
 */
import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, artifact, file, status } from "../../src/agents/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";

const research = agent(
  { name: "research", description: "Looks things up", capabilities: { streaming: true } },
  async function* ({ text }) {
    if (text === "fail") throw new Error("no luck");
    yield status("분석 시작...");
    yield artifact({ id: "report", name: "연구 보고서" }, `# ${text}`);
    yield artifact(
      { id: "pdf" },
      file(new URL("https://storage.example.com/report.pdf"), { mediaType: "application/pdf" }),
    );
  },
);

const hasPython = spawnSync("python3", ["-c", "import json, urllib.request"]).status === 0;
if (!hasPython) console.log("Skipped: the guide's Python client, because python3 is not installed.");

interface GuideClientOutput {
  taskId: string;
  before: Record<string, unknown>;
  events: Record<string, unknown>[];
  after: Record<string, unknown>;
}

describe.skipIf(!hasPython)("the guide's Python client", () => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer({ research }, { store: "memory" });
    ({ url } = await server.listen());
  });
  afterAll(() => server.close());

  async function drive(query: string): Promise<GuideClientOutput> {
    const script = fileURLToPath(new URL("guide/drive.py", import.meta.url));
    const args = ["-X", "utf8", "-B", script, url, "research", query];
    const { stdout } = await promisify(execFile)("python3", args);
    return JSON.parse(stdout) as GuideClientOutput;
  }

  it("creates a task, follows its events, and reads the result", async () => {
    const { taskId, before, events, after } = await drive("AI 에이전트 프로토콜 비교 분석");
    const input = { query: "AI 에이전트 프로토콜 비교 분석", depth: "comprehensive" };
    expect(before).toMatchObject({ taskId, agentId: "research", skill: "web_research", input });
    expect(events).toMatchObject([
      { type: "message", role: "agent", parts: [{ kind: "text", text: "분석 시작..." }] },
      { type: "artifact", artifactId: "report", name: "연구 보고서" },
      { type: "artifact", artifactId: "pdf" },
      { type: "done", status: "completed" },
    ]);
    expect(after).toMatchObject({
      taskId,
      status: "completed",
      artifacts: [
        { artifactId: "report", parts: [{ kind: "text", text: "# AI 에이전트 프로토콜 비교 분석" }] },
        {
          artifactId: "pdf",
          parts: [
            { kind: "file", url: "https://storage.example.com/report.pdf", mimeType: "application/pdf" },
          ],
        },
      ],
    });
  });

  it("receives a task's failure", async () => {
    const { events, after } = await drive("fail");
    expect(events.at(-1)).toMatchObject({ type: "error", status: "failed" });
    expect(after).toMatchObject({ status: "failed" });
  });
});
