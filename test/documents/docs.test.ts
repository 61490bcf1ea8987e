import { existsSync, globSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { LABS } from "../../lab/labs.ts";
import { generateFiles } from "../../scripts/docs/main.ts";
import { listExportedNames } from "../../scripts/docs/generated-blocks.ts";
import {
  CliTestProcess,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../../src/cli/cli-test-process.fixture.ts";
import {
  type CodeBlock,
  parseCodeBlocks,
  DOCUMENTS,
  FRAGMENT_GLOBALS,
  isElided,
  isExecuted,
  isFragment,
  isShellBlock,
  readDocument,
  root,
} from "./code-blocks.ts";
import { findLinks, findLinkMistake } from "./links.ts";
import { runDocument } from "./run-document.ts";
import { isWindows } from "../support/is-windows.ts";

const blocks = DOCUMENTS.flatMap((document) => parseCodeBlocks(document));
// Blocks for other platforms import packages that only those platforms have. `npm run lab -- templates` compiles such code.
const needsOtherPlatform = (code: string): boolean => /from "(cloudflare:|next\/)/.test(code);
const code = blocks.filter((block) => block.language === "ts" && !needsOtherPlatform(block.code));
const isTranslation = (document: string): boolean => /^README\.\w+\.md$/.test(document);

describe("the documents", () => {
  it("have no broken link and no broken anchor", () => {
    const links = DOCUMENTS.flatMap((document) =>
      findLinks(readDocument(document)).map((link) => ({
        document,
        link,
        mistake: findLinkMistake(document, link),
      })),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ mistake }) => mistake !== undefined)).toEqual([]);
  });

  it("name only existing npm scripts and labs", () => {
    const { scripts } = JSON.parse(readDocument("package.json")) as { scripts: object };
    const named = DOCUMENTS.flatMap((document) =>
      [...readDocument(document).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, script = ""]) => ({
        document,
        script,
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ script }) => !(script in scripts))).toEqual([]);
    const labs = DOCUMENTS.flatMap((document) =>
      [...readDocument(document).matchAll(/npm run (?:-s )?lab -- ([\w-]+)/g)].map(([, lab = ""]) => ({
        document,
        lab,
      })),
    );
    expect(labs.length).toBeGreaterThan(10);
    expect(labs.filter(({ lab }) => !LABS.some(({ name }) => name === lab))).toEqual([]);
  });

  it("have up-to-date generated parts (run npm run docs)", () => {
    const stale = [...generateFiles()].filter(
      ([file, text]) => !existsSync(join(root, file)) || readDocument(file) !== text,
    );
    expect(stale.map(([file]) => file)).toEqual([]);
  });

  it("import only exported names", () => {
    const exported = listExportedNames();
    const imports = blocks.flatMap((block) =>
      [...block.code.matchAll(/import (?:type )?\{([^}]*)\} from "(colloquy[\w/-]*)"/g)].flatMap(
        ([, names = "", entry = ""]) =>
          names.split(",").map((name) => ({
            at: formatBlockLocation(block),
            entry,
            name: name.trim().replace(/^type | as .*$/g, ""),
          })),
      ),
    );
    expect(imports.length).toBeGreaterThan(50);
    expect(imports.filter(({ entry, name }) => name !== "" && !exported.get(entry)?.has(name))).toEqual([]);
  });

  it.each(DOCUMENTS.filter(isTranslation))("%s has the code of the English quick start", (document) => {
    const [, quickStart = ""] =
      /^## Quick start\n([^]*?)^## Guarantees/m.exec(readDocument("README.md")) ?? [];
    const codeOf = (markdown: string): string[] =>
      parseCodeBlocks(document, markdown).map((block) => block.code);
    expect(codeOf(quickStart).length).toBeGreaterThan(6);
    expect(codeOf(readDocument(document))).toEqual(codeOf(quickStart));
  });

  it("list every example by number with the command that runs it", () => {
    const files = globSync("examples/[0-9]*", { cwd: root })
      .map((file) => file.replace("examples/", ""))
      .toSorted();
    const rows = [
      ...readDocument("examples/README.md").matchAll(
        /^\| \[(.+?)\]\((.+?)\) \| .+ \| `npm run -s (.+)` \|$/gm,
      ),
    ];
    expect(rows.map(([, file]) => file)).toEqual(files);
    expect(files.map((file) => Number(file.slice(0, 2)))).toEqual(files.map((_, at) => at + 1));
    for (const [, file = "", link, command = ""] of rows) {
      expect(link).toMatch(new RegExp(`^${file}(?:/|$)`));
      expect(command).toMatch(new RegExp(`^(?:example|colloquy -- serve) examples/${file}`));
    }
  });

  it("have commands only in shell blocks", () => {
    const hidden = /^(?:\$ |npm |npx |node |git |colloquy |curl )/m;
    const pages = blocks.filter(({ document }) => /^(?:README|docs|examples)/.test(document));
    const plain = pages.filter(({ language }) => language === "" || language === "text");
    expect(plain.filter((block) => hidden.test(block.code)).map(formatBlockLocation)).toEqual([]);
  });
});

