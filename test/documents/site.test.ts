import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkSiteLinks } from "../../lab/site/check-links.ts";
import { startSiteServer } from "../../lab/site/site-server.ts";
import { joinExamplesWithOutput, type MarkdownToken } from "../../site/example-output.ts";
import { listPagesOutsideNavigation, NAVIGATION } from "../../site/navigation.ts";
import { readSiteBase } from "../../site/site-base.ts";
import { listLinkedSourceFiles, SITE_DOCUMENTS, toSiteLink, toSitePage } from "../../site/site-pages.ts";
import { parseCodeBlocks, readDocument, root } from "./code-blocks.ts";
import { findLinks } from "./links.ts";

describe("the documentation site", () => {
  it("has a place in its navigation for each page (site/navigation.ts)", () => {
    expect(SITE_DOCUMENTS.length).toBeGreaterThan(60);
    expect(listPagesOutsideNavigation()).toEqual([]);
    const listed = NAVIGATION.flatMap(({ pages }) => pages.map(([, document]) => document));
    expect(listed.filter((document) => !SITE_DOCUMENTS.includes(document))).toEqual([]);
    expect(listed.length).toBe(new Set(listed).size);
  });

  it("shows each page at an address of its own", () => {
    const pages = SITE_DOCUMENTS.map(toSitePage);
    expect(new Set(pages).size).toBe(pages.length);
    expect(toSitePage("docs/how-to/auth.md")).toBe("how-to/auth.md");
    expect(toSitePage("docs/decisions/README.md")).toBe("decisions/index.md");
    expect(toSitePage("README.ko.md")).toBe("ko/index.md");
  });

  it("links to pages, and shows linked source files and folders as pages", () => {
    expect(toSiteLink("docs/adk.md", "how-to/auth.md#a")).toBe("/how-to/auth.md#a");
    expect(toSiteLink("docs/hosts.md", "../examples/hosts/hono.ts")).toBe(
      "/source/examples/hosts/hono.ts.html",
    );
    expect(toSiteLink("docs/adk.md", "../examples")).toBe("/examples/index.md");
    expect(toSiteLink("docs/adk.md", "https://example.com/a.md")).toBe("https://example.com/a.md");
    expect(toSiteLink("docs/adk.md", "#top")).toBe("#top");
    const sources = listLinkedSourceFiles(readDocument);
    expect(sources.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const links = SITE_DOCUMENTS.flatMap((document) =>
      findLinks(readDocument(document)).map((link) => toSiteLink(document, link)),
    );
    const sourceLinks = links.filter(
      (link) => link.startsWith("/source/") && !/\.(?:png|svg)\.html$/.test(link),
    );
    expect(sourceLinks.length).toBeGreaterThan(20);
    expect(sourceLinks.filter((link) => !sources.includes(link.slice(8, -5)))).toEqual([]);
  });

  it("shows the output of an example below its code, and states which blocks the tests run", () => {
    const page = [
      "```ts\nconsole.log(1);\n```",
      "```text\n1\n```",
      "<!-- not run: needs a key -->\n```sh\nrun\n```",
      "```yaml\na: 1\n```",
    ].join("\n\n");
    const createFence = (line: number): MarkdownToken => ({
      type: "fence",
      content: "",
      info: "",
      map: [line - 1, line],
    });
    const tokens = [1, 5, 10, 14].map(createFence);
    const createHtml = (content: string): MarkdownToken => ({ type: "html", content, info: "", map: null });
    const joined = joinExamplesWithOutput(tokens, parseCodeBlocks("page.md", page), createHtml);
    expect(joined.map((token) => (token.map ? token.map[0] + 1 : token.content.trim()))).toEqual([
      '<div class="example">',
      1,
      '<p class="example-label">Output</p>',
      5,
      '<p class="example-note">The tests run this and compare the output.</p>',
      "</div>",
      '<div class="example">',
      10,
      '<p class="example-note">Not run by the tests: needs a key.</p>',
      "</div>",
      14,
    ]);
  });
});

describe("a site below a path of its host", () => {
  it("is configured by SITE_BASE", () => {
    expect(readSiteBase({})).toBe("/");
    expect(readSiteBase({ SITE_BASE: "" })).toBe("/");
    expect(readSiteBase({ SITE_BASE: "/colloquy/" })).toBe("/colloquy/");
    expect(() => readSiteBase({ SITE_BASE: "/colloquy" })).toThrow("begins and ends with a slash");
  });

  it("has only links below the path", async () => {
    const folder = await createSite(
      '<a href="/colloquy/index.html">home</a> <a href="/index.html">outside</a>',
    );
    const { broken } = checkSiteLinks(folder, "/colloquy/");
    expect(broken).toEqual([{ page: "index.html", link: "/index.html" }]);
  });

  it("is served below the path for the check", async () => {
    const { url, server } = await startSiteServer(await createSite("home"), "/colloquy/");
    try {
      expect(new URL(url).pathname).toBe("/colloquy");
      expect(await (await fetch(`${url}/`)).text()).toBe("home");
      expect(await (await fetch(`${url}/index.html`)).text()).toBe("home");
      expect((await fetch(new URL("/index.html", url))).status).toBe(404);
    } finally {
      server.close();
    }
  });
});

async function createSite(html: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-site-"));
  await writeFile(join(folder, "index.html"), html);
  await writeFile(join(folder, "llms.txt"), "");
  return folder;
}
