/** `npm test` runs README.md only: the other pages start some hundred processes. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CliTestProcess, createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";
import {
  type CodeBlock,
  DOCUMENTS,
  FRAGMENT_GLOBALS,
  isElided,
  isExecuted,
  isFragment,
  isShellBlock,
  isTranslation,
  parseCodeBlocks,
  readDocument,
  root,
} from "../../test/documents/code-blocks.ts";
import { runDocument } from "../../test/documents/run-document.ts";
import { isWindows } from "../../test/support/is-windows.ts";

const blocks = DOCUMENTS.flatMap((document) => parseCodeBlocks(document));
// Blocks for other platforms import packages that only those platforms have. `npm run lab -- templates` compiles such code.
const needsOtherPlatform = (code: string): boolean => /from "(cloudflare:|next\/)/.test(code);
const code = blocks.filter((block) => block.language === "ts" && !needsOtherPlatform(block.code));

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
      // Augments the declarations with which the library compiles.
      "peer-packages.d.ts": readDocument("src/agents/adapters/peer-packages.d.ts"),
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
declare module "@langchain/langgraph" {
  interface Root<F extends Record<string, () => unknown>> {
    readonly State: { [K in keyof F]: ReturnType<F[K]> };
  }
  export const Annotation: {
    <T>(): T;
    Root<F extends Record<string, () => unknown>>(fields: F): Root<F>;
  };
  export class MemorySaver {}
  export class StateGraph<F extends Record<string, () => unknown>> {
    constructor(root: Root<F>);
    addNode(
      name: string,
      node: (state: Root<F>["State"], config: { writer?: (value: unknown) => void }) => Partial<Root<F>["State"]>,
    ): this;
    addEdge(from: string, to: string): this;
    compile(options: { checkpointer: MemorySaver }): Parameters<
      typeof import("colloquy/langgraph").fromLangGraph<Root<F>["State"]>
    >[0];
  }
}
declare module "@openai/agents" {
  export class Agent<C = unknown, O extends AgentOutputType = "text"> {
    constructor(options: { name: string; handoffDescription: string; tools: unknown[] });
  }
  export function tool<T>(options: {
    name: string;
    description: string;
    parameters: import("zod").ZodType<T>;
    needsApproval: boolean;
    execute: (input: T) => unknown;
  }): object;
}
declare module "@anthropic-ai/claude-agent-sdk" {
  export function query(parameters: { prompt: string; options: object }): AsyncIterable<unknown>;
}
declare module "@mastra/core" {
  export class Mastra {
    constructor(options: object);
    getAgent(name: string): Parameters<typeof import("colloquy/mastra").fromMastra>[0];
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
      document !== "README.md" &&
      !isTranslation(document) &&
      blocks.some((block) => block.document === document && isExecuted(block)),
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

function formatBlockLocation({ document, line }: CodeBlock): string {
  return `${document}:${line}`;
}
