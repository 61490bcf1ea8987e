import { spawnSync } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamResponse, Task } from "../../protocol/index.ts";
import { Cli, colloquy, inProcess } from "../process.contract.ts";
import { SERVERS, serveActor, type Served } from "./agents.fixture.ts";
import { failure, fieldsIn, json, linesIn, said } from "./said.fixture.ts";

const piped = (...lines: string[]): { stdin: Readable } => ({
  stdin: Readable.from(lines.map((line) => `${line}\n`)),
});

describe.each(SERVERS)("a chat with %s", (_, serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  it("carries the context from line to line, and the task while it waits [CHAT_001]", async () => {
    const { out } = await said(["chat", served.url], piped("hello", "ask", "Seoul", "again"));
    const contexts = [...out.matchAll(/^Context: (\S+)$/gm)].map(([, context]) => context);
    expect(new Set(contexts).size).toBe(1);
    const ends = [
      ...out.matchAll(/^Task: (\S+)\nContext: \S+\nState: TASK_STATE_(COMPLETED|INPUT_REQUIRED)$/gm),
    ];
    const turns = ends
      .map(([, task, state]) => ({ task, state }))
      .filter((turn, at, all) => turn.task !== all[at - 1]?.task || turn.state !== all[at - 1]?.state);
    expect(turns.map(({ state }) => state)).toEqual([
      "COMPLETED",
      "INPUT_REQUIRED",
      "COMPLETED",
      "COMPLETED",
    ]);
    expect(turns[1]?.task).toBe(turns[2]?.task);
    expect(new Set(turns.map(({ task }) => task)).size).toBe(3);
  });

  it("ends with the command that goes on where it ended, which does [CHAT_001]", async () => {
    const { err } = await said(["chat", served.url], piped("ask"));
    const words = /goes on with: \S.*? (chat .+)\n/.exec(err)?.[1]?.split(" ") ?? [];
    expect(words.slice(0, 2)).toEqual(["chat", served.url]);
    const { out } = await said(words, piped("Seoul"));
    expect(out).toContain("State: TASK_STATE_COMPLETED");
    expect(fieldsIn(out)["Context"]).toBe(words[words.indexOf("--context-id") + 1]);
    expect(fieldsIn(out)["Task"]).toBe(words[words.indexOf("--task-id") + 1]);
  });

  it("begins with the text of the command line, and goes on with stdin [CHAT_001]", async () => {
    const { out } = await said(["chat", served.url, "ask"], piped("Seoul"));
    expect(out.indexOf("INPUT_REQUIRED")).toBeGreaterThan(-1);
    expect(out.lastIndexOf("COMPLETED")).toBeGreaterThan(out.indexOf("INPUT_REQUIRED"));
  });
});

describe("a chat", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveActor();
  });
  afterAll(() => served.close());

  it("in JSON is a line per event, and nothing else on stdout", async () => {
    const { out } = await said(["chat", served.url, "-o", "json", "--stream"], piped("hello", "again"));
    const events = linesIn<StreamResponse>(out);
    expect(events.filter((event) => "task" in event)).toHaveLength(2);
    expect(await failure(["chat", served.url])).toMatchObject({ code: "A2ACLI_ERR_USAGE", exit: 2 });
  });

  it("of a pipe ends where a line fails, with its exit code", async () => {
    const world = piped("hello", "again");
    const { code, err } = await inProcess(["chat", served.url, "--task-id", "nobody"], world);
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("TaskNotFoundError") as string,
    });
  });

  it("of a person shows where to write, tells what fails, and goes on until /quit", async () => {
    const stdin = new PassThrough();
    const talking = inProcess(["chat", served.url, "--task-id", "nobody"], { stdin, interactive: true });
    stdin.write("hello\n/answer 1\n\n/quit\nnever said\n");
    const { code, out, err } = await talking;
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/^> .*TaskNotFoundError[^]*> .*must be a JSON object/);
  });

  it("leaves the task alone when it is interrupted, and says how to go on", async () => {
    const cli = colloquy(["chat", served.url, "wait"]);
    await cli.says("waiting");
    cli.child.kill("SIGINT");
    const { code, out } = await cli.ended;
    expect(code).toBe(130);
    const { Task: id = "" } = fieldsIn(out);
    expect((await json<Task>(["task", "get", served.url, id])).status.state).toBe("TASK_STATE_WORKING");
  });

  // `script`, of util-linux, makes a terminal.
  const hasTerminals = spawnSync("script", ["--version"]).status === 0;
  it.skipIf(!hasTerminals)("on a real terminal asks, answers, and ends with Ctrl-D", async () => {
    const words = [process.execPath, "bin/colloquy.js", "chat", served.url].join(" ");
    const terminal = new Cli("script", ["-qec", words, "/dev/null"], process.cwd(), {}, "open");
    await terminal.says("> ");
    terminal.child.stdin?.write("hello\r");
    await terminal.says("You said: hello");
    await terminal.says("TASK_STATE_COMPLETED");
    terminal.child.stdin?.write("\u0004");
    const { code, out } = await terminal.ended;
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("the conversation goes on with:") as string,
    });
  });
});
