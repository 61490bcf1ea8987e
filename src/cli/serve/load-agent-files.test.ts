import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import { AdkAgentFactory } from "./adk-agent-factory.ts";
import { loadAgentFiles } from "./load-agent-files.ts";

const GENERATOR = `export default async function* () { yield "hi"; }`;
const AGENT = `export const agent = { describe: () => ({ name: "rain", description: "d" }), async *execute() {} };`;

async function loadFromDirectory(
  directory: string,
  ...names: string[]
): Promise<{ ids: string[]; skipped: string[] }> {
  const paths = names.length > 0 ? names.map((name) => join(directory, name)) : [directory];
  const { agents, skipped } = await loadAgentFiles(paths, new AdkAgentFactory({}));
  return { ids: Object.keys(agents), skipped: skipped.map((line) => line.replace(`${directory}/`, "")) };
}

describe("the agents of a directory", () => {
  it("are its files and the agent.ts of its subdirectories; skipped files are listed with reasons", async () => {
    const directory = await createTempTestDirectoryWithFiles({
      "01-hello.ts": GENERATOR,
      "weather/agent.ts": AGENT,
      "weather/tools.ts": "export const x = 1;",
      "notes/readme.md": "",
      "helper.ts": "export const add = 1;",
      "silent.ts": "const x = 1;",
      "wrong.ts": "export const rootAgent = 42;",
      "broken.ts": "\nthrow new Error('It broke.');",
      "hello.test.ts": GENERATOR,
      "types.d.ts": "export {};",
      "hello.mjs": GENERATOR,
      ".hidden.ts": GENERATOR,
    });
    expect(await loadFromDirectory(directory)).toEqual({
      ids: ["hello", "rain"],
      skipped: [
        "broken.ts: could not be loaded: It broke. (line 2)",
        `hello.mjs: has the same id (hello) as ${join(directory, "01-hello.ts")}; give one agent another name`,
        "hello.test.ts: is a test",
        "helper.ts: exports no agent (only add); name it rootAgent, agent, default",
        "notes: has no agent.ts",
        "silent.ts: exports nothing; export your agent as rootAgent, agent, default",
        "types.d.ts: only declares types",
        "wrong.ts: rootAgent is not an agent: use an ADK agent, agent(…), or an async generator",
      ],
    });
  });

  it("can be one file, or a directory with its own agent.ts", async () => {
    const directory = await createTempTestDirectoryWithFiles({ "a/agent.ts": GENERATOR, "b.ts": AGENT });
    expect(await loadFromDirectory(directory, "a", "b.ts")).toEqual({ ids: ["a", "rain"], skipped: [] });
    expect((await loadFromDirectory(directory, "a/agent.ts")).ids).toEqual(["a"]);
  });

  it("may be ADK agents", async () => {
    const adk = import.meta.resolve("@google/adk");
    const directory = await createTempTestDirectoryWithFiles({
      "adk.ts": `import { LlmAgent } from ${JSON.stringify(adk)};
        export const rootAgent = new LlmAgent({ name: "weather", model: "gemini-2.5-flash" });`,
    });
    expect(await loadFromDirectory(directory)).toEqual({ ids: ["weather"], skipped: [] });
  });

  it("may be in a CommonJS package, as created by npm init", async () => {
    const directory = await createTempTestDirectoryWithFiles({
      "package.json": `{ "type": "commonjs" }`,
      "hello.ts": `import { hostname } from "node:os"; ${GENERATOR} hostname();`,
    });
    expect(await loadFromDirectory(directory)).toEqual({ ids: ["hello"], skipped: [] });
  });

  it.each([`{ "type": "module" }`, `{}`])(
    "may need more than stripped types, in a package %s",
    async (manifest) => {
      const directory = await createTempTestDirectoryWithFiles({
        "package.json": manifest,
        "enums.ts": `import { greeting } from "./lib/words"; enum Word { Hi = "hi" }
        export const agent = async function* () { yield Word.Hi + greeting; };`,
        "lib/words.ts": `export const greeting: string = "!";`,
      });
      expect((await loadFromDirectory(directory, "enums.ts")).ids).toEqual(["enums"]);
    },
  );

  it("load the .env file in their directory", async () => {
    const directory = await createTempTestDirectoryWithFiles({
      ".env": "COLLOQUY_TEST_KEY=found",
      "keyed.ts": `if (process.env.COLLOQUY_TEST_KEY !== "found") throw new Error("no key"); ${GENERATOR}`,
    });
    expect((await loadFromDirectory(directory)).ids).toEqual(["keyed"]);
  });

  it("are required", async () => {
    const directory = await createTempTestDirectoryWithFiles({ "helper.ts": "export const add = 1;" });
    await expect(loadFromDirectory(directory)).rejects.toThrow(
      /No agent was found\.\n.*helper\.ts: exports no agent/,
    );
    await expect(loadFromDirectory(directory, "nowhere.ts")).rejects.toThrow("does not exist");
  });
});
