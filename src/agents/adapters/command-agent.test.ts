import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Agent, AgentEvent, Run } from "../../engine/index.ts";
import { A2AError, ArtifactContentTracker, getText } from "../../protocol/index.ts";
import { splitCommand } from "./command-agent.ts";
import { command, type CommandOptions } from "./index.ts";
import { unstoredRunSteps } from "../../engine/unstored-run-steps.fixture.ts";

/** A command that runs `program`, which may use `write(text)`. */
function buildNodeCommand(program: string): string[] {
  return [process.execPath, "-e", `const write = (text) => process.stdout.write(text); ${program}`];
}

function createRun(text: string, signal: AbortSignal = new AbortController().signal): Run {
  const message = { messageId: "m-1", role: "ROLE_USER" as const, parts: [{ text }] };
  return {
    taskId: "task-1",
    contextId: "context-1",
    message,
    task: { id: "task-1", contextId: "context-1", status: { state: "TASK_STATE_WORKING" } },
    attempt: 1,
    caller: { tenant: "", principal: "" },
    configuration: {},
    isStreaming: true,
    metadata: {},
    protocolVersion: "1.0",
    extensions: [],
    ...unstoredRunSteps,
    loadReferencedTasks: () => Promise.resolve([]),
    listInterruptedTasks: () => Promise.resolve([]),
    signal,
  };
}

async function runCommand(
  line: string | string[],
  text = "",
  options: CommandOptions = {},
): Promise<{ text: string; failure: string | undefined; stderr?: string }> {
  const tracker = new ArtifactContentTracker();
  let output = "";
  let failure: string | undefined;
  let stderr: string | undefined;
  try {
    for await (const event of command(line, options).execute(createRun(text))) {
      if ("artifact" in event) output += getText(tracker.addUpdate(event).parts);
      else if ("status" in event && event.status.state === "TASK_STATE_FAILED") {
        failure = event.status.message?.parts.map((part) => ("text" in part ? part.text : "")).join("");
      }
    }
  } catch (error) {
    // The caller receives the message of an A2AError, and the observer also receives the cause.
    if (!(error instanceof A2AError)) throw error;
    failure = error.message;
    stderr = error.cause instanceof Error ? error.cause.message : undefined;
  }
  return { text: output, failure, ...(stderr === undefined ? {} : { stderr }) };
}

