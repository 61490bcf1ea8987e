import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";
import { defineConfig, type MarkdownOptions } from "vitepress";
import { listPackageFolders } from "../../scripts/bundled-modules.mjs";
import { readBundledPackage, renderThirdPartyNotices } from "../../lab/package/third-party-notices.ts";
import { renderLlmsFullTxt } from "../../scripts/docs/main.ts";
import { parseCodeBlocks } from "../../test/documents/code-blocks.ts";
import { toGitHubAnchor } from "../../test/documents/links.ts";
import { closeHeadingGaps, dropEmptyTableHeaders } from "../accessible-tokens.ts";
import { joinExamplesWithOutput } from "../example-output.ts";
import { buildSidebar } from "../navigation.ts";
import { readSiteBase } from "../site-base.ts";
import { repositoryRoot, SITE_DOCUMENTS, toSiteLink, toSitePage } from "../site-pages.ts";

const base = readSiteBase(process.env);

/** Lets Node.js find Vue for the pages, because they are outside of the folder with the packages of the site. */
const importVueAtBuildTime: Plugin = {
  name: "vue at build time",
  enforce: "pre",
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : undefined,
};

const bundledModules = new Set<string>();
/** Collects the modules in the scripts of the site, whose licenses the site must contain. Styles keep their notices. */
const collectBundledModules: Plugin = {
  name: "bundled modules",
  generateBundle(_options, bundle) {
    for (const output of Object.values(bundle))
      if (output.type === "chunk")
        for (const [id, { renderedLength }] of Object.entries(output.modules))
          if (renderedLength > 0) bundledModules.add(id);
  },
};

type MarkdownRenderer = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

/** Returns the path of a page in the repository. */
function getDocument(environment: { readonly realPath?: string; readonly path?: string }): string {
  const file = environment.realPath ?? environment.path ?? "";
  return file.slice(repositoryRoot.length).replaceAll("\\", "/");
}

function showPagesAsGitHubDoes(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("repository links and outputs", (state) => {
    const document = getDocument(state.env);
    closeHeadingGaps(state.tokens);
    dropEmptyTableHeaders(state.tokens);
    for (const token of state.tokens) {
      for (const child of token.children ?? []) {
        const link = child.type === "link_open" ? child.attrGet("href") : null;
        if (link !== null) child.attrSet("href", toSiteLink(document, link));
      }
    }
    if (!SITE_DOCUMENTS.includes(document)) return;
    state.tokens = joinExamplesWithOutput(state.tokens, parseCodeBlocks(document, state.src), (html) => {
      const token = new state.Token("html_block", "", 0);
      token.content = html;
      return token;
    });
  });
}

export default defineConfig({
  title: "Colloquy",
  description: "Put TypeScript agents on the A2A network: durable, streaming, fast.",
  base,
  srcDir: "..",
  outDir: "../reports/site",
  cacheDir: "../node_modules/.cache/colloquy-site",
  srcExclude: ["{src,test,bench,scripts,deploy,reports,api,bin,templates}/**", "site/node_modules/**"],
  rewrites: toSitePage,
  lastUpdated: false,
  metaChunk: true,
  vite: { plugins: [importVueAtBuildTime, collectBundledModules] },
  locales: {
    root: { label: "English", lang: "en" },
    ko: { label: "한국어", lang: "ko", link: "/ko/" },
    zh: { label: "中文", lang: "zh", link: "/zh/" },
  },
  head: [
    ["link", { rel: "icon", href: "data:," }],
    ["meta", { name: "theme-color", content: "#1b4dd8" }],
    ["link", { rel: "alternate", type: "text/plain", href: `${base}llms.txt`, title: "llms.txt" }],
  ],
  markdown: {
    anchor: { slugify: toGitHubAnchor },
    attrs: { disable: true },
    linkify: false,
    image: { lazyLoading: true },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: showPagesAsGitHubDoes,
  },
  themeConfig: {
    i18nRouting: false,
    search: { provider: "local" },
    outline: { level: [2, 3] },
    sidebar: buildSidebar(),
    nav: [
      { text: "Tutorial", link: "/tutorial.md" },
      { text: "How-to", link: "/how-to/stream.md", activeMatch: "/how-to/" },
      { text: "Deploy", link: "/deploy/index.md", activeMatch: "/deploy/" },
      { text: "Reference", link: "/reference/server.md", activeMatch: "/reference/" },
      // VitePress adds `base` only to links to pages.
      { text: "llms.txt", link: `${base}llms.txt`, target: "_blank" },
    ],
  },
  buildEnd({ outDir }) {
    const packages = listPackageFolders(bundledModules).map((folder) =>
      readBundledPackage(join(repositoryRoot, folder)),
    );
    writeFileSync(join(outDir, "THIRD_PARTY_NOTICES.txt"), renderThirdPartyNotices(packages));
    // The addresses in llms.txt are paths of the repository.
    writeFileSync(join(outDir, "llms-full.txt"), renderLlmsFullTxt());
    for (const file of ["llms.txt", ...SITE_DOCUMENTS]) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true });
      copyFileSync(join(repositoryRoot, file), join(outDir, file));
    }
  },
});
