import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../test/support/arbitrary-character.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "./cli-test-process.fixture.ts";
import { COMMANDS } from "./command-registry.ts";
import type { CommandTable } from "./command-table.ts";
import { startHostileServer, type HostileAnswer, type HostileServer } from "./hostile-server.fixture.ts";

// oxlint-disable-next-line no-control-regex -- control characters are what must not be there
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Arguments of the commands that print what an agent sends. `AGENT` is the URL of the agent. */
const AGENT_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  send: ["send", "AGENT", "hi"],
  chat: ["chat", "AGENT", "hi"],
  test: ["test", "DIR/hostile.yaml", "--url", "AGENT"],
  conformance: ["conformance", "AGENT", "--only", "ANY-SEND-SHAPE", "ANY-CARD-SHAPE"],
  "conformance --resilience": ["conformance", "AGENT", "--resilience", "--only", "RES-LEAVE", "RES-PAGES"],
  doctor: ["doctor", "AGENT"],
  "task get": ["task", "get", "AGENT", "t"],
  "task wait": ["task", "wait", "AGENT", "t"],
  "task list": ["task", "list", "AGENT"],
  "task cancel": ["task", "cancel", "AGENT", "t"],
  "task subscribe": ["task", "subscribe", "AGENT", "t"],
  "task download": ["task", "download", "AGENT", "t", "--dir", "DIR", "--force"],
  "task push-config create": ["task", "push-config", "create", "AGENT", "t", "--url", "http://a.example/"],
  "task push-config get": ["task", "push-config", "get", "AGENT", "t", "w"],
  "task push-config list": ["task", "push-config", "list", "AGENT", "t"],
  "task push-config delete": ["task", "push-config", "delete", "AGENT", "t", "w"],
  "card get": ["card", "get", "AGENT"],
  "card validate": ["card", "validate", "AGENT"],
  "auth login": ["auth", "login", "AGENT", "--oauth-client", "cli"],
  "card verify": ["card", "verify", "AGENT", "--jwks", "http://127.0.0.1:1/jwks.json"],
};

/** Commands that contact no agent, or start a server. All their output passes through the same streams. */
const OTHER_COMMANDS =
  /^(?:serve|dev|worker|demo|console|tap|replay|trace|mcp|init|completion|info|config|auth new-key|auth logout|webhook|store|cards|card sign)\b/;

let server: HostileServer;
let directory: string;
beforeAll(async () => {
  server = await startHostileServer();
  directory = await createTempTestDirectoryWithFiles({
    "hostile.yaml":
      "tests: [{ name: greets, turns: [{ send: hi, expect: { text: hi, artifacts: [a], calls: [b] } }] }]",
  });
});
afterAll(() => server.close());

function listCommandNames(commands: CommandTable, prefix = ""): string[] {
  return Object.entries(commands).flatMap(([name, entry]) =>
    "commands" in entry ? listCommandNames(entry.commands, `${prefix}${name} `) : [`${prefix}${name}`],
  );
}

const HOSTILE_TEXT = fc.oneof(
  fc.constantFrom(
    "\u001b[2J\u001b]0;title\u0007",
    "\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\",
    "\u009b31m\u202egpj.exe\u2066",
    "\r\u001b[1Aoverwritten\b\b",
    "\u2028line\u0085",
  ),
  fc.string({ unit: arbitraryCharacter, maxLength: 20 }),
);

/** Returns a traffic record of one task, in which each text contains a hostile text. */
function createHostileRecord(hostile: string): string {
  const task_id = `t${hostile}`;
  const agent = `evil${hostile}`;
  const parts = [{ text: `hello${hostile}` }];
  const ids = { agent, task_id, context_id: `c${hostile}` };
  const task = { id: task_id, contextId: "c", status: { state: "TASK_STATE_WORKING" }, artifacts: [] };
  const artifact = { artifactId: `a${hostile}`, name: `file${hostile}`, parts };
  const lines = [
    { kind: "writer", vantage: "server", name: agent, code: "1", bodies: true },
    {
      kind: "request",
      ...ids,
      call: "1",
      from: agent,
      to: agent,
      binding: "JSONRPC",
      operation: `Send${hostile}`,
    },
    { kind: "event", ...ids, log_seq: 1, event: { task } },
    {
      kind: "event",
      ...ids,
      log_seq: 2,
      event: { artifactUpdate: { taskId: task_id, contextId: "c", artifact } },
    },
    { kind: "model", ...ids, call: "2", model: `m${hostile}`, duration_ms: 1, error: `no${hostile}` },
    { kind: "tool", ...ids, call: "3", tool: `tool${hostile}`, duration_ms: 1, result: parts },
    { kind: "response", ...ids, call: "1", status: 500, duration_ms: 9, error: `no${hostile}` },
  ];
  const base = { v: 1, writer: "w", at: "2026-01-01T00:00:00.000Z" };
  return lines
    .map((line, at) => `${JSON.stringify({ ...base, seq: at + 1, mono_ms: at, ...line })}\n`)
    .join("");
}

