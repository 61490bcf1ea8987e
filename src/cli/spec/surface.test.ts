import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { readdir, symlink } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CliTestProcess,
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  startServeCommandForTest,
} from "../cli-test-process.fixture.ts";
import { readPackageVersion } from "../package-version.ts";
import { startInstructionFollowingTestServer, type RunningTestServer } from "./test-servers.fixture.ts";
import { parseLabeledCliOutputFields, runCliExpectingSuccess } from "./run-command.fixture.ts";
import { isWindows } from "../../../test/support/is-windows.ts";

let served: RunningTestServer;
beforeAll(async () => {
  served = await startInstructionFollowingTestServer();
});
afterAll(() => served.close());

describe("the surface", () => {
  it("help, help <command>, and --help print the usage and exit with 0 [CLI_001]", async () => {
    for (const words of [["help"], ["--help"], ["-h"]]) {
      expect((await runCliExpectingSuccess(words)).out).toMatch(
        /^Usage: colloquy .*\n[^]*\n {2}send .*\n[^]*\n {2}card /,
      );
    }
    for (const words of [
      ["help", "task", "get"],
      ["task", "get", "--help"],
      ["task", "get", "-h"],
    ]) {
      expect((await runCliExpectingSuccess(words)).out).toMatch(
        /^Usage: colloquy task get <agent> <task id> \[options\]\n/,
      );
    }
    expect((await runCliExpectingSuccess(["help", "task"])).out).toMatch(/\n {2}wait +Wait until/);
    expect((await runCliInTestProcess(["help", "nonsense"])).code).toBe(2);
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, out } = await runCliInTestProcess(["help", "init", "my-app"], { cwd });
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("Usage: colloquy init") as string,
    });
    expect(await readdir(cwd)).toEqual([]);
  });

  it("-v and --version print the version [CLI_001]", async () => {
    for (const flag of ["-v", "--version"]) {
      const { code, out } = await spawnColloquyForTest([flag]).result;
      expect({ code, out }).toEqual({ code: 0, out: `${readPackageVersion()}\n` });
    }
  });

  it("the help shows every default [CLI_001, DEFAULT_001]", async () => {
    const { out } = await runCliExpectingSuccess(["send", "--help"]);
    const text = out.replaceAll(/\s+/g, " ");
    for (const words of [
      "(default: the order of the agent's card)",
      'default: "text"',
      "(default: 1.0, or 0.3 if the card offers only 0.3)",
      "(default: they are verified)",
      "(default: 2s)",
      "(default: never)",
      "(default: wait)",
      "(default: concise)",
    ]) {
      expect(text).toContain(words);
    }
  });
});

