/**
 * `npm run docs` generates parts of the documentation: the tables in `docs/reference/` from the sources, and
 * `llms.txt` from all pages. A test fails when a generated file is out of date.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./source-file.ts";
import { renderGeneratedBlock } from "./generated-blocks.ts";

/** The pages in reading order. */
const DOCUMENTATION_PAGE_SECTIONS = [
  {
    title: "Get started",
    pages: ["README.md", "docs/tutorial.md", "examples/README.md", "examples/*/README.md"],
  },
  { title: "How-to guides", pages: ["docs/how-to/*.md"] },
  { title: "Topics", pages: ["docs/*.md", "docs/extensions/*.md"] },
  { title: "Deployment", pages: ["docs/deploy/README.md", "docs/deploy/[!R]*.md"] },
  { title: "Migration", pages: ["docs/migrate/*.md"] },
  { title: "Reference", pages: ["docs/reference/*.md"] },
  { title: "Optional", pages: ["docs/decisions/README.md", "AGENTS.md"] },
] as const;

const LLMS_TXT_SUMMARY =
  "Colloquy is a TypeScript library that puts agents on the A2A (Agent2Agent) network: an async generator, a Google ADK agent or a " +
  "command becomes a durable, streaming A2A server of 1.0 and 0.3 over JSON-RPC, HTTP+JSON and gRPC. ES modules, Node ≥ 22.18.";

/** Returns every generated file with its content. */
export function generateFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const file of globSync("docs/reference/*.md", { cwd: repositoryRoot }).toSorted())
    files.set(file, fillGeneratedBlocks(readPage(file)));
  files.set(
    "llms.txt",
    renderLlmsTxt((file) => files.get(file) ?? readPage(file)),
  );
  return files;
}

function fillGeneratedBlocks(page: string): string {
  return page.replaceAll(
    /(<!-- made of (.+?) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin: string, words: string, end: string) => `${begin}\n${renderGeneratedBlock(words)}\n\n${end}`,
  );
}

/** Renders `llms.txt` in the format of llmstxt.org: a summary, and one line for each page. */
function renderLlmsTxt(text: (file: string) => string): string {
  const sections = listPages().map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${findPageTitle(text(page))}](${page}): ${findPageSummary(text(page))}`,
    );
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return `# Colloquy\n\n> ${LLMS_TXT_SUMMARY}\n\n${sections.join("\n\n")}\n`;
}

/** Renders `llms-full.txt` of the site: the content of all pages except those about Colloquy's internals. */
export function renderLlmsFullTxt(): string {
  const internalPages = /conformance|benchmarks|dependencies|card-figures|decisions|AGENTS|extensions/;
  const pages = listPages().flatMap(({ pages }) => pages.filter((page) => !internalPages.test(page)));
  return pages.map((page) => `<!-- ${page} -->\n\n${readPage(page).trim()}\n`).join("\n\n");
}

function listPages(): { title: string; pages: string[] }[] {
  return DOCUMENTATION_PAGE_SECTIONS.map(({ title, pages }) => ({
    title,
    pages: pages
      .flatMap((pattern) => globSync(pattern, { cwd: repositoryRoot }).toSorted())
      .filter((page) => title !== "Topics" || page !== "docs/tutorial.md"),
  }));
}

function findPageTitle(page: string): string {
  return /^# (.+)$/m.exec(page)?.[1] ?? "";
}

/** Returns the first sentence after the title. */
function findPageSummary(page: string): string {
  const paragraphs = page.replace(/^# .+\n/m, "").split(/\n\n+/);
  const first = paragraphs.find((one) => /^[\p{L}`*[]/u.test(one.trim())) ?? "";
  const plain = first
    .replaceAll("\n", " ")
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .trim();
  return plain.split(/(?<=[.]) (?=[A-Z`])/)[0] ?? "";
}

function readPage(file: string): string {
  return readFileSync(join(repositoryRoot, file), "utf8");
}

if (import.meta.main)
  for (const [file, text] of generateFiles()) writeFileSync(join(repositoryRoot, file), text);