describe("a command as an agent", () => {
  it("reads the message and answers with its output", async () => {
    expect(await runCommand("cat", "naïve 😀\n")).toEqual({ text: "naïve 😀\n", failure: undefined });
  });

  it("can read the complete message as JSON and finds the task in its environment", async () => {
    const program = buildNodeCommand(`
      let input = ""; process.stdin.on("data", (part) => (input += part)).on("end", () =>
        write(JSON.parse(input).messageId + " " + process.env.A2A_TASK_ID + " " + process.env.A2A_CONTEXT_ID + " " + process.env.MORE + " " +
          process.env.COLLOQUY_ATTEMPT + " " + process.env.COLLOQUY_IDEMPOTENCY_KEY));`);
    const { text } = await runCommand(program, "hi", { stdin: "message", env: { MORE: "more" } });
    expect(text).toBe(`m-1 task-1 context-1 more 1 ${"0".repeat(32)}`);
  });

  it("never passes the message to the command line or a shell [SEC-55]", async () => {
    const text = "$(echo pwned) `echo pwned`; echo pwned";
    expect(await runCommand("cat -", text)).toEqual({ text, failure: undefined });
    expect(await runCommand("cat | cat", text, { shell: true })).toEqual({ text, failure: undefined });
  });

  it("streams output while the command is still running", async () => {
    const abort = new AbortController();
    const agent = command(buildNodeCommand(`write("ready"); setInterval(() => {}, 1000);`));
    const events = startAgent(agent, abort);
    const ready = { artifact: { parts: [{ text: "ready" }] } };
    expect((await events.next()).value).toMatchObject(ready);
    abort.abort();
    expect((await events.next()).value).toMatchObject({ ...ready, lastChunk: true });
    await expect(events.next()).rejects.toThrow("aborted");
  });

  it("repeats no output with `artifacts: pieces`", async () => {
    let output = "";
    for await (const event of command("cat", { artifacts: "pieces" }).execute(createRun("naïve 😀")))
      if ("artifact" in event) output += getText(event.artifact.parts);
    expect(output).toBe("naïve 😀");
  });

  it("keeps a character that is split between two chunks", async () => {
    const program = buildNodeCommand(`
      const bytes = Buffer.from("é😀");
      let at = 0;
      const next = () => { if (at < bytes.length) process.stdout.write(bytes.subarray(at, ++at), () => setTimeout(next, 5)); };
      next();`);
    expect((await runCommand(program)).text).toBe("é😀");
  });

  it("fails with its exit code, and keeps the last lines of standard error from the caller [SEC-56]", async () => {
    const program = buildNodeCommand(
      `write("partial"); for (let i = 1; i <= 20; i++) console.error("line " + i); process.exitCode = 3;`,
    );
    const { text, failure, stderr } = await runCommand(program);
    expect(text).toBe("partial");
    expect(failure).toMatch(/^node exited with code 3\.$/);
    expect(stderr).toContain("line 11\n");
    expect(stderr).toContain("line 20");
    expect(stderr).not.toContain("line 10\n");
    const flood = buildNodeCommand(`console.error("x".repeat(1_000_000)); process.exitCode = 3;`);
    expect((await runCommand(flood)).stderr?.length).toBeLessThan(5_000);
  });

  it("inherits no secrets of the server, unless an option names them [SEC-54]", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-secret");
    vi.stubEnv("COLLOQUY_TOKEN", "secret");
    vi.stubEnv("HTTPS_PROXY", "http://ada:secret@proxy.example");
    onTestFinished(() => void vi.unstubAllEnvs());
    const program = buildNodeCommand(`write(JSON.stringify(process.env))`);
    const read = async (options: CommandOptions): Promise<Record<string, string>> =>
      JSON.parse((await runCommand(program, "", options)).text) as Record<string, string>;
    const minimal = await read({});
    expect(JSON.stringify(minimal)).not.toContain("secret");
    expect(minimal).toMatchObject({ PATH: process.env["PATH"], A2A_TASK_ID: "task-1" });
    const passed = await read({ passEnv: ["OPENAI_API_KEY", "NOT_SET"], env: { MORE: "more" } });
    expect(passed).toMatchObject({ OPENAI_API_KEY: "sk-secret", MORE: "more" });
    expect(passed).not.toHaveProperty("COLLOQUY_TOKEN");
  });

  it.each(["../../etc/passwd", "-rf", "a b; rm", "() { :; }; id", "a\u0000b", "x".repeat(257), ""])(
    "never receives an id that a script could misread in its environment: %j",
    async (contextId) => {
      const agent = command(buildNodeCommand(`write(process.env.A2A_CONTEXT_ID)`), { artifacts: "pieces" });
      let output = "";
      for await (const event of agent.execute({ ...createRun(""), contextId }))
        if ("artifact" in event) output += getText(event.artifact.parts);
      expect(output).toMatch(/^sha256-[0-9a-f]{64}$/);
    },
  );

  it("fails when a signal ends it", async () => {
    expect((await runCommand(buildNodeCommand(`process.kill(process.pid, "SIGKILL")`))).failure).toContain(
      "ended by SIGKILL",
    );
  });

  it("fails if the program does not exist", async () => {
    expect((await runCommand("no-such-program-here")).failure).toContain("does not exist");
  });

  it("accepts a command that ignores its input", async () => {
    expect(await runCommand(["echo", "done"], "x".repeat(1_000_000))).toEqual({
      text: "done\n",
      failure: undefined,
    });
  });

  it("stops a command that writes more than the limit", async () => {
    const { text, failure } = await runCommand("yes", "", { maxOutputBytes: 100_000 });
    expect(text.length).toBeLessThanOrEqual(100_000);
    expect(failure).toContain("more than 100000 bytes");
  });

  it("stops the entire process group on cancellation", async () => {
    const abort = new AbortController();
    // The shell's child process keeps the output open, so the turn ends only when the child is stopped, too.
    const events = startAgent(command("sleep 1000 & echo ready; wait", { shell: true }), abort);
    await events.next();
    abort.abort();
    await events.next();
    await expect(events.next()).rejects.toThrow("aborted");
  });

  it("kills a command that ignores SIGTERM after the grace period", async () => {
    const abort = new AbortController();
    const program = buildNodeCommand(
      `process.on("SIGTERM", () => {}); write("ready"); setInterval(() => {}, 1000);`,
    );
    const events = startAgent(command(program, { killGraceMs: 50 }), abort);
    await events.next();
    abort.abort();
    await events.next();
    await expect(events.next()).rejects.toThrow("aborted");
  });

  it("starts no process for a run that was canceled before it started", async () => {
    const marker = join(await mkdtemp(join(tmpdir(), "colloquy-")), "started");
    const abort = new AbortController();
    abort.abort();
    const events = startAgent(command(["touch", marker]), abort);
    await expect(events.next()).rejects.toThrow("aborted");
    expect(existsSync(marker)).toBe(false);
  });
});

describe("splitting a command line", () => {
  it.each([
    ["jq .", ["jq", "."]],
    ["  jq   '.a | .b'  ", ["jq", ".a | .b"]],
    [`a "b c" d'e f'g`, ["a", "b c", "de fg"]],
    [`a "say \\"hi\\" \\n" \\ b ''`, ["a", 'say "hi" \\n', " b", ""]],
  ])("%s", (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  it.each(["cat | wc", "a > b", "a; b", "echo `a`", "echo $(a)", "a && b"])(
    "rejects %s without a shell",
    (line) => {
      expect(() => splitCommand(line)).toThrow("requires a shell");
    },
  );

  it("rejects an unclosed quote and an empty command", () => {
    expect(() => splitCommand("echo 'a")).toThrow("unclosed");
    expect(() => splitCommand("  ")).toThrow("empty");
  });
});

function startAgent(agent: Agent, abort: AbortController): AsyncIterator<AgentEvent> {
  return agent.execute(createRun("", abort.signal))[Symbol.asyncIterator]();
}
