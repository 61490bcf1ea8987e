import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LABS } from "../../lab/labs.ts";
import { generateFiles } from "../../scripts/docs/main.ts";
import { listExportedNames } from "../../scripts/docs/generated-blocks.ts";
import {
  type CodeBlock,
  parseCodeBlocks,
  DOCUMENTS,
  isTranslation,
  readDocument,
  root,
} from "./code-blocks.ts";
import { findLinks, findLinkMistake } from "./links.ts";
import { runDocument } from "./run-document.ts";
import { isWindows } from "../support/is-windows.ts";

const blocks = DOCUMENTS.flatMap((document) => parseCodeBlocks(document));

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
    // `templates/` contains the scripts of the projects that `colloquy init` creates.
    const scripts = ["package.json", "templates/adk/package.json"].flatMap((file) =>
      Object.keys((JSON.parse(readDocument(file)) as { scripts: object }).scripts),
    );
    const named = DOCUMENTS.flatMap((document) =>
      [...readDocument(document).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, script = ""]) => ({
        document,
        script,
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ script }) => !scripts.includes(script))).toEqual([]);
    const labs = DOCUMENTS.flatMap((document) =>
      [...readDocument(document).matchAll(/npm run (?:-s )?lab -- ([a-z][\w-]*)/g)].map(([, lab = ""]) => ({
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

  it.each(DOCUMENTS.filter(isTranslation))("%s has the code of README.md", (document) => {
    const [translated = ""] = readDocument("README.md").split("## Documentation");
    const codeOf = (markdown: string): string[] =>
      parseCodeBlocks(document, markdown).map((block) => block.code);
    expect(codeOf(translated).length).toBeGreaterThan(6);
    expect(codeOf(readDocument(document))).toEqual(codeOf(translated));
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

// `npm run lab -- documents` compiles the code of all pages, and runs the other pages.
describe.skipIf(isWindows)("the commands and scripts in README.md", () => {
  it("print what it shows", async () => {
    const { printed, shown } = await runDocument("README.md");
    expect(printed).toBe(shown);
  });
});

function formatBlockLocation({ document, line }: CodeBlock): string {
  return `${document}:${line}`;
}
