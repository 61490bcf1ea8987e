import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, readText } from "../client/index.ts";
import type { AgentReloadNotice } from "../studio/console/index.ts";
import { parseSse } from "../wire/index.ts";
import {
  createTempTestDirectoryWithFiles,
  startServeCommandForTest,
  spawnColloquyForTest,
  type ServingCliTestProcess,
} from "./cli-test-process.fixture.ts";
import { isWindows } from "../../test/support/is-windows.ts";

const ES_MODULE_PACKAGE = `{ "type": "module" }`;

const createAgentSource = (answer: string, name = "hello"): string => `
import { agent } from "colloquy";
export default agent({ name: "${name}", description: "Answers" }, async function* () { yield ${answer}; });`;

async function startDev(
  files: Record<string, string>,
  ...args: string[]
): Promise<ServingCliTestProcess & { cwd: string; save(name: string, text: string): Promise<void> }> {
  const cwd = await createTempTestDirectoryWithFiles({ "package.json": ES_MODULE_PACKAGE, ...files });
  const dev = await startServeCommandForTest(["dev", ...args], cwd);
  onTestFinished(async () => {
    dev.process.child.kill("SIGTERM");
    await dev.process.result;
  });
  // Like editors that replace a file at once.
  const save = async (name: string, text: string): Promise<void> => {
    await writeFile(`${cwd}.saved`, text);
    await rename(`${cwd}.saved`, join(cwd, name));
  };
  return { ...dev, cwd, save };
}

async function ask(url: string): Promise<string> {
  const client = await connect(url);
  return (await client.ask("x")).text;
}

async function waitForAnswer(url: string, answer: string): Promise<void> {
  await expect.poll(() => ask(url).catch((error: Error) => error.message), { interval: 10 }).toBe(answer);
}

