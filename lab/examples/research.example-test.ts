import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type CliTestProcess,
  createTempTestDirectoryWithFiles,
} from "../../src/cli/cli-test-process.fixture.ts";
import { findTestPort } from "../../test/support/test-ports.ts";
import { fromBase64, getText, type Artifact, type Task } from "../../src/protocol/index.ts";
import { isWindows } from "../../test/support/is-windows.ts";
import { startBuiltCli } from "./run-example.ts";

const EXAMPLE_FOLDER = fileURLToPath(new URL("../../examples/research", import.meta.url));
const QUESTION = "What is the difference between MCP and A2A?";
const PROGRESS = ["Found 7 documents", "Analysis done", "Report generated"];

interface RunningExample {
  cli: CliTestProcess;
  url: string;
  port: string;
}

async function startExample(
  cwd: string,
  env: Record<string, string> = {},
  restartPort?: string,
): Promise<RunningExample> {
  const port = restartPort ?? String(await findTestPort());
  const cli = startBuiltCli(["serve", EXAMPLE_FOLDER, "--port", port, "-o", "json"], cwd, env);
  onTestFinished(() => void cli.child.kill("SIGKILL"));
  const output = await cli.waitForOutput("Ctrl-C stops it.");
  const { url } = JSON.parse(output.slice(0, output.indexOf("\n}\n") + 3)) as { url: string };
  return { cli, url: `${url}/a2a/research`, port };
}

async function sendQuestion({ url }: RunningExample, cwd: string, question = QUESTION): Promise<Task> {
  const { out } = await startBuiltCli(["send", url, question, "-o", "json", "--history", "20"], cwd).result;
  return (JSON.parse(out) as { task: Task }).task;
}

/** Returns the agent's status texts in order, without artifacts. */
function getProgressTexts({ history = [], status }: Task): string[] {
  return [...history, ...(status.message ? [status.message] : [])]
    .filter(({ role }) => role === "ROLE_AGENT")
    .map(({ parts }) => getText(parts));
}

function requireArtifact({ artifacts = [] }: Task, id: string): Artifact {
  const found = artifacts.filter(({ artifactId }) => artifactId === id);
  expect(found).toHaveLength(1);
  return found[0] as Artifact;
}

/** Returns the text of the report, which is also the content of its file. */
function getReport(task: Task): string {
  const [text, asFile] = requireArtifact(task, "report").parts;
  expect(asFile).toMatchObject({ filename: "report.md", mediaType: "text/markdown" });
  const bytes = fromBase64((asFile as { raw: string }).raw);
  expect(Buffer.from(bytes).toString()).toBe((text as { text: string }).text);
  return (text as { text: string }).text;
}

const countOccurrences = (text: string, words: string): number => text.split(words).length - 1;

