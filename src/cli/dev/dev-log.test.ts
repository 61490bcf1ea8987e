import { mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Observer } from "../../engine/index.ts";
import { createDevLog } from "./dev-log.ts";

const scope = { tenant: "", principal: "ada", agent: "hello" };

function startLog(cwd = mkdtempSync(join(tmpdir(), "dev-log-"))): {
  log: Required<Pick<Observer, "onRun" | "onError">>;
  read: () => string;
  cwd: string;
} {
  let output = "";
  const streams = { errColored: (text: string) => void (output += text) } as never;
  const log = createDevLog({}, { streams, stderrColumns: undefined, env: {}, cwd });
  log.onRun?.({ scope, taskId: "t", contextId: "c", attempt: 1, phase: "begin" } as never);
  return { log: log as never, read: () => output, cwd };
}

const throwAt = (file: string, message = "Broken"): Error =>
  Object.assign(new Error(message), { stack: `Error: ${message}\n    at run (${file}:1:3)` });

describe("the log of colloquy dev", () => {
  it("shows the line of a source file, also below a folder with a space in its name", () => {
    const { log, read, cwd } = startLog(mkdtempSync(join(tmpdir(), "dev log-")));
    const file = join(cwd, "my agent.js");
    writeFileSync(file, "a.b();\n");
    utimesSync(file, 1, 1);
    log.onError({ where: "agent", error: throwAt(file), taskId: "t" });
    expect(read().split("\n").slice(0, 4)).toEqual([
      expect.stringContaining("failed Error: Broken"),
      "    1 | a.b();",
      "          ^",
      "    at run (my agent.js:1:3)",
    ]);
  });

  it("shows no line of a file that was saved during the turn, because its lines can be others [E26]", () => {
    const { log, read, cwd } = startLog();
    const file = join(cwd, "agent.js");
    writeFileSync(file, "a.b();\n");
    utimesSync(file, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
    log.onError({ where: "agent", error: throwAt(file), taskId: "t" });
    expect(read()).not.toContain("a.b()");
  });

  it("reads no file that the text of a caller names, and shows the text as part of the entry", () => {
    const { log, read, cwd } = startLog();
    const file = join(cwd, "secret.txt");
    writeFileSync(file, "private\n");
    utimesSync(file, 1, 1);
    const text = `Unknown city x\n    at x (${file}:1:1)\n12:00:00 hello completed \u001b[31mred`;
    log.onError({ where: "agent", error: new Error(text), taskId: "t" });
    expect(read()).not.toContain("private");
    expect(read()).not.toContain("\u001b");
    expect(read()).toContain("\n    12:00:00 hello completed");
  });

  it("describes every thrown value, the causes of an error, and the beginning of a long message", () => {
    for (const thrown of ["text", null, 7n, Symbol("s"), { code: 1 }, Object.create(null)]) {
      const { log, read } = startLog();
      log.onError({ where: "agent", error: thrown, taskId: "t", errorId: "e1" });
      expect(read()).toContain("error id e1");
    }
    const { log, read } = startLog();
    log.onError({ where: "agent", error: { code: 1 } });
    log.onError({ where: "agent", error: new Error("Outer", { cause: new Error("Inner") }) });
    log.onError({ where: "agent", error: new Error("long ".repeat(1_000_000)) });
    expect(read()).toContain('{"code":1}');
    expect(read()).toContain("Caused by: Error: Inner");
    expect(read().length).toBeLessThan(100_000);
  });

  it("has a line for the turn of an agent that throws an error when it is canceled", () => {
    const { log, read } = startLog();
    log.onRun({
      scope,
      taskId: "t",
      phase: "end",
      state: "TASK_STATE_CANCELED",
      error: new Error("x"),
    } as never);
    expect(read()).toContain("hello canceled in");
  });

  it("has no second line for a failure that it has described", () => {
    const { log, read } = startLog();
    log.onError({ where: "agent", error: new Error("x"), taskId: "t" });
    log.onRun({
      scope,
      taskId: "t",
      phase: "end",
      state: "TASK_STATE_FAILED",
      error: new Error("x"),
    } as never);
    expect(read()).not.toContain("hello failed");
  });
});
