import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** A link of the built site whose target does not exist. */
interface BrokenLink {
  readonly page: string;
  readonly link: string;
}

export interface LinkReport {
  readonly pages: number;
  readonly links: number;
  readonly broken: readonly BrokenLink[];
}

/** Checks every internal link, image, and script of the built pages and of `llms.txt`, with the anchors of pages. */
export function checkSiteLinks(folder: string, base = "/"): LinkReport {
  const pages = globSync("**/*.html", { cwd: folder }).map((page) => page.replaceAll("\\", "/"));
  const anchors = new Map<string, Set<string>>();
  const readAnchors = (page: string): Set<string> => {
    const known = anchors.get(page) ?? parseIds(readFileSync(join(folder, page), "utf8"));
    anchors.set(page, known);
    return known;
  };
  const broken: BrokenLink[] = [];
  let links = 0;
  const check = (page: string, link: string): void => {
    links++;
    const [path = "", anchor = ""] = decodeURI(link.replaceAll("&amp;", "&")).split("#");
    const target = resolveLink(page, path.replace(/\?.*$/, ""), base);
    const isValid =
      target !== undefined &&
      existsSync(join(folder, target)) &&
      statSync(join(folder, target)).isFile() &&
      (anchor === "" || !target.endsWith(".html") || readAnchors(target).has(anchor));
    if (!isValid) broken.push({ page, link });
  };
  for (const page of pages)
    for (const link of parseLinks(readFileSync(join(folder, page), "utf8"))) check(page, link);
  const index = readFileSync(join(folder, "llms.txt"), "utf8");
  for (const [, link = ""] of index.matchAll(/^- \[.*?\]\((.+?)\):/gm)) check("llms.txt", link);
  return { pages: pages.length, links, broken };
}

function parseLinks(html: string): string[] {
  const found = [...html.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
  return found.filter((link) => link !== "" && !/^(?:https?:|mailto:|data:|javascript:)/.test(link));
}

function parseIds(html: string): Set<string> {
  return new Set([...html.matchAll(/\b(?:id|name)="([^"]+)"/g)].map(([, id = ""]) => id));
}

/** Returns the file of a link in the built site, or `undefined` for a link outside of the site. */
function resolveLink(page: string, path: string, base: string): string | undefined {
  if (path === "") return page;
  if (path.startsWith("/") && !path.startsWith(base)) return undefined;
  const file = path.startsWith("/") ? path.slice(base.length) : posix.join(dirname(page), path);
  return file === "" || file === "." || file.endsWith("/") ? `${file.replace(/^\.$/, "")}index.html` : file;
}