describe("colloquy dev", () => {
  it("answers with the saved code", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`) });
    const url = dev.agentUrls["hello"] ?? "";
    expect(await ask(url)).toBe("one");
    await dev.save("agent.ts", createAgentSource(`"two"`));
    await waitForAnswer(url, "two");
    await dev.process.waitForOutput("reloaded hello in ");
  });

  it("reloads imported files, and keeps the state of unchanged modules", async () => {
    const dev = await startDev({
      "agent.ts": `import { nextNumber } from "./counter.ts"; import { word } from "./lib/word.ts";
        ${createAgentSource("`${word} ${nextNumber()}`")}`,
      "counter.ts": `let last = 0; export const nextNumber = (): number => ++last;`,
      "lib/word.ts": `import { ending } from "./ending.ts"; export const word = "word" + ending;`,
      "lib/ending.ts": `export const ending: string = "!";`,
    });
    const url = dev.agentUrls["hello"] ?? "";
    expect(await ask(url)).toBe("word! 1");
    await dev.save("lib/ending.ts", `export const ending: string = "?";`);
    await dev.process.waitForOutput("reloaded hello");
    expect(await ask(url)).toBe("word? 2");
  });

  it("evaluates no unchanged module again after a file was half written, threw, or missed an export", async () => {
    const dev = await startDev({
      "agent.ts": `import { nextNumber } from "./counter.ts"; import { word } from "./word.ts";
        ${createAgentSource("`${word} ${nextNumber()}`")}`,
      "counter.ts": `let last = 0; export const nextNumber = (): number => ++last;
        process.stderr.write("The counter is evaluated.\\n");`,
      "word.ts": `export const word = "one";`,
    });
    const url = dev.agentUrls["hello"] ?? "";
    expect(await ask(url)).toBe("one 1");
    const failures = [
      [`export const word = "tw`, "word.ts:1"],
      [`export const word = "two"; throw new Error("It broke.");`, "Error: It broke."],
      [`export const other = 1;`, "does not provide an export named 'word'"],
      [`import "./missing.ts"; export const word = 1;`, "missing.ts"],
    ] as const;
    for (const [source, problem] of failures) {
      await writeFile(join(dev.cwd, "word.ts"), source);
      const output = await dev.process.waitForOutput(problem);
      expect(output).toContain("The earlier version stays.");
    }
    await writeFile(join(dev.cwd, "word.ts"), `export const word = "two";`);
    const output = await dev.process.waitForOutput("reloaded hello");
    expect(await ask(url)).toBe("two 2");
    expect(output.split("The counter is evaluated.")).toHaveLength(2);
  });

  it("finishes a running turn on the earlier code", async () => {
    const source = (word: string): string => `
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { agent } from "colloquy";
export default agent({ name: "hello", description: "Waits" }, async function* ({ text }) {
  yield "${word} begins";
  while (text === "wait" && !existsSync("go")) await pause(10);
  yield ", ${word} ends";
});`;
    const dev = await startDev({ "agent.ts": source("old") });
    const url = dev.agentUrls["hello"] ?? "";
    const client = await connect(url);
    const texts = readText(client.stream("wait"))[Symbol.asyncIterator]();
    const begin = await texts.next();
    await dev.save("agent.ts", source("new"));
    await waitForAnswer(url, "new begins, new ends");
    await dev.save("go", "");
    expect([begin.value, (await texts.next()).value]).toEqual(["old begins", ", old ends"]);
  });

  it("keeps the earlier agent if a file is broken, prints the position, and recovers", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`), "lib/other.ts": "" });
    const url = dev.agentUrls["hello"] ?? "";
    await dev.save("agent.ts", `const x = 1;\nthrow new Error("It broke.");`);
    const thrown = await dev.process.waitForOutput("agent.ts:2:7");
    expect(thrown).toContain("agent.ts: could not be loaded: It broke. (line 2). The earlier version stays.");
    expect(thrown).not.toContain("colloquy-reload");
    await dev.save("agent.ts", `export default async function* () {\n  yield "one" two;\n}`);
    await dev.process.waitForOutput("agent.ts:2");
    expect(await ask(url)).toBe("one");
    await dev.save("agent.ts", `import { word } from "./lib/word.ts";\n${createAgentSource("word")}`);
    await dev.process.waitForOutput("word.ts");
    expect(await ask(url)).toBe("one");
    await dev.save("lib/word.ts", `export const word = "created later";`);
    await waitForAnswer(url, "created later");
  });

  it.skipIf(isWindows)("waits for the correction of a file that is broken at the start", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "package.json": ES_MODULE_PACKAGE,
      "agent.ts": "export default 1 +;",
    });
    const dev = spawnColloquyForTest(["dev", "--port", "0"], cwd);
    await dev.waitForOutput("No agent is loaded yet. Correct a file, or add an agent file.");
    await writeFile(join(cwd, "agent.ts"), createAgentSource(`"mended"`));
    const banner = await dev.waitForOutput("Ctrl-C stops it.");
    expect(await ask(/http:\S+/.exec(banner)?.[0] ?? "")).toBe("mended");
    dev.child.kill("SIGTERM");
    expect((await dev.result).code).toBe(0);
  });

  it.skipIf(isWindows)(
    "names the files of the command line that do not exist, and serves a file once it exists",
    async () => {
      const cwd = await createTempTestDirectoryWithFiles({ "package.json": ES_MODULE_PACKAGE });
      const dev = spawnColloquyForTest(["dev", "nope.ts", "--port", "0"], cwd);
      const output = await dev.waitForOutput("No agent is loaded yet. Correct a file, or add an agent file.");
      expect(output).toContain(`nope.ts does not exist (looked for ${join(cwd, "nope.ts")}).`);
      await writeFile(join(cwd, "nope.ts"), createAgentSource(`"created"`));
      const banner = await dev.waitForOutput("Ctrl-C stops it.");
      expect(await ask(/http:\S+/.exec(banner)?.[0] ?? "")).toBe("created");
      dev.child.kill("SIGTERM");
      expect((await dev.result).code).toBe(0);
    },
  );

  it("names a missing file although another agent is served", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`) }, "agent.ts", "other.ts");
    expect(await dev.process.waitForOutput("other.ts does not exist (looked for ")).toContain("hello");
  });

  it("adds and removes the agents of a directory", async () => {
    const dev = await startDev({ "agents/one.ts": createAgentSource(`"1"`, "one") }, "agents");
    const url = dev.agentUrls["one"] ?? "";
    await dev.save("agents/two.ts", createAgentSource(`"2"`, "two"));
    await waitForAnswer(url.replace("one", "two"), "2");
    await rm(join(dev.cwd, "agents/one.ts"));
    await dev.process.waitForOutput("removed one");
    await expect.poll(async () => (await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(404);
    expect(await ask(url.replace("one", "two"))).toBe("2");
  });

  it("serves a renamed agent at its earlier URL, too, and prints how to keep the id", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`) });
    const url = dev.agentUrls["hello"] ?? "";
    await dev.save("agent.ts", createAgentSource(`"two"`, "greeter"));
    await waitForAnswer(url, "two");
    expect(await ask(url.replace("hello", "greeter"))).toBe("two");
    await dev.process.waitForOutput(
      'greeter was hello, whose URL answers until the command ends. To keep the id, add the option id: "hello".',
    );
    await dev.save("agent.ts", createAgentSource(`"three"`, "host"));
    await waitForAnswer(url, "three");
    await dev.save("agent.ts", createAgentSource(`"four"`, "host").replace("});", `}, { id: "hello" });`));
    await waitForAnswer(url, "four");
  });

  it("serves the agent of a moved file at its earlier URL, and takes no other new agent for a removed one", async () => {
    const unnamed = (answer: string): string => `export default async function* () { yield "${answer}"; }`;
    const dev = await startDev(
      { "agents/one.ts": unnamed("1"), "agents/other.ts": createAgentSource(`"other"`, "other") },
      "agents",
    );
    const url = dev.agentUrls["one"] ?? "";
    await rename(join(dev.cwd, "agents/one.ts"), join(dev.cwd, "agents/two.ts"));
    await waitForAnswer(url.replace("one", "two"), "1");
    await dev.process.waitForOutput("two was one, whose URL answers");
    expect(await ask(url)).toBe("1");
    await rm(join(dev.cwd, "agents/other.ts"));
    await dev.save("agents/new.ts", createAgentSource(`"new"`, "new"));
    await waitForAnswer(url.replace("one", "new"), "new");
    const earlier = url.replace("one", "other");
    await expect.poll(async () => (await fetch(`${earlier}/.well-known/agent-card.json`)).status).toBe(404);
  });

  it("answers with the same agent at the root URL after another agent is renamed", async () => {
    const dev = await startDev({
      "agents/a.ts": createAgentSource(`"one"`, "first"),
      "agents/b.ts": createAgentSource(`"two"`, "second"),
    });
    const url = dev.agentUrls["second"] ?? "";
    await dev.save("agents/b.ts", createAgentSource(`"three"`, "third"));
    await waitForAnswer(url.replace("second", "third"), "three");
    expect(await ask(url)).toBe("three");
    expect(await ask(new URL("/", url).href)).toBe("one");
  });

  it("prints a line for each turn, and the place of an error in the source", async () => {
    const agentSource = `import { agent } from "colloquy";
const read = (value) => value.missing.name;
export default agent({ name: "hello", description: "Answers" }, async function* ({ text }) {
  yield text === "fail" ? read({}) : "fine";
});`;
    const dev = await startDev({ "agent.js": agentSource }, "--log-format", "pretty");
    const client = await connect(dev.agentUrls["hello"] ?? "");
    const fine = await client.ask("x");
    await dev.process.waitForOutput(`hello completed in `);
    await dev.process.waitForOutput(`task ${fine.task?.id}`);
    await client.ask("fail").catch(() => {});
    const output = await dev.process.waitForOutput("error id ");
    const [, report = ""] = output.split("failed TypeError: ");
    const lines = report.split("\n").map((line) => line.trimEnd());
    expect(lines.slice(0, 4)).toEqual([
      "Cannot read properties of undefined (reading 'name')",
      "    2 | const read = (value) => value.missing.name;",
      "                                              ^",
      "    at read (agent.js:2:39)",
    ]);
    expect(lines[4]).toContain("agent.js:4:");
    expect(lines[5]).toContain("error id");
  });

  it("serves a changed card at once", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`) });
    const client = await connect(dev.agentUrls["hello"] ?? "");
    await dev.save("agent.ts", createAgentSource(`"one"`).replace("Answers", "Answers better"));
    await dev.process.waitForOutput("reloaded hello");
    expect((await client.refreshCard()).description).toBe("Answers better");
  });

  it("reloads files of a CommonJS package, which need a transpiler", async () => {
    const dev = await startDev({
      "package.json": `{ "type": "commonjs" }`,
      "agent.ts": `import { Word } from "./word"; export default async function* () { yield Word.Hi; }`,
      "word.ts": `export enum Word { Hi = "hi" }`,
    });
    const [url = ""] = Object.values(dev.agentUrls);
    expect(await ask(url)).toBe("hi");
    await dev.save("word.ts", `export enum Word { Hi = "ho" }`);
    await waitForAnswer(url, "ho");
  });

  it("reloads the agents of a configuration file, and asks for a restart for its other settings", async () => {
    const config = (word: string, openai: boolean): string => `
import { agent, defineConfig } from "colloquy";
const hello = agent({ name: "hello", description: "d" }, async function* () { yield "${word}"; });
export default defineConfig({ agents: { hello }, openai: ${openai} });`;
    const dev = await startDev({ "colloquy.config.ts": config("one", false) });
    await dev.save("colloquy.config.ts", config("two", true));
    await waitForAnswer(dev.agentUrls["hello"] ?? "", "two");
    const notice = "colloquy.config.ts has a new value of openai. Restart colloquy dev to apply the change.";
    expect(await dev.process.waitForOutput("Restart colloquy dev")).toContain(notice);
  });

  it("serves a console that shows the agents after a reload", async () => {
    const dev = await startDev({ "agents/one.ts": createAgentSource(`"1"`, "one") }, "agents");
    const page = new URL(/console: (\S+)/.exec(dev.banner)?.[1] ?? "");
    const token = new URLSearchParams(page.hash.slice(1)).get("token") ?? "";
    const read = async (path: string, headers = {}): Promise<unknown> =>
      await (await fetch(new URL(`api/${path}`, page), { headers })).json();
    const authorization = { authorization: `Bearer ${token}` };
    expect(await read("session", authorization)).toMatchObject({ mode: "dev", canAct: true });
    expect(await read("session")).toMatchObject({ error: { reason: "UNAUTHENTICATED" } });
    expect(await (await fetch(page)).text()).toContain("<script");
    await dev.save("agents/two.ts", createAgentSource(`"2"`, "two"));
    await dev.process.waitForOutput("added two");
    expect(await read("agents", authorization)).toMatchObject({
      agents: [
        { id: "one", isOwn: true },
        { id: "two", isOwn: true },
      ],
    });
  });

  it("tells the console of loaded agents, and of errors with their stack", async () => {
    const broken = `export default async function* () {`;
    const dev = await startDev(
      { "agents/one.ts": createAgentSource(`"1"`, "one"), "agents/new.ts": broken },
      "agents",
    );
    const page = new URL(/console: (\S+)/.exec(dev.banner)?.[1] ?? "");
    const token = new URLSearchParams(page.hash.slice(1)).get("token") ?? "";
    const follow = async function* (): AsyncGenerator<AgentReloadNotice> {
      const headers = { authorization: `Bearer ${token}` };
      const { body } = await fetch(new URL("api/lines", page), { headers });
      for await (const { event, data } of parseSse(body as unknown as AsyncIterable<Uint8Array>))
        if (event === "reload") yield JSON.parse(data) as AgentReloadNotice;
    };
    const notices = follow();
    const next = async (): Promise<unknown> => (await notices.next()).value;
    const at = expect.stringMatching(/^2\d{3}-.*Z$/) as string;
    const failure = { kind: "agentLoadFailed", at, message: expect.any(String) as string };
    const newFile = join("agents", "new.ts");
    // A stream begins with the failures that are not corrected yet.
    expect(await next()).toMatchObject({
      ...failure,
      agent: newFile,
      stack: expect.stringContaining("new.ts:1") as string,
    });
    await dev.save("agents/one.ts", `throw new Error("It broke.");`);
    expect(await next()).toMatchObject({
      ...failure,
      agent: "one",
      message: `${join("agents", "one.ts")}: could not be loaded: It broke. (line 1).`,
      stack: `Error: It broke.\n    at ${join("agents", "one.ts")}:1:7`,
    });
    const late = follow();
    expect([(await late.next()).value, (await late.next()).value]).toMatchObject([
      { agent: newFile },
      { agent: "one" },
    ]);
    await late.return(undefined);
    await dev.save("agents/one.ts", createAgentSource(`"2"`, "one"));
    expect(await next()).toEqual({ kind: "agentReloaded", agent: "one", at });
    await dev.save("agents/new.ts", createAgentSource(`"n"`, "newer"));
    expect([await next(), await next()]).toEqual([
      { kind: "agentRemoved", agent: newFile, at },
      { kind: "agentReloaded", agent: "newer", at },
    ]);
    await rm(join(dev.cwd, "agents/one.ts"));
    expect(await next()).toEqual({ kind: "agentRemoved", agent: "one", at });
    await notices.return(undefined);
  });

  it("asks for a restart if a .env file changes", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`) });
    await dev.save(".env", "KEY=1");
    const notice = ".env has changed. Restart colloquy dev to apply the change.";
    expect(await dev.process.waitForOutput("Restart colloquy dev")).toContain(notice);
  });

  it("continues after an error outside of a turn", async () => {
    const dev = await startDev({
      "agent.ts": `setTimeout(() => { throw new Error("From a timer."); }); ${createAgentSource(`"one"`)}`,
    });
    await dev.process.waitForOutput("An error outside of a turn was not caught; the server continues.");
    expect(await ask(dev.agentUrls["hello"] ?? "")).toBe("one");
  });

  it("keeps tasks in its own file, which a restart keeps", async () => {
    const dev = await startDev({ "agent.ts": createAgentSource(`"one"`) });
    const client = await connect(dev.agentUrls["hello"] ?? "");
    const { task } = await client.ask("x");
    dev.process.child.kill("SIGKILL");
    await dev.process.result;
    const again = await startServeCommandForTest(["dev"], dev.cwd);
    expect(again.banner).toContain("dev.db");
    const found = await (await connect(again.agentUrls["hello"] ?? "")).tasks.get(task?.id ?? "");
    expect(found.status.state).toBe("TASK_STATE_COMPLETED");
    again.process.child.kill("SIGTERM");
    await again.process.result;
  });
});