describe("the defaults", () => {
  it('default "wait": send waits without --async [DEFAULT_001]', async () => {
    expect((await runCliExpectingSuccess(["send", served.url, "hello"])).out).toContain(
      "TASK_STATE_COMPLETED",
    );
    expect((await runCliExpectingSuccess(["send", served.url, "wait", "--async"])).out).toMatch(
      /SUBMITTED|WORKING/,
    );
    const env = { HOME: "/nowhere", A2ACLI_ASYNC: "1" };
    expect((await runCliExpectingSuccess(["send", served.url, "hello", "--wait"], { env })).out).toContain(
      "TASK_STATE_COMPLETED",
    );
    expect((await runCliInTestProcess(["send", served.url, "hello", "--wait", "--async"])).code).toBe(2);
  });

  it('default "text": output is text without -o json [DEFAULT_001]', async () => {
    expect((await runCliExpectingSuccess(["card", "get", served.url])).out).toMatch(/^Name: actor\n/);
    expect((await runCliExpectingSuccess(["card", "get", served.url, "-o", "json"])).out).toMatch(/^\{\n/);
    const env = { HOME: "/nowhere", A2ACLI_OUTPUT: "json" };
    expect(
      (await runCliExpectingSuccess(["card", "get", served.url, "--output", "text"], { env })).out,
    ).toMatch(/^Name: actor\n/);
  });

  it('default "concise": only --verbose shows all details in text [DEFAULT_001]', async () => {
    const brief = (await runCliExpectingSuccess(["send", served.url, "parts"])).out;
    const { out } = await runCliExpectingSuccess(["send", served.url, "parts", "--verbose"]);
    expect(brief).not.toMatch(/Sent:|Message id:|Media type:|Artifact id:|Updated:/);
    expect(out).toContain("Sent: ROLE_USER\nparts\n\n");
    expect(parseLabeledCliOutputFields(out)).toMatchObject({
      "Artifact id": "report",
      "Media type": "application/zip",
    });
    expect(out).toMatch(/^History: ROLE_USER$/m);
    expect(out).toMatch(/^Updated: \d{4}-/m);
    const streamed = (await runCliExpectingSuccess(["send", served.url, "parts", "--verbose", "--stream"]))
      .out;
    expect(streamed).toMatch(/^Message id: \S+\nSent: ROLE_USER\n/);
  });
});

describe("completion", () => {
  it("of bash completes commands, options and values, in a real shell [CLI_002]", async () => {
    const { out } = await runCliExpectingSuccess(["completion", "bash"]);
    const cwd = await createTempTestDirectoryWithFiles({ "completion.bash": out });
    const complete = (...words: string[]): string[] => {
      const script = `source completion.bash; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _colloquy; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script], { cwd, encoding: "utf8" }).split("\n").filter(Boolean);
    };
    expect(complete("colloquy", "tas")).toEqual(["task"]);
    expect(complete("colloquy", "task", "")).toEqual(
      expect.arrayContaining(["get", "wait", "list", "cancel", "subscribe"]),
    );
    expect(complete("colloquy", "task", "get", "--po")).toEqual(["--poll-interval"]);
    expect(complete("colloquy", "send", "http://x", "--output", "")).toEqual(["text", "json"]);
    expect(complete("colloquy", "completion", "f")).toEqual(["fish"]);
  });

  it.each([["zsh"], ["fish"]])("of %s has every command and every option [CLI_002]", async (shell) => {
    const { out } = await runCliExpectingSuccess(["completion", shell]);
    for (const word of [
      "serve",
      "subscribe",
      "new-key",
      "poll-interval",
      "agent-card",
      "a2a-version",
      "text json",
    ]) {
      expect(out).toContain(word);
    }
  });

  it("of fish has a line for each command and option [CLI_002]", async () => {
    const { out } = await runCliExpectingSuccess(["completion", "fish"]);
    const lines = out.split("\n").filter((line) => line.startsWith("complete "));
    expect(lines).toContain(
      `complete -c colloquy -n '__colloquy_is " task"' -f -a wait -d 'Wait until a task has ended or waits for its user, and show it.'`,
    );
    const commandPath = /^complete -c colloquy -n '__colloquy_is "(?: [a-z-]+)*"' /;
    const rest = /^(?:-f -a [a-z-]+|(?:-l [a-z0-9-]+)?(?: ?-s \w)?(?: -[xr])?(?: -a '[^']*')?) -d '[^']*'$/;
    for (const line of lines) {
      expect(line).toMatch(commandPath);
      expect(line.replace(commandPath, "")).toMatch(rest);
    }
  });

  it("of another shell is rejected with a list of the supported shells [CLI_002]", async () => {
    const { code, err } = await runCliInTestProcess(["completion", "csh"]);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("bash, zsh, fish") as string,
    });
  });
});

describe("as a plugin of the official CLI", () => {
  it("a2a-colloquy info is one JSON object with name, version and description", async () => {
    const { out } = await runCliExpectingSuccess(["info"]);
    expect(JSON.parse(out)).toEqual({
      name: "colloquy",
      version: readPackageVersion(),
      description: expect.any(String) as string,
    });
    expect(out.trim().split("\n")).toHaveLength(1);
  });

  it("runs under that name, and prints commands with that name", async () => {
    const { bin } = JSON.parse(readFileSync("package.json", "utf8")) as { bin: Record<string, string> };
    expect(bin["a2a-colloquy"]).toBe(bin["colloquy"]);
    const cwd = await createTempTestDirectoryWithFiles({});
    await symlink(`${process.cwd()}/bin/colloquy.js`, `${cwd}/a2a-colloquy`);
    const cli = new CliTestProcess(process.execPath, [`${cwd}/a2a-colloquy`, "send", served.url, "ask"], cwd);
    const { code, err } = await cli.result;
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining(`hint: a2a-colloquy send ${served.url} --task-id`) as string,
    });
  });
});

describe("demo", () => {
  it.skipIf(isWindows)("serves a practice agent that requires no API key [DEMO_SERVER_001]", async () => {
    const demo = await startServeCommandForTest(
      ["demo", "--store", "memory"],
      await createTempTestDirectoryWithFiles({}),
    );
    expect(
      (await runCliExpectingSuccess(["send", demo.agentUrls["assistant"] ?? "", "What is 12.5% of 80?"])).out,
    ).toContain("10");
    demo.process.child.kill("SIGTERM");
    expect((await demo.process.result).code).toBe(0);
  });
});

describe("the skill", () => {
  // `reports` and `.tmp` contain what scripts have built: the site, and the package.
  const files = globSync("**/SKILL.md", {
    exclude: (name) => /node_modules|\.git$|^reports$|^\.tmp$/.test(name),
  });
  const text = readFileSync("skills/colloquy/SKILL.md", "utf8");

  it("is a single short file that refers to the help [SKILL_001]", () => {
    expect(files).toEqual(["skills/colloquy/SKILL.md"]);
    const { files: shipped } = JSON.parse(readFileSync("package.json", "utf8")) as { files: string[] };
    expect(shipped).toContain("skills");
    expect(text.split(/\s+/).length).toBeLessThan(400);
    expect(text).toContain("colloquy help");
    expect(text).toContain("<command> --help");
    const commands = new Set([...text.matchAll(/`colloquy ([a-z]+)/g)].map(([, command]) => command));
    expect(commands.size).toBeLessThan(6);
  });

  it("explains the usage without quoting a specification [SKILL_002]", () => {
    for (const words of ["-o json", "--stream", "--context-id", "--task-id", "A2ACLI_BEARER", "state"]) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/\b(MUST|SHOULD|MAY|SHALL)\b|§|A2ACLI_[A-Z]+_\d/);
  });
});
