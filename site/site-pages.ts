import { existsSync, globSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository, whose Markdown pages are the pages of the site. */
export const repositoryRoot: string = fileURLToPath(new URL("..", import.meta.url));

/** The Markdown pages of the repository that the site shows, as paths relative to the repository. */
export const SITE_DOCUMENTS: readonly string[] = globSync(
  "{*.md,docs/**/*.md,examples/{,*/}*.md,skills/**/*.md}",
  {
    cwd: repositoryRoot,
  },
)
  .map((file) => file.replaceAll("\\", "/"))
  .toSorted();

/**
 * Returns the page of the site for a Markdown page of the repository, such as `how-to/auth.md` for
 * `docs/how-to/auth.md`. The page of a folder is its `README.md`.
 */
export function toSitePage(document: string): string {
  if (document === "site/index.md") return "index.md";
  if (document === "README.md") return "overview.md";
  const [, language] = /^README\.(\w+)\.md$/.exec(document) ?? [];
  if (language !== undefined) return `${language}/index.md`;
  return document
    .replace(/^site\/source\//, "source/")
    .replace(/^docs\//, "")
    .replace(/(^|\/)README\.md$/, "$1index.md");
}

/**
 * Returns the address on the site of a link in a page of the repository. Links to source files and to folders lead to
 * pages that show them. Returns other addresses and images unchanged.
 */
export function toSiteLink(document: string, link: string): string {
  if (/^(?:[a-z]+:|\/|#)/i.test(link)) return link;
  const [path = "", anchor] = link.split("#");
  const target = normalize(join(dirname(document), path))
    .replaceAll("\\", "/")
    .replace(/\/$/, "");
  const suffix = anchor === undefined ? "" : `#${anchor}`;
  if (SITE_DOCUMENTS.includes(target)) return `/${toSitePage(target)}${suffix}`;
  const folderPage = `${target}/README.md`;
  if (SITE_DOCUMENTS.includes(folderPage)) return `/${toSitePage(folderPage)}${suffix}`;
  return `/source/${target}.html`;
}

const LINK_PATTERN = /\]\(([^)\s]+)\)/g;

/** Returns the source files and folders that pages of the site link to, and the files of these folders. */
export function listLinkedSourceFiles(readDocument: (document: string) => string): string[] {
  const found = new Set<string>();
  const add = (target: string): void => {
    if (found.has(target) || !existsSync(join(repositoryRoot, target))) return;
    found.add(target);
    if (statSync(join(repositoryRoot, target)).isDirectory())
      for (const file of globSync("**/*.*", { cwd: join(repositoryRoot, target) }))
        add(`${target}/${file.replaceAll("\\", "/")}`);
  };
  for (const document of SITE_DOCUMENTS) {
    const prose = readDocument(document).replaceAll(/^```[^]*?^```$/gm, "");
    for (const [, link = ""] of prose.matchAll(LINK_PATTERN)) {
      const [, target] = /^\/source\/(.+)\.html$/.exec(toSiteLink(document, link)) ?? [];
      if (target !== undefined && !/\.(?:svg|png)$/.test(target)) add(target);
    }
  }
  return [...found].toSorted();
}
