import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { readDocument, root } from "./code-blocks.ts";

/** Returns the links of a page to files in the repository. */
export function findLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "``");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const sources = [...prose.matchAll(/\b(?:src|srcset)="([^"]+)"/g)].map(([, link = ""]) => link);
  return [...links, ...sources].filter((link) => !/^(?:https?|mailto):/.test(link));
}

/** Returns the reason why a link is broken, or `undefined` when its target exists. */
export function findLinkMistake(document: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), path));
  if (!existsSync(join(root, target))) return `there is no ${target}`;
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  return collectAnchors(readDocument(target)).has(anchor) ? undefined : `${target} has no #${anchor}`;
}

/** Returns the anchors that GitHub generates for headings, and explicit anchors. */
export function collectAnchors(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of markdown.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = toGitHubAnchor(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    let anchor = slug;
    for (let more = 1; anchors.has(anchor); more++) anchor = `${slug}-${more}`;
    anchors.add(anchor);
  }
  for (const [, id = ""] of markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** Returns the anchor that GitHub generates for the text of a heading, without the number of a repeated heading. */
export function toGitHubAnchor(headingText: string): string {
  return headingText
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