describe("examples/research", () => {
  it("answers with citations from its folder, reports progress, and returns the report as text and as a file", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const task = await sendQuestion(await startExample(cwd), cwd);
    expect(getProgressTexts(task)).toEqual(PROGRESS);
    const found = requireArtifact(task, "results");
    expect(found).toMatchObject({ name: "Search results", parts: [{ data: { mode: "fulltext" } }] });
    const { documents } = (found.parts[0] as { data: { documents: { document: string }[] } }).data;
    const [best] = documents;
    expect(documents).toHaveLength(7);
    expect(best?.document).toBe("mcp-and-a2a.md");

    const report = getReport(task);
    expect(report).toContain(`# Research report: ${QUESTION}`);
    // Every finding is a sentence of the cited document.
    const findings = [...report.matchAll(/^- \*\*.+?\*\*: (.+) \[(\d+)\]$/gm)];
    expect(findings.length).toBeGreaterThan(3);
    for (const [, sentence = "", number] of findings) {
      const { document = "" } = documents[Number(number) - 1] ?? {};
      expect(report).toContain(`[${number}] `);
      expect(report).toContain(`(\`${document}\`)`);
      expect(await readFile(join(EXAMPLE_FOLDER, "documents", document), "utf8")).toContain(sentence);
    }
  });

  it.each(["TASK_STATE_SUBMITTED", "Analysis done"])(
    "continues when its server was killed after %s: the client resumes, and receives the report once [E9, E4]",
    async (requests) => {
      const cwd = await createTempTestDirectoryWithFiles({});
      const before = await startExample(cwd, { RESEARCH_PACE_MS: "500" });
      const client = startBuiltCli(["send", before.url, QUESTION, "--stream"], cwd);
      await client.waitForOutput(requests);
      before.cli.child.kill("SIGKILL");
      await before.cli.result;
      const after = await startExample(cwd, { RESEARCH_PACE_MS: "500" }, before.port);
      const { code, out } = await client.result;
      expect(code).toBe(0);
      // The agent continued after its completed steps and did not repeat them.
      for (const words of [...PROGRESS, "Artifact: Research report", "TASK_STATE_COMPLETED"]) {
        expect([words, countOccurrences(out, words)]).toEqual([words, 1]);
      }
      const [, id = ""] = /^Task: (.+)$/m.exec(out) ?? [];
      const got = await startBuiltCli(["task", "get", after.url, id, "-o", "json", "--history", "20"], cwd)
        .result;
      const task = (JSON.parse(got.out) as { task?: Task } & Task).task ?? (JSON.parse(got.out) as Task);
      expect(getProgressTexts(task)).toEqual(PROGRESS);
      expect(getReport(task)).toContain("## Sources");
    },
  );

  it("researches in Korean with the guide's keywords, and writes no unrequested report", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { url } = await startExample(cwd);
    const rpc = async (method: string, params: object): Promise<Record<string, unknown>> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: "req_1", method, params });
      const headers = { "content-type": "application/json" };
      const answer = (await (await fetch(url, { method: "POST", headers, body })).json()) as {
        result: Record<string, unknown>;
      };
      return answer.result;
    };
    const input = { query: "AI 에이전트 협업 사례" };
    const { taskId, status } = await rpc("tasks/create", { skill: "web_research", input });
    expect(status).toBe("pending");
    const events = await (await fetch(`${url}/tasks/${String(taskId)}/events`)).text();
    const kinds = [...events.matchAll(/^event: (.+)$/gm)].map(([, kind]) => kind);
    expect(kinds).toEqual(["artifact", "message", "artifact", "message", "done"]);
    expect(await rpc("tasks/get", { taskId })).toMatchObject({
      skill: "web_research",
      status: "completed",
      artifacts: [
        { name: "검색 결과", parts: [{ kind: "data" }] },
        {
          name: "분석 결과",
          parts: [{ kind: "text", text: expect.stringMatching(/에이전트[^]*\[1\]/) as string }],
        },
      ],
    });
    const card = new URL("/.well-known/agent-card.json?assistant_id=research", url);
    const { skills } = (await (await fetch(card)).json()) as { skills: { name: string }[] };
    expect(skills.map(({ name }) => name)).toEqual(["web_research", "report_generation"]);
  });

  it.skipIf(isWindows)(
    "searches the given folder, reports an empty folder, and exits on request",
    async () => {
      const cwd = await createTempTestDirectoryWithFiles({
        "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees for two minutes.",
      });
      const server = await startExample(cwd, { RESEARCH_FOLDER: cwd });
      const task = await sendQuestion(server, cwd, "How is green tea steeped?");
      expect(getProgressTexts(task)[0]).toBe("Found 1 documents");
      expect(getReport(task)).toContain("Green tea is steeped at eighty degrees for two minutes. [1]");
      expect(getReport(await sendQuestion(server, cwd, "Zebras?"))).toContain(
        "No document in the folder answers this question.",
      );
      server.cli.child.kill("SIGTERM");
      expect((await server.cli.result).code).toBe(0);
    },
  );

  it("uses a model if configured, and vector search with an embedding model", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    await writeFile(join(cwd, "tea.md"), "# Tea\n\nGreen tea is steeped at eighty degrees.");
    await writeFile(join(cwd, "cats.md"), "# Cats\n\nA cat sleeps sixteen hours a day.");
    const provider = await startOpenAiStub();
    const server = await startExample(cwd, {
      RESEARCH_FOLDER: cwd,
      RESEARCH_MODEL: "openai:writer",
      EMBEDDING_MODEL: "openai:vectors",
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: provider.url,
    });
    // The document contains no word of the question; only the vectors are similar.
    const task = await sendQuestion(server, cwd, "Kittens?");
    const [results] = requireArtifact(task, "results").parts;
    expect(results).toMatchObject({ data: { mode: "hybrid", documents: [{ document: "cats.md" }] } });
    expect(getReport(task)).toBe(
      "# Research report: Kittens?\n\nThey sleep a lot [1], and dream.\n\n## Sources\n\n- [1] Cats (`cats.md`)\n",
    );
    expect(provider.prompts).toHaveLength(2);
    for (const prompt of provider.prompts) expect(prompt).toContain("A cat sleeps sixteen hours a day.");
    expect(provider.prompts[1]).toContain("They sleep a lot [1], and dream.");
  });
});

/**
 * Starts a stub of OpenAI's API. Texts about cats share one embedding vector, and all other texts share
 * another. The writer cites a source that does not exist.
 */
async function startOpenAiStub(): Promise<{ url: string; prompts: string[] }> {
  const prompts: string[] = [];
  const server = createHttpServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { input = [], model } = JSON.parse(body) as { input?: string[]; model: string };
      const isEmbedding = request.url?.endsWith("/embeddings") ?? false;
      if (!isEmbedding) prompts.push(body);
      const message = { role: "assistant", content: "They sleep a lot [1], and dream [9]." };
      const data = input.map((text, index) => ({
        object: "embedding",
        index,
        embedding: /cat|kitten/i.test(text) ? [1, 0.1] : [0.1, 1],
      }));
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const answer = isEmbedding
        ? { object: "list", model, data, usage }
        : {
            id: "c",
            object: "chat.completion",
            created: 1,
            model,
            choices: [{ index: 0, message, finish_reason: "stop" }],
            usage,
          };
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, prompts };
}
