import { dirname, posix } from "node:path";

/** Matches code, and links with what precedes them. A link can be a member of an HTML element. */
const CODE_OR_LINK_PATTERN = /^```[^]*?^```$|`[^`\n]*`|(\]\(|\b(?:src|srcset|href)=")([^)\s"]+)/gm;
const IMAGE_PATTERN = /\.(?:svg|png|jpe?g|gif|webp)$/i;

/** Returns the links of a page to files of the repository, without their anchors. */
export function listRelativeLinks(markdown: string): string[] {
  return [...markdown.matchAll(CODE_OR_LINK_PATTERN)].flatMap(([, , link]) =>
    link === undefined || !isRelative(link) ? [] : [link.replace(/#.*$/, "")],
  );
}

/**
 * Replaces links to files of the repository by URLs of the given version, because npm shows pages without the
 * repository. Files of the package that link to each other keep their links, so that they work offline.
 *
 * @param file Path of the page, relative to the repository.
 * @param isPublished Returns whether a path of the repository is part of the package.
 */
export function makeLinksAbsolute(
  markdown: string,
  file: string,
  { repository, version }: { readonly repository: string; readonly version: string },
  isPublished: (path: string) => boolean = () => false,
): string {
  return markdown.replaceAll(CODE_OR_LINK_PATTERN, (text, opening?: string, link?: string) => {
    if (opening === undefined || link === undefined || !isRelative(link)) return text;
    const [path = "", anchor] = link.split("#");
    const target = posix.normalize(posix.join(dirname(file), path));
    if (isPublished(target)) return text;
    const kind = IMAGE_PATTERN.test(target) ? "raw" : "blob";
    const url = `${repository}/${kind}/v${version}/${target}`;
    return `${opening}${url}${anchor === undefined ? "" : `#${anchor}`}`;
  });
}

function isRelative(link: string): boolean {
  return !/^(?:[a-z]+:|#)/i.test(link);
}
