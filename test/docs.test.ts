import { existsSync, globSync, readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, colloquy, directoryWith, inProcess } from "../src/cli/process.contract.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = globSync("{,docs/**/,examples/}*.md", { cwd: root });
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** What a pattern finds in all documents, as `[document, found]`. */
function findAll(pattern: RegExp): [document: string, found: string][] {
  return documents.flatMap((document) =>
    [...read(document).matchAll(pattern)].map(([, found = ""]) => [document, found] as [string, string]),
  );
}

describe("the documents", () => {
  it("have no link that leads nowhere", () => {
    const links = findAll(/\]\((?!https?:)([^)#]+)/g);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(([document, link]) => !existsSync(join(root, dirname(document), link)))).toEqual([]);
  });

  it("name only scripts that there are", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: object };
    const named = findAll(/npm run (?:-s )?([\w:-]+)/g);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(([, script]) => !(script in scripts))).toEqual([]);
  });
});

/** What the blocks of code in the documents take for granted. */
const GIVEN = `
declare const createServer: typeof import("colloquy").createServer;
declare const connect: typeof import("colloquy").connect;
declare const agent: import("colloquy").Agent;
declare const hello: import("colloquy").Agent;
declare const mine: Set<string>;
declare const privateKey: string;
declare const token: string;
`;

describe("the code in the documents", () => {
  it("is right by the types, as it stands", { timeout: 60_000 }, async () => {
    // What leaves something out (…) is no code.
    const blocks = findAll(/^```ts\n([^]*?)^```/gm).filter(([, code]) => !/…,|\[\.\.\.\]/.test(code));
    expect(blocks.length).toBeGreaterThan(7);
    const examples = join(root, "examples/tsconfig.json");
    const compilerOptions = {
      noEmit: true,
      types: ["node"],
      noUnusedLocals: false,
      noUnusedParameters: false,
    };
    const folder = await directoryWith({
      "package.json": `{ "type": "module" }`,
      "tsconfig.json": JSON.stringify({ extends: examples, compilerOptions, include: ["."] }),
      "given.d.ts": GIVEN,
      "agent.ts": `export declare const rootAgent: import("@google/adk").LlmAgent;`,
      ...Object.fromEntries(
        blocks.map(([document, code], at) => [
          `${document.replaceAll("/", "-")}-${at}.ts`,
          `${code}\nexport {};\n`,
        ]),
      ),
    });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { code, out } = await new Cli(process.execPath, [tsc, "-p", "."], folder).ended;
    expect({ code, out }).toEqual({ code: 0, out: "" });
  });
});

/** A command, and what it prints: below it, or in the block behind it. `…` stands for the rest. */
const SESSION = /^```console\n\$ colloquy (.+)\n([^]*?)```\n(?:\n```mermaid\n([^]*?)```)?/gm;

describe("the commands in the documents", () => {
  const sessions = documents.flatMap((document) =>
    [...read(document).matchAll(SESSION)].map(([, line = "", below = "", behind = ""]) => ({
      document,
      line,
      shown: below === "" ? behind : below,
    })),
  );

  it.each(sessions)("print what $document says: colloquy $line", async ({ line, shown }) => {
    const { code, out } = await inProcess(line.split(" "));
    expect(code).toBe(0);
    const [begins = "", rest] = shown.split(/^…$/m);
    if (rest === undefined) expect(out.trimEnd()).toBe(shown.trimEnd());
    else expect(out.startsWith(begins)).toBe(true);
  });

  it("drew the pictures in them", async () => {
    const drawn = ["cards", "export", "docs/recordings/two-problems.cards.jsonl", "--to"];
    expect((await inProcess([...drawn, "svg", "--sample", "gsm8k_11"])).out).toBe(
      read("docs/images/cards-sequence.svg"),
    );
    expect((await inProcess([...drawn, "graph-svg"])).out).toBe(read("docs/images/cards-graph.svg"));
  });
});

describe("the README", () => {
  const [hello = "", adk = "", client = ""] = [...read("README.md").matchAll(/^```ts\n([^]*?)^```/gm)].map(
    ([, code = ""]) => code,
  );
  const commands = [...read("README.md").matchAll(/^colloquy (\w.*?)(?: +#.*)?$/gm)].map(
    ([, line = ""]) => line,
  );
  let cwd: string;
  let server: Cli;
  let url: string;

  async function node(file: string, code: string): Promise<Cli> {
    await writeFile(join(cwd, file), code);
    return new Cli(process.execPath, [file], cwd);
  }

  beforeAll(async () => {
    const agent = `export { rootAgent } from ${JSON.stringify(join(root, "examples/02-adk-agent.ts"))};`;
    cwd = await directoryWith({ "agent.ts": agent });
    server = await node("hello.ts", hello.replace("port: 4120", "port: 0"));
    url = new URL((await server.says("agent-card.json")).trim()).origin;
  });

  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.ended;
  });

  it("has an agent that answers its client", async () => {
    const { code, out, err } = await (
      await node("client.ts", client.replace("http://127.0.0.1:4120", url))
    ).ended;
    expect({ code, out, err }).toEqual({ code: 0, out: "Hello, Ada!", err: "" });
  });

  it.each(commands.filter((line) => !line.startsWith("serve")))(
    "has a command that works: colloquy %s",
    async (line) => {
      const words = line.replace("http://127.0.0.1:4120", url).replaceAll('"', "").split(" ");
      expect(await colloquy(words, cwd).ended).toMatchObject({ code: 0, err: "" });
    },
  );

  it("has an ADK agent that is served, by its own line and by the command", async () => {
    const store = `{ store: "memory", port: 0 }`;
    const own = await node("serve.ts", adk.replace("{ port: 8001 }", store));
    const served = colloquy(["serve", "agent.ts", "--port", "0", "--store", "memory"], cwd);
    const addresses = [await own.says("http"), await served.says("Ctrl-C stops it.")];
    for (const said of addresses) {
      const [address = ""] = /http:\S+/.exec(said) ?? [];
      const { out } = await colloquy(["send", address, "What is the weather in Seoul?"], cwd).ended;
      expect(out).toContain("It is sunny in Seoul");
    }
    for (const { child, ended } of [own, served]) {
      child.kill("SIGKILL");
      await ended;
    }
  });
});
