import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ConsoleAgentList, ConsoleSession, ConsoleTaskList } from "../studio/console/index.ts";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  spawnColloquyForTest,
  type CliTestProcess,
} from "./cli-test-process.fixture.ts";

/** A console that a command has started. */
interface StartedConsole {
  readonly process: CliTestProcess;
  /** URL of the server. */
  readonly serverUrl: string;
  readonly token: string;
  readonly cwd: string;
  readonly get: <T>(path: string, token?: string) => Promise<T>;
}

async function startConsole(
  args: readonly string[],
  files: Record<string, string> = {},
): Promise<StartedConsole> {
  const cwd = await createTempTestDirectoryWithFiles(files);
  const child = spawnColloquyForTest(args, cwd);
  onTestFinished(async () => {
    child.child.kill("SIGTERM");
    await child.result;
  });
  const text = await child.waitForOutput("Ctrl-C stops it.");
  const [, serverUrl = "", launchToken = ""] =
    /(http:\/\/[^/\s]+)\/console\/(?:#token=(\S+))?/.exec(text) ?? [];
  return {
    process: child,
    serverUrl,
    token: launchToken,
    cwd,
    get: async <T>(path: string, token = launchToken) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${serverUrl}/console/api/${path}`, { headers });
      const body = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${body}`);
      return JSON.parse(body) as T;
    },
  };
}

const SERVE_CAT = ["serve", "--exec", "cat", "--name", "cat", "--store", "memory", "--port", "0"];

describe("colloquy serve --console", () => {
  it("prints a URL with a token, and serves the page and the agents", async () => {
    const { serverUrl, token, get } = await startConsole([...SERVE_CAT, "--console"]);
    expect(token).toHaveLength(32);
    const page = await fetch(`${serverUrl}/console/`);
    const html = await page.text();
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe-");
    const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
    expect((await fetch(new URL(script, `${serverUrl}/console/`))).status).toBe(200);
    const { agents } = await get<ConsoleAgentList>("agents");
    expect(agents).toMatchObject([{ id: "cat", url: `${serverUrl}/a2a/cat` }]);
    await expect(get("agents", "wrong")).rejects.toThrow("401");
  });

  it("lets an operator in with the token of a file, and logs each look", async () => {
    const started = await startConsole(
      [...SERVE_CAT, "--console", "--bearer-file", "tokens", "--operator-token-file", "operator"],
      { tokens: "ada caller-token-of-ada-lovelace\n", operator: "operator-token-of-olga\n" },
    );
    expect(started.token).toBe("");
    const get = started.get;
    expect(await get<ConsoleSession>("session", "caller-token-of-ada-lovelace")).toMatchObject({
      isOperator: false,
    });
    expect(await get<ConsoleSession>("session", "operator-token-of-olga")).toMatchObject({
      isOperator: true,
    });
    await get<ConsoleTaskList>("tasks", "operator-token-of-olga");
    await started.process.waitForOutput(`The operator \\"operator\\" used \\"list tasks\\" from 127.0.0.1`);
    await expect(get("session", "another-unknown-token")).rejects.toThrow("401");
  });

  it("explains operator options that have no effect", async () => {
    const { code, err } = await runCliInTestProcess([...SERVE_CAT, "--operator-token-file", "operator"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--operator-token-file requires --console")]);
  });
});

describe("colloquy console", () => {
  it("opens the agents of URLs and the records of files", async () => {
    const served = await startConsole([...SERVE_CAT, "--console", "--record", "own.jsonl"]);
    const event = { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } };
    const line = { v: 1, kind: "event", writer: "w", seq: 1, at: "2026-11-23T08:00:00.000Z", mono_ms: 1 };
    const record = `${JSON.stringify({ ...line, agent: "far", task_id: "t", log_seq: 1, event })}\n`;
    const files = { "record.jsonl": record };
    const { get } = await startConsole(
      ["console", `${served.serverUrl}/a2a/cat`, "record.jsonl", "--port", "0"],
      files,
    );
    const { agents } = await get<ConsoleAgentList>("agents");
    expect(agents.map(({ name, isRecorded, status }) => [name, isRecorded, status])).toEqual([
      ["cat", false, "connected"],
      ["far", true, "connected"],
    ]);
    expect(await get<ConsoleSession>("session")).toMatchObject({ mode: "console", canAct: true });
    expect(await readFile(join(served.cwd, "own.jsonl"), "utf8")).toContain(`"kind":"agent","writer"`);
  });

  it("refuses a file that is not a record", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "notes.jsonl": `{"note":1}\nno JSON\n` });
    const { code, err } = await runCliInTestProcess(["console", join(cwd, "notes.jsonl"), "--port", "0"]);
    expect([code, err]).toEqual([2, expect.stringContaining("notes.jsonl contains no traffic lines.")]);
    const { err: trace } = await runCliInTestProcess(["trace", "show", join(cwd, "notes.jsonl")]);
    expect(trace.split("\n")[0]).toBe(err.split("\n")[0]);
  });

  it("warns about an empty record, whose writer may still add lines", async () => {
    const { process } = await startConsole(["console", "new.jsonl", "--port", "0"], { "new.jsonl": "" });
    expect(await process.waitForOutput("Ctrl-C stops it.")).toContain("warning: new.jsonl is empty.");
  });

  it("explains a missing file, and refuses to listen for other machines without authentication", async () => {
    const missing = await runCliInTestProcess(["console", "none.jsonl"]);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("none.jsonl does not exist")]);
    const open = await runCliInTestProcess(["console", "--host", "0.0.0.0", "--port", "0"]);
    expect([open.code, open.err]).toEqual([1, expect.stringContaining("does not listen on 0.0.0.0")]);
  });
});