describe("the output of a command", () => {
  it("is tested with a hostile agent, if the command contacts an agent", () => {
    const names = listCommandNames(COMMANDS).filter((name) => !OTHER_COMMANDS.test(name));
    const tested = Object.keys(AGENT_COMMANDS).filter((name) => !name.includes(" --"));
    expect(names.toSorted()).toEqual(tested.toSorted());
  });

  it.each(Object.entries(AGENT_COMMANDS))(
    "%s has no control characters, whatever an agent sends",
    async (_name, words) => {
      await fc.assert(
        fc.asyncProperty(
          HOSTILE_TEXT,
          fc.constantFrom<HostileAnswer>("result", "error", "status", "garbage"),
          fc.subarray(["--debug", "--verbose", "--stream", "-ojson"]),
          async (text, answer, flags) => {
            server.setText(text, answer);
            const args = words.map((word) => word.replace("AGENT", server.url).replace("DIR", directory));
            const { out, err } = await runCliInTestProcess([...args, ...flags], { stdoutColumns: 80 });
            expect(out + err).not.toMatch(CONTROL);
            expect((out + err).isWellFormed()).toBe(true);
            expect(out + err).not.toBe("");
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  it.each([
    ["show", "FILE"],
    ["compare", "FILE", "FILE"],
    ["export", "FILE", "--format", "mermaid"],
  ])("trace %s has no control characters, whatever a record contains", async (...words) => {
    const file = join(directory, "hostile.jsonl");
    const args = words.map((word) => (word === "FILE" ? file : word));
    await fc.assert(
      fc.asyncProperty(HOSTILE_TEXT, async (text) => {
        writeFileSync(file, createHostileRecord(text));
        const { out, err } = await runCliInTestProcess(["trace", ...args], { stdoutColumns: 80 });
        expect(out + err).not.toMatch(CONTROL);
        expect(out).toContain("evil");
      }),
      { numRuns: 12 },
    );
  });

  it("with invalid arguments has no control characters", async () => {
    const hostile = "\u001b[2J\u202e";
    for (const args of [
      [hostile],
      ["send", hostile],
      ["send", "--unknown", hostile],
      ["send", "-a", hostile, "hi"],
      ["task", "get", "http://127.0.0.1:1", hostile, `--${hostile}`],
      ["task", "get", `http://127.0.0.1:1/${hostile}`, "t"],
      ["cards", "show", hostile],
      ["store", "info", "--store", hostile],
      ["serve", hostile],
      ["mcp", `http://127.0.0.1:1/${hostile}`],
      ["config", "show", "--config", hostile],
    ])
      for (const format of [[], ["-o", "json"]]) {
        const { out, err } = await runCliInTestProcess([...args, ...format]);
        expect(out + err).not.toMatch(CONTROL);
        expect(out + err).not.toBe("");
      }
  });

  it("reaches the terminal only through one writer", () => {
    const folder = import.meta.dirname;
    const writers = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !/\.(?:test|fixture|contract)\.ts$/.test(file))
      .filter((file) =>
        /process\.std(?:out|err)\.write|process\.std(?:out|err)\)|\bconsole\.(?:log|error|warn|info|debug)\b/.test(
          readFileSync(join(folder, file), "utf8"),
        ),
      );
    expect(writers.map((file) => relative(folder, join(folder, file))).toSorted()).toEqual([
      "main.ts",
      "mcp.ts",
    ]);
  });
});