describe("the code in the documents", () => {
  it("compiles", async () => {
    const whole = code.filter((block) => !isElided(block.code) && !isTranslation(block.document));
    expect(whole.length).toBeGreaterThan(7);
    const compilerOptions = {
      noEmit: true,
      types: ["node"],
      noUnusedLocals: false,
      noUnusedParameters: false,
      allowImportingTsExtensions: true,
    };
    const extended = join(root, "examples/tsconfig.json");
    const folder = await createTempTestDirectoryWithFiles({
      "package.json": `{ "type": "module" }`,
      "tsconfig.json": JSON.stringify({ extends: extended, compilerOptions, include: ["."] }),
      "given.d.ts": FRAGMENT_GLOBALS,
      "peers.d.ts": PEER_DECLARATIONS,
    });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const files = new Map<string, string>();
    for (const [number, block] of whole.entries()) {
      const page = block.document.replaceAll(/\W/g, "-");
      files.set(`${page}/agent.ts`, files.get(`${page}/agent.ts`) ?? AGENT);
      const name = `${page}/${block.file ?? `block-${number}.ts`}`;
      const isTaken = files.has(name) && files.get(name) !== AGENT;
      files.set(isTaken ? name.replace(/\.ts$/, `-${number}.ts`) : name, `${block.code}\nexport {};\n`);
    }
    for (const [name, text] of files) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    // Several checkers would check the same types several times, on cores that other tests use.
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { code: exit, out } = await new CliTestProcess(
      process.execPath,
      [tsc, "-p", ".", "--singleThreaded"],
      folder,
    ).result;
    expect({ exit, out }).toEqual({ exit: 0, out: "" });
  });
});

/** The parts that pages use of packages that only `npm run lab -- peers` installs. */
const PEER_DECLARATIONS = `
declare module "@anthropic-ai/claude-agent-sdk" {
  export function query(parameters: { prompt: string; options: object }): AsyncIterable<unknown>;
}
declare module "@mastra/core" {
  export class Mastra {
    constructor(options: object);
    getAgent(name: string): import("colloquy/mastra").MastraAgent;
  }
}
declare module "@mastra/core/agent" {
  export class Agent {
    constructor(options: object);
  }
}
declare module "@mastra/core/storage" {
  export class InMemoryStore {}
}
declare module "@mastra/core/tools" {
  export function createTool<T>(options: {
    id: string;
    description: string;
    inputSchema: import("zod").ZodType<T>;
    requireApproval: boolean;
    execute: (input: T) => Promise<object>;
  }): object;
}
`;

/** The agent module for pages that import one without showing it. */
const AGENT = `export declare const rootAgent: import("@google/adk").LlmAgent;\n`;

describe.skipIf(isWindows)("the commands and scripts in the documents", () => {
  const executedDocuments = DOCUMENTS.filter(
    (document) =>
      !isTranslation(document) && blocks.some((block) => block.document === document && isExecuted(block)),
  );

  it.concurrent.each(executedDocuments)("print what %s shows", async (document) => {
    const { printed, shown } = await runDocument(document);
    expect(printed).toBe(shown);
  });

  afterAll(() => {
    const runnable = blocks.filter((block) => isShellBlock(block) || block.language === "ts");
    const untranslated = runnable.filter(({ document }) => !isTranslation(document));
    const run = untranslated.filter(isExecuted);
    const files = untranslated.filter((block) => block.file !== undefined);
    const skipped = untranslated.filter((block) => block.skipReason !== undefined);
    const parts = code.filter(
      (block) =>
        block.skipReason === undefined &&
        block.file === undefined &&
        (isFragment(block.code) || isElided(block.code)),
    );
    const lines = [
      `Blocks in the documents: ${run.length} run, ${files.length} files for them, ${parts.length} parts of programs (compiled), ${skipped.length} not run:`,
      ...skipped.map((block) => `  ${formatBlockLocation(block)}: ${block.skipReason}`),
    ];
    console.info(lines.join("\n"));
  });
});

describe("the pictures in the documents", () => {
  it("match the output of the commands", async () => {
    const drawn = ["cards", "export", "docs/recordings/two-problems.cards.jsonl", "--to"];
    expect((await runCliInTestProcess([...drawn, "svg", "--sample", "gsm8k_11"])).out).toBe(
      readDocument("docs/images/cards-sequence.svg"),
    );
    expect((await runCliInTestProcess([...drawn, "graph-svg"])).out).toBe(
      readDocument("docs/images/cards-graph.svg"),
    );
  });
});

function formatBlockLocation({ document, line }: CodeBlock): string {
  return `${document}:${line}`;
}
